/* emu_run - one candidate on the emulator, at one shape of a problem, outside of any run
 *
 * Purpose:   compiles a source, launches its plan once for each value family and gathers what the emulator
 *            finds, what the judge says of the outputs and what was counted. Without a judge (no PyTorch) it
 *            launches once on plain values, and says that nothing was compared.
 * Ownership: a result owns its parts (emu_run_result_fini). Requests borrow.
 * Threads:   one.
 * Errors:    an err is the harness: no NVRTC, a broken reference, no memory. What is wrong with the
 *            candidate is in the result.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_AGENT_NODE_EMU_RUN_H
#define CE_AGENT_NODE_EMU_RUN_H

#include "agent-node/compile.h"
#include "agent-node/runner/verdict.h"
#include "common/json.h"
#include "suites/problem.h"

enum { EMU_RUN_DEADLINE_MS = 60000 };

#define EMU_RUN_ARCH "sm_80"

typedef struct emu_run_request {
    const problem *problem;
    const contract_shape *shape;
    const char *family; /* of the contract's; NULL: each of them */
    int64_t seed;
    const char *source, *plan; /* texts */
    const char *python;        /* interpreter of the judge; NULL: search */
} emu_run_request;

typedef struct emu_case {
    const char *family; /* "plain" without a judge */
    runner_verdict verdict;
    char *comparison; /* the judge's numbers, JSON, or NULL */
} emu_case;

typedef struct emu_run_result {
    runner_verdict verdict; /* of the whole: the first case that is not ok, or why none was run */
    compile_result compiled;
    emu_case cases[FAMILY_MAX];
    size_t case_count;
    char *not_compared; /* why nothing was compared, or NULL */
    char *modelled;     /* counters of the case that did most (modelled.h), or NULL */
} emu_run_result;

int emu_run(const emu_run_request *request, compile_pool *compiler, emu_run_result *out, err *e);
void emu_run_result_fini(emu_run_result *self);

/* emu_run_text appends what came of it for people, emu_run_json gives the same as an object. */
void emu_run_text(const emu_run_request *request, const emu_run_result *result, buf *out);
json *emu_run_json(const emu_run_request *request, const emu_run_result *result);

#endif
