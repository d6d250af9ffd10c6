/* judge - the trusted side of a device lane: reference, oracle, comparison, baselines
 *
 * Purpose:   one judge a device. On "cuda:N" and "cpu" it is a long-lived PyTorch process
 *            (agent-node/judge/judge.py) spoken to by JSON lines; on "fake" a script answers and no
 *            Python is needed. Order of use: start, open a problem, then contract, draw, compare,
 *            baseline as often as wanted. Expected values never leave the judge.
 * Ownership: results are filled into caller's structs, freed by their *_fini; getters borrow.
 * Threads:   one owner at a time (the holder of the device lane); calls block up to their deadline.
 * Errors:    an err is always the harness: ERR_CONFIG for a wrong contract or reference ("file:12: …"),
 *            ERR_UNAVAILABLE without an interpreter that imports torch, or (retry) when the process
 *            died, ERR_TIMEOUT (retry) past the deadline, ERR_GPU (retry) for out of memory or a
 *            sticky CUDA error. After a retry error the next call starts a fresh process and opens
 *            the problem again; what was drawn is gone, so draw again (then hand the new staging to
 *            a new runner).
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_AGENT_NODE_JUDGE_H
#define CE_AGENT_NODE_JUDGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/err.h"
#include "suites/contract.h"
#include "wire/record.h"

enum {
    JUDGE_HANDLE_SIZE = 64, /* CUDA IPC handle */
    JUDGE_SHM_MAX = 255,
    JUDGE_SLOTS_MAX = 65,
    JUDGE_DETAIL_MAX = 64,
    JUDGE_TEXT_MAX = 1024,
    JUDGE_CACHE_MAX = 256 * 1024,  /* a packed compiler cache larger than this is dropped */
    JUDGE_CPU_ELEMENTS_MAX = 65536 /* largest tensor of a shape that is checked on cpu */
};

typedef struct judge judge;

/* Zero is default everywhere but `device`. */
typedef struct judge_options {
    const char *python;      /* interpreter; NULL: see judge_find_python */
    const char *folder;      /* of judge.py; NULL: ../share/ce/judge, else the source tree */
    const char *device;      /* "cuda:0", "cpu" or "fake" */
    const char *timing_lib;  /* libce_timing.so; NULL: ../lib beside the executable */
    const char *fake_script; /* "fake": the script file; NULL: all agree, 0.020 and 0.015 ms */
    const char *cache_dir;   /* compiler caches; NULL: a private folder, removed by judge_destroy */
    int64_t deadline_ms;     /* of every request; 0: each request's own */
} judge_options;

/* What the judge runs on. Texts are borrowed until judge_destroy. */
typedef struct judge_facts {
    const char *device;                                         /* "cuda", "cpu" or "fake" */
    const char *name, *uuid, *driver, *torch, *triton, *python; /* "" when there is none */
    const char *cupti;                        /* library that came with PyTorch, or "" */
    int64_t sm_count, l2_bytes, memory_bytes; /* 0 without a GPU */
    bool simulated; /* half precision is computed in fp32 and rounded (cpu) */
} judge_facts;

/* judge_find_python: `given` when it imports torch; for NULL the first python3 on PATH or in /usr/bin
 * that does, remembered for the life of the process. Fresh memory; NULL: ERR_UNAVAILABLE says what was
 * tried. */
char *judge_find_python(const char *given, err *e);

/* judge_start starts the process and waits until torch and the device are up. */
judge *judge_start(const judge_options *options, err *e);
void judge_destroy(judge **self);
const judge_facts *judge_get_facts(const judge *self);

/* judge_open loads a problem; both texts are copied. reference_file names it in messages. Cheap when
 * the same problem is open already. `terms` is borrowed until the next open or destroy. */
int judge_open(judge *self, const contract *terms, const char *reference,
               const char *reference_file, err *e);

typedef struct judge_contract_report {
    int64_t shapes_run, shapes_skipped; /* skipped: too large for cpu */
    char *
        json; /* {"shapes":[{"shape","status":"ok|skipped","outputs":[{"name","dtype","shape"}]}]} */
} judge_contract_report;

/* judge_contract runs the reference at every declared shape, at those of suites/cases.h and at the
 * benchmark shape, twice: count, dtype and
 * shape of the outputs, determinism (unless order_free), finite results on normal values. What does
 * not fit is ERR_CONFIG with file and line. */
int judge_contract(judge *self, judge_contract_report *out, err *e);
void judge_contract_report_fini(judge_contract_report *self);

typedef struct judge_validation {
    bool passed;
    char failed[JUDGE_DETAIL_MAX]; /* the first check that failed; "" */
    char text[JUDGE_TEXT_MAX];     /* what it said */
    char *json;                    /* {"checks":[{"name","ok","text"}]} */
} judge_validation;

/* judge_validate asks whether the problem is fit to judge by (agent-node/judge/validate.py): the
 * reference keeps the contract and passes 100 seeds, every input matters, no output is constant, every
 * family leaves something to compare, the benchmark is large enough. A check that says no is a result. */
