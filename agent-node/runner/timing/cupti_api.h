/* cupti_api - NVIDIA's profiling library, opened at run time
 *
 * Purpose:   one table of function pointers (cupti_syms.def). The library is looked for by name (one that
 *            is loaded already, or on the loader's path), in the toolkit's folders and where scripts/deps
 *            puts it; one of the driver's major version is preferred, since a newer one does not work.
 * Ownership: a value. The library stays loaded: it hooks into the driver.
 * Threads:   as the library allows.
 * Errors:    cupti_api_open says false and why; calls give CUptiResult, which cupti_api_explain names.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_AGENT_NODE_RUNNER_TIMING_CUPTI_API_H
#define CE_AGENT_NODE_RUNNER_TIMING_CUPTI_API_H

#include <stdbool.h>
#include <stddef.h>

#include <cupti_activity.h>
#include <cupti_profiler_host.h>
#include <cupti_range_profiler.h>
#include <cupti_target.h>
#include <cupti_version.h>

enum { CUPTI_API_PATH_MAX = 512 };

typedef struct cupti_api {
    void *handle;
    char library[CUPTI_API_PATH_MAX];
    bool has_counters; /* every OPTIONAL symbol is there */
#define CUPTI_SYM(need, name) __typeof__(name) *name;
#include "agent-node/runner/timing/cupti_syms.def"
#undef CUPTI_SYM
} cupti_api;

/* cupti_api_open loads `library` and no other, or (NULL) the first that is found. `driver` is the driver's
 * CUDA version, 13000. On failure `why` holds one sentence and the table is zero. */
bool cupti_api_open(cupti_api *self, const char *library, int driver, char *why, size_t size);
/* cupti_api_ok is true for success; else `why` becomes "function: CUPTI_ERROR_X (n)". */
bool cupti_api_ok(const cupti_api *self, CUptiResult code, const char *function, char *why,
                  size_t size);

#endif
