/* runner_proc - a runner process, seen from the node
 *
 * Purpose:   starts ce-runner for one candidate, sends it the candidate and its checks, and turns
 *            whatever happens to the process into an outcome. Order of use: start, load, then check
 *            and time (arm … disarm) as often as wanted.
 * Ownership: runner_proc_start gives an owned process; runner_proc_destroy kills and reaps it.
 *            Requests borrow.
 * Threads:   one owner at a time (the holder of the device lane); calls block up to their deadline
 *            plus set-up time.
 * Errors:    an err is always the harness: no driver, no memory, a process that died before the
 *            candidate's code met the driver. From then on a death, a sticky fault or silence is an
 *            outcome. After any outcome other than ok, and after any err, destroy the process.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_AGENT_NODE_RUNNER_PROC_H
#define CE_AGENT_NODE_RUNNER_PROC_H

#include <stddef.h>
#include <stdint.h>

#include "agent-node/judge.h"
#include "agent-node/runner/verdict.h"
#include "common/buf.h"
#include "common/err.h"
#include "suites/contract.h"

typedef struct runner_proc runner_proc;

/* runner_proc_env is the environment of every process that sees devices for us, NULL-ended, in fresh memory:
 * which devices are visible, and in which order, must be the same everywhere. */
char **runner_proc_env(void);
void runner_proc_env_free(char ***env);

typedef struct runner_options {
    const char *binary;      /* NULL: ce-runner beside the running executable */
    const char *device;      /* "cuda:0", "emu" or "fake" */
    const char *fake_script; /* "fake": file, or NULL for the defaults */
    const char *problem;     /* "fake": whose entry of the script, or NULL */
    const char *const
        *tool; /* a program and its arguments, NULL-ended, under which the runner runs and
                                that looks on (gpu.h: exact); NULL: none */
} runner_options;

enum { RUNNER_TOOL_ARGS = 20, RUNNER_SAID_MAX = 256 * 1024 };

/* What the runner says of its device. Texts are borrowed until runner_proc_destroy. */
typedef struct runner_facts {
    const char *kind, *name, *uuid, *arch;
    int64_t cc, sm_count, l2_bytes, memory_bytes;
    int64_t shared_per_block, threads_per_block;
    int64_t driver; /* CUDA version of the driver, 13000 */
} runner_facts;

struct compile_kernel; /* agent-node/compile.h */

typedef struct runner_candidate {
    const void *cubin; /* machine code; PTX when the device is emu */
    size_t cubin_size;
    const char *contract, *plan;          /* JSON */
    const struct compile_kernel *kernels; /* what the compiler says of them; may be none */
    size_t kernel_count;
} runner_candidate;

typedef struct runner_check {
    const contract *terms;
    const contract_shape *shape;
    const judge_staging *staging; /* NULL: none (fake) */
    int64_t slot;                 /* which input set of staging */
    int64_t salt;                 /* >= 0; seeds sentinels and canaries */
    int64_t pair_salt;            /* > 0: two more runs, one under this salt; 0: none */
    int64_t deadline_ms;          /* of the launches; 1 … 3600000 */
} runner_check;

typedef struct runner_arm {
    const contract *terms;
    const contract_shape *shape;
    const judge_staging *staging; /* NULL: none (fake); else at least `slots` input sets */
    int64_t slots;                /* K; see ce_timing_slots (runner/timing/ce_timing.h) */
    bool chained;                 /* G-mode */
    bool settle;                  /* the full warm-up */
    int64_t keeps;                /* samples whose outputs will be kept, 0 … 8 */
    int64_t salt;
    int64_t deadline_ms; /* of the launches before the first sample */
} runner_arm;

typedef struct runner_block {
    int64_t samples;
    int64_t untimed; /* calls before the first sample, at least */
    int64_t keep;    /* keep what this sample leaves behind; -1: nothing */
    bool warm;       /* L2 as the same call leaves it; not when chained */
    int64_t deadline_ms;
} runner_block;

typedef struct runner_timing {
    runner_verdict verdict;
    double *samples; /* ms of one call, in the order taken; NULL unless ok and a block */
    size_t sample_count;
    double event_floor_ms;
    int64_t warmup_calls;
    double host_ms, event_ms; /* of the block: on the host's clock, and what its events add up to */
    int64_t voided, suspect;
    int64_t *kept; /* slots of the outputs kept since arming, oldest first */
    size_t kept_count;
} runner_timing;

/* runner_proc_start waits until the device is up; runner_proc_spawn does not: runner_proc_load does then,
 * and facts are there after it. */
runner_proc *runner_proc_start(const runner_options *options, err *e);
runner_proc *runner_proc_spawn(const runner_options *options, err *e);
void runner_proc_destroy(runner_proc **self);
const runner_facts *runner_proc_facts(const runner_proc *self);

/* runner_proc_load: plan_invalid, launch_failed(load|entry|resources) or ok. */
int runner_proc_load(runner_proc *self, const runner_candidate *candidate, runner_verdict *out,
                     err *e);
/* runner_proc_check launches the plan; when ok the outputs of the first run lie in staging. With a pair
 * also nondeterministic, or uninitialised(leftovers), which leaves the outputs in staging too. */
int runner_proc_check(runner_proc *self, const runner_check *request, runner_verdict *out, err *e);
/* runner_proc_modelled is what the emulator counted in the last check (emulator/tally.h: JSON), or NULL.
 * Borrowed until the next request. */
const char *runner_proc_modelled(const runner_proc *self);
/* Timing: arm, blocks, then kept and disarm. */
int runner_proc_arm(runner_proc *self, const runner_arm *request, runner_timing *out, err *e);
int runner_proc_block(runner_proc *self, const runner_block *request, runner_timing *out, err *e);
/* runner_proc_kept copies kept outputs to staging (NULL: fake). */
int runner_proc_kept(runner_proc *self, const judge_staging *staging, int64_t index,
                     runner_verdict *out, err *e);
/* runner_proc_profile looks at what is armed: JSON (runner/profiler.h), the caller's. NULL and why when the
 * process did not live to tell: whatever it met, it is no verdict on the candidate. */
typedef struct runner_profile_ask {
    int64_t samples;     /* 1 … 100 */
    bool counters;       /* hardware counters, too */
    const char *library; /* libcupti; NULL: looked for */
    int64_t deadline_ms;
} runner_profile_ask;
char *runner_proc_profile(runner_proc *self, const runner_profile_ask *request, err *e);
/* runner_proc_disarm: what canaries and inputs say after the last block. */
int runner_proc_disarm(runner_proc *self, runner_verdict *out, err *e);
/* runner_proc_end lets a runner under a tool end, waits for the tool, and appends what that wrote to its
 * standard output, at most RUNNER_SAID_MAX bytes. */
int runner_proc_end(runner_proc *self, buf *said, err *e);
void runner_timing_fini(runner_timing *self);

#endif
