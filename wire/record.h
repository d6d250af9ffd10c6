/* record - what a node tells about a task, as JSON: model calls, stages, results, baselines
 *
 * Purpose:   the one schema of the records that travel in CALL, STAGE, RESULT and BASELINE messages
 *            and are stored. Nodes build the structs and write them; the coordinator reads them
 *            strictly before it stores anything.
 * Ownership: reading gives owned text; *_fini frees. Writing borrows.
 * Threads:   plain values.
 * Errors:    ERR_CONFIG with the JSON pointer. NaN is written as null and read back as NaN: a missing
 *            number always comes with a reason beside it.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_WIRE_RECORD_H
#define CE_WIRE_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/err.h"
#include "common/hash.h"
#include "common/json.h"
#include "common/outcome.h"

enum { RECORD_ATTEMPTS_MAX = 64, RECORD_MEASUREMENTS_MAX = 256, RECORD_COMPARISONS_MAX = 32 };

/* A model call. Token counts are disjoint buckets; -1 = the provider did not say. */
typedef struct call_record {
    char *stage;
    int64_t index; /* within the stage, from 0 */
    char *provider;
    char *model;
    hash prompt; /* blob: JSON array of {role, text} */
    hash answer; /* blob: text; zero when there is none */
    char *stop;  /* ok, length, refused, filter, exhausted, error */
    int64_t tokens_in, tokens_out, tokens_cache_read, tokens_cache_write;
    double cost_usd; /* NaN: unknown */
    double latency_ms;
    char *reason;          /* why there is no answer; NULL */
    char *usage;           /* what the provider told about the call, as JSON text; NULL: nothing */
    char *key;             /* hash of what was asked of whom and how; NULL: not kept */
    int64_t attempts;      /* requests that were sent; 0: not told */
    int64_t unknown_bills; /* attempts without an answer that may have been billed */
} call_record;

/* A candidate through compile and gates. */
typedef struct attempt_record {
    char *stage;
    int64_t index;          /* counts all attempts of the task, from 0 */
    hash source, plan, log; /* blobs; zero when absent */
    outcome result;
    char *detail;                   /* "unwritten", "read", "/kernels/0/grid/0", … or NULL */
    char *text;                     /* one sentence, or NULL */
    double compile_ms;              /* NaN: not compiled */
    int64_t registers, local_bytes; /* -1: unknown */
    hash report;                    /* blob: correctness report JSON; zero when absent */
} attempt_record;

/* A timed thing at the benchmark shape. */
typedef struct measurement_record {
    char *side;       /* candidate | baseline */
    char *mode;       /* plan | eager | default | max-autotune-no-cudagraphs */
    char *shape;      /* "rows=4096 cols=4096" */
    double median_ms; /* NaN with a reason */
    char *reason;
    hash samples; /* blob: JSON array of ms in the order taken; zero when absent */
    int64_t sample_count, slots;
    char *l2; /* cold | warm */
    double event_floor_ms;
    bool winner; /* the baseline that speedups divide by */
} measurement_record;

/* A candidate against the best baseline, in pairs of blocks (protocol ce-timing-1). */
typedef struct comparison_record {
    hash source, plan; /* of the candidate */
    char *purpose;     /* estimate: a repair round; published: the number of the task */
    char *verdict;     /* faster, slower, same, inconclusive, impossible */
    char *reason;      /* of inconclusive and impossible, or NULL */
    char *baseline_mode;
    char *timing_mode; /* E: a call a sample; G: a chain of calls a sample */
    int64_t slots, pairs, processes, voids;
    double speedup, ci_low, ci_high; /* baseline / candidate; NaN: too few pairs */
    double serial, between; /* lag-1 correlation; p of the analysis over processes or NaN */
    double margin;          /* δ */
    bool calibrated;        /* δ comes from A/A runs on this card */
    double candidate_ms, baseline_ms; /* medians over all blocks */
    double floor_ms;                  /* no correct kernel can be faster; NaN: not known */
    hash raw; /* blob: JSON with every sample, the order, seeds and the card's states */
    double
        gain;  /* speed over that of the candidate kept before; NaN: the first, or the same again */
    bool kept; /* the best one so far */
    char *profile; /* what CUPTI says of it, JSON (agent-node/profile.h), or NULL */
} comparison_record;

