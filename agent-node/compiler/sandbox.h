/* sandbox - what the process may still do once it compiles for strangers
 *
 * Purpose:   NVRTC reads whatever file the source names. After sandbox_enter this process can read
 *            the listed folders and files only, write nothing, run nothing, open no connection, and
 *            has bounded memory.
 * Ownership: nothing is kept.
 * Threads:   call it with one thread running; threads made later inherit it.
 * Errors:    ERR_UNAVAILABLE when this kernel has no way (see sandbox_best).
 *
 * Two ways: Landlock (Linux 5.13+), or a user and mount namespace in which only the listed paths
 * exist. Both: no new privileges, no capabilities, no core file, no file growth, no new process for
 * users other than root.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_COMPILER_SANDBOX_H
#define CE_COMPILER_SANDBOX_H

#include <stddef.h>
#include <stdint.h>

#include "common/err.h"

typedef enum sandbox_kind { SANDBOX_NONE, SANDBOX_LANDLOCK, SANDBOX_NAMESPACE } sandbox_kind;

typedef struct sandbox_options {
    const char *const *paths; /* folders and files that stay readable; absent ones are skipped */
    size_t path_count;
    int64_t memory_bytes; /* address space on top of what is in use now; 0: no limit */
} sandbox_options;

/* sandbox_best tries what this host offers in a child process; SANDBOX_NONE: nothing. */
sandbox_kind sandbox_best(void);
const char *sandbox_name(sandbox_kind kind);

/* sandbox_enter locks the process. SANDBOX_NONE sets the limits only. A failure may leave part of it
 * done: exit. */
int sandbox_enter(sandbox_kind kind, const sandbox_options *options, err *e);

#endif
