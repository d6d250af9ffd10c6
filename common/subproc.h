/* subproc - a child process with a deadline
 *
 * Purpose:   exec a program with a scrubbed environment, a death signal, chosen descriptors and limits;
 *            reap it by pidfd.
 * Ownership: subproc_destroy kills (SIGKILL, whole process group) and reaps what still runs.
 * Threads:   one owner; spawning is safe from any thread.
 * Errors:    exec failures are reported by subproc_start itself (ERR_NOT_FOUND, ERR_DENIED, …).
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_COMMON_SUBPROC_H
#define CE_COMMON_SUBPROC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "common/err.h"

enum { SUBPROC_FD_MAX = 8 };

typedef struct subproc subproc;

typedef struct subproc_fd {
    int parent; /* our descriptor */
    int child;  /* its number in the child */
} subproc_fd;

typedef struct subproc_options {
    const char *const
        *argv; /* argv[0] is the path (no PATH search unless it has no '/'; our PATH) */
    const char *const
        *env; /* the whole environment, NULL-ended; NULL = empty but for PATH=/usr/bin:/bin */
    const subproc_fd *fds; /* passed on; 0 and 1 default to /dev/null, 2 is inherited */
    size_t fd_count;
    const char *cwd;        /* NULL: ours */
    bool keep_after_parent; /* default: SIGKILL when the spawning thread ends; see below */
    int64_t memory_bytes;   /* RLIMIT_AS; 0: none */
    int64_t cpu_seconds;    /* RLIMIT_CPU; 0: none */
    int64_t file_bytes;     /* RLIMIT_FSIZE; 0: none */
} subproc_options;

/* subproc_start returns when the program really runs. The child leads a session and a process group of
 * its own; no signal of our terminal reaches it. The kernel's death signal belongs to the *thread*
 * that started the child: one that may end before its child sets keep_after_parent. */
subproc *subproc_start(const subproc_options *options, err *e);
void subproc_destroy(subproc **self);
pid_t subproc_pid(const subproc *self);
/* subproc_fd_exit: a pidfd, readable when the child has exited; borrowed. */
int subproc_fd_exit(const subproc *self);
/* subproc_wait waits up to timeout_ms (-1: for ever); 0 and *status (wait status) when it exited; -1
 * ERR_TIMEOUT. What is left of its process group is killed when it has exited. */
int subproc_wait(subproc *self, int64_t timeout_ms, int *status, err *e);
void subproc_kill(subproc *self, int signal);
/* subproc_status_text: "exited with 3", "was killed by SIGSEGV". */
void subproc_status_text(int status, char *out, size_t size);

/* subproc_run runs to the end, captures stdout and stderr (each up to a limit inside buf), kills at
 * the deadline (then -1 ERR_TIMEOUT, with what was captured; timeout_ms -1: none). *status is the wait
 * status. A NULL buffer leaves that stream at its default. At most SUBPROC_FD_MAX - 2 descriptors. */
struct buf;
int subproc_run(const subproc_options *options, int64_t timeout_ms, struct buf *out,
                struct buf *errors, int *status, err *e);

#endif