typedef struct stage_record {
    char *stage;  /* contract, interview, codegen, correctness, performance, polish */
    char *status; /* passed | failed | skipped | fallback */
    outcome result;
    char *detail, *text;
    hash source, plan; /* the candidate that goes on; zero when none */
    hash spec;         /* interview: KernelSpec blob */
    attempt_record *attempts;
    size_t attempt_count;
    measurement_record *measurements;
    size_t measurement_count;
    comparison_record *comparisons;
    size_t comparison_count;
    double wall_ms, device_ms; /* time in the stage; of it, holding the device lane */
    int64_t calls;             /* model calls made */
    char *device, *device_kind, *device_uuid, *driver; /* where it ran; NULL: on no device */
    char *torch;     /* PyTorch of the judge that took part, or NULL */
    char *notes;     /* one line for people, or NULL */
    char *modelled;  /* the emulator's counters at the largest shape, JSON, or NULL */
    char *lineage;   /* performance: attempts and their gains, JSON (stages/lineage.h), or NULL */
    char *sanitizer; /* of the candidate that goes on: see result_record; NULL: another stage's */
} stage_record;

typedef struct result_record {
    outcome result;
    char *stage; /* stage that decided a failure; NULL when ok */
    char *detail, *text;
    double speedup; /* baseline / candidate; NaN with reason */
    char *reason;
    char *verdict; /* of the speed: faster, slower, same, inconclusive, impossible; or NULL */
    char *verdict_reason;             /* of inconclusive and impossible */
    double ci_low, ci_high;           /* of speedup; NaN without a verdict */
    double floor_ms;                  /* no correct kernel can be faster; NaN: not known */
    double candidate_ms, baseline_ms; /* medians; NaN with reason */
    char *baseline_mode;
    char *marks; /* comma separated: uncertified, uncalibrated, near_roofline, below_target,
                    replay_exhausted */
    char *device, *device_kind, *device_uuid, *driver, *torch, *nvrtc; /* NULL when none */
    char *correct_protocol, *timing_protocol; /* ce-correct-1, ce-timing-1 */
    char *modelled; /* what the emulator counted of the final candidate, JSON, or NULL */
    char *profile;  /* what CUPTI says of it, JSON, or NULL */
    char *lineage;  /* attempts that were timed and their gains, JSON, or NULL */
    char *
        sanitizer; /* "clean", "not run (reason)", or what compute-sanitizer found; NULL: it did not
                          come to that */
    hash source, plan; /* the final candidate */
    double wall_ms, device_ms;
    int64_t calls;
} result_record;

/* A stored baseline: winning mode, its times, and the compiler cache of that mode. */
typedef struct baseline_record {
    char *problem, *shape, *device, *driver, *torch;
    measurement_record *modes;
    size_t mode_count;
    char *winner; /* NULL when every mode failed */
    hash cache;   /* blob: the mode's Inductor cache; zero when dropped (> 256 KiB) or eager */
} baseline_record;

void measurement_record_fini(measurement_record *self);
void comparison_record_fini(comparison_record *self);

char *call_record_write(const call_record *self); /* canonical JSON, caller frees */
int call_record_read(const char *text, size_t size, call_record *out, err *e);
void call_record_fini(call_record *self);

char *stage_record_write(const stage_record *self);
int stage_record_read(const char *text, size_t size, stage_record *out, err *e);
void stage_record_fini(stage_record *self);

char *result_record_write(const result_record *self);
int result_record_read(const char *text, size_t size, result_record *out, err *e);
void result_record_fini(result_record *self);

char *baseline_record_write(const baseline_record *self);
int baseline_record_read(const char *text, size_t size, baseline_record *out, err *e);
void baseline_record_fini(baseline_record *self);

#endif