int judge_validate(judge *self, judge_validation *out, err *e);
void judge_validation_fini(judge_validation *self);

typedef struct judge_draw_request {
    const contract_shape *shape;
    int64_t seed;       /* secret; slot i draws other values of the same family */
    const char *family; /* one of the contract's */
    int64_t slots;      /* K input sets, 1 … JUDGE_SLOTS_MAX */
} judge_draw_request;

typedef struct judge_span {
    int64_t offset, bytes; /* inside staging; the offset is a multiple of 256 */
} judge_span;

typedef struct judge_staging {
    bool has_handle; /* cuda: handle is valid; cpu: shm is */
    uint8_t handle[JUDGE_HANDLE_SIZE];
    char shm[JUDGE_SHM_MAX + 1]; /* POSIX shared memory name, "/…"; "" when none */
    judge_span *inputs;          /* slot after slot, contract order within */
    size_t input_count;          /* slots × inputs */
    judge_span *outputs;         /* one set: where a runner copies outputs */
    size_t output_count;
    int64_t total_bytes, slots;
} judge_staging;

/* judge_draw draws inputs of every slot and clears what was drawn before. The memory behind handle or
 * shm lives until the next draw, open, contract, restart or destroy. */
int judge_draw(judge *self, const judge_draw_request *request, judge_staging *out, err *e);
void judge_staging_fini(judge_staging *self);

typedef struct judge_comparison {
    bool equal;
    char detail[JUDGE_DETAIL_MAX]; /* "" or: unwritten, class, element, precision, exact */
    char text[JUDGE_TEXT_MAX];     /* for people and the model; never an expected value */
    char *report_json;             /* all numbers, for the store */
} judge_comparison;

/* judge_compare judges the outputs that lie in staging as the answer to the inputs of `slot`. `salt`
 * is the one the runner filled the outputs' sentinel with. */
int judge_compare(judge *self, int64_t slot, int64_t salt, judge_comparison *out, err *e);
void judge_comparison_fini(judge_comparison *self);

typedef struct judge_baseline_request {
    const contract_shape *shape;
    int64_t seed, slots, samples; /* samples: timed calls of each mode */
    const char *winner;           /* a stored baseline's winner, or NULL: measure all modes */
    const void *cache;            /* its packed compiler cache, or NULL */
    size_t cache_size;
} judge_baseline_request;

typedef struct judge_mode {
    measurement_record row; /* side "baseline"; samples is the hash of samples_text */
    char *samples_text;     /* JSON array of ms in the order taken; NULL when the mode failed */
    double compile_s;       /* NaN: nothing to compile */
} judge_mode;

typedef struct judge_baseline {
    judge_mode *modes; /* eager first */
    size_t mode_count;
    char *winner;   /* mode with the smallest median; NULL when every mode failed */
    bool cache_hit; /* the stored cache was used */
    void *cache;    /* the winner's compiler cache, packed; NULL: eager, dropped, or unchanged */
    size_t cache_size;
} judge_baseline;

/* judge_baseline measures the reference at a shape under `normal` values (the first family when the
 * contract has no such): eager, default, max-autotune-no-cudagraphs, or eager and the stored winner
 * only. Every mode's outputs are checked first; a mode that fails, is wrong or falls back has a NaN
 * median and a reason. Draws anew: staging of an earlier draw is gone. cuda and fake only. */
int judge_baseline_run(judge *self, const judge_baseline_request *request, judge_baseline *out,
                       err *e);
void judge_baseline_fini(judge_baseline *self);

typedef struct judge_arm_request {
    const char *mode; /* eager or a compiled mode */
    bool chained;     /* G-mode */
    bool settle;      /* the full warm-up */
} judge_arm_request;

typedef struct judge_timing {
    double *samples; /* ms of one call, in the order taken; NULL after arming */
    size_t sample_count;
    double event_floor_ms;
    int64_t warmup_calls;
    double host_ms, event_ms; /* of the block: on the host's clock, and what its events add up to */
    int64_t voided, suspect;
} judge_timing;
void judge_timing_fini(judge_timing *self);

/* Timing a baseline in turns with a candidate, on the inputs of the last draw: arm captures a graph for
 * each slot anew, in fresh memory; then blocks; disarm gives the memory back and tells in `out` whether
 * what the timed graphs left behind is still right. cuda and fake only. */
int judge_arm(judge *self, const judge_arm_request *request, judge_timing *out, err *e);
int judge_block(judge *self, int64_t samples, int64_t untimed, judge_timing *out, err *e);
/* judge_profile tells the spans of what is armed by the device's own clock: the JSON object "spans" of
 * runner/profiler.h, the caller's. `library` is libcupti, NULL: looked for. */
char *judge_profile(judge *self, int64_t samples, const char *library, err *e);
int judge_disarm(judge *self, judge_comparison *out, err *e);

#endif
