/* spec - what a leased task is: everything a node needs, as one JSON blob
 *
 * Purpose:   a node has no checkout; the spec names the problem's texts by content hash and carries the
 *            contract, the entrant and the settings.
 * Ownership: reading gives owned text; task_spec_fini frees. Writing borrows.
 * Threads:   plain values.
 * Errors:    ERR_CONFIG with the JSON pointer.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_WIRE_SPEC_H
#define CE_WIRE_SPEC_H

#include <stddef.h>
#include <stdint.h>

#include "common/err.h"
#include "common/hash.h"
#include "common/json.h"
#include "wire/fields.h"

enum { SPEC_STAGES = 5, SPEC_REPLAY_MAX = 64 };

/* The five stages, in order; index is the stage's number everywhere. */
typedef enum stage_id {
    STAGE_INTERVIEW = 0,
    STAGE_CODEGEN = 1,
    STAGE_CORRECTNESS = 2,
    STAGE_PERFORMANCE = 3,
    STAGE_POLISH = 4
} stage_id;
const char *stage_name(stage_id stage);
int stage_parse(const char *name); /* index, or -1 */

/* An answer of the run that is replayed. */
typedef struct spec_replay {
    char *stage;
    int64_t index;
    hash answer; /* blob: text */
    char *stop;
} spec_replay;

/* What is asked of the model of one stage, or of the escalation, beyond its name. */
typedef struct spec_demand {
    char *stage;               /* a stage, or "escalation" */
    char *api, *effort, *key;  /* NULL: not said */
    double temperature, top_p; /* NaN: not said */
} spec_demand;
enum { SPEC_DEMANDS_MAX = SPEC_STAGES + 1 };
#define SPEC_ESCALATION "escalation"
extern const field spec_demand_fields[];
/* spec_demand_of finds a stage's; NULL: nothing is demanded. */
const spec_demand *spec_demand_of(const spec_demand *list, size_t count, const char *stage);

typedef struct task_spec {
    char *kind; /* contract | validate | synthesize */
    char *run, *problem, *suite;
    int64_t sample;
    char *contract; /* canonical contract JSON (suites/contract.h) */
    hash contract_hash;
    hash prompt, reference; /* blobs: prompt.md, reference.py */
    char *reference_file;   /* for messages: suites/internal/x/reference.py */
    hash gold_source,
        gold_plan; /* blobs; zero when the problem has none. What `gold` answers with: in a
                                   * validation the kernel that is on trial */
    char *entrant; /* name on the board */
    char *models[SPEC_STAGES];    /* "provider:model" per stage */
    int64_t budgets[SPEC_STAGES]; /* model calls per stage */
    char *escalation; /* model of one more call where a stage's budget has ended; NULL: none */
    spec_demand *demands;
    size_t demand_count;
    int64_t seed;  /* run seed; secrets of the task are derived from it */
    char *device;  /* auto | cuda | emu | fake */
    char *arch;    /* compile target without a device; NULL: sm_90a */
    double target; /* speedup at which repair stops */
    int64_t
        sanitize; /* 1: looked at by compute-sanitizer whatever the speed; 0: when it is faster */
    char *trial;  /* of a validation: the kernel and what it must get (coordinator/docket.h) */
    spec_replay *replay;
    size_t replay_count;
} task_spec;

char *task_spec_write(const task_spec *self); /* canonical JSON, caller frees */
int task_spec_read(const char *text, size_t size, task_spec *out, err *e);
void task_spec_fini(task_spec *self);

#endif
