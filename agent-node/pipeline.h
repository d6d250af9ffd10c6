/* pipeline - one task through the five stages, as straight-line code
 *
 * Purpose:   restores what an earlier lease finished, runs the rest, commits after each stage, and
 *            sums up the result.
 * Ownership: the pipeline owns texts, providers and candidates; it borrows the node's parts.
 * Threads:   one task thread; the node's parts (lanes, compile pool, blobs) are shared and safe.
 * Errors:    pipeline_run fails only when the harness does; the caller gives the lease back.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_AGENT_NODE_PIPELINE_H
#define CE_AGENT_NODE_PIPELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent-node/compile.h"
#include "agent-node/lanes.h"
#include "agent-node/ledger.h"
#include "agent-node/settings.h"
#include "providers/ability.h"
#include "providers/provider.h"
#include "suites/contract.h"
#include "suites/plan.h"
#include "wire/record.h"
#include "wire/spec.h"

/* What every task of a node shares. */
typedef struct node_parts {
    const settings *settings;
    lanes *lanes;
    compile_pool *compiler;
    session *session;
    blob_store *blobs;
    const char *spool; /* folder; NULL: none */
} node_parts;

/* A candidate that compiled and passed the gate. */
typedef struct candidate {
    char *source, *plan_text;
    hash source_hash, plan_hash;
    plan *plan;
    compile_result compiled;
    int64_t attempt; /* that made it; -1: not known */
    const char
        *alias; /* whose entry of the fake device's script it has; NULL: the problem's. Borrowed */
} candidate;
void candidate_destroy(candidate **self);
struct pipeline;
/* candidate_compile compiles for the task's target; out is the caller's (compile_result_fini). */
int candidate_compile(const struct pipeline *p, candidate *c, bool line_info, compile_result *out,
                      err *e);
/* candidate_restore makes a stored candidate the pipeline's best again, compiled. */
int candidate_restore(struct pipeline *p, const hash *source, const hash *plan_hash, err *e);

/* A finished stage or a recorded call of an earlier lease. */
typedef struct checkpoint {
    struct row_stage_ref *stages;
    size_t stage_count;
    struct row_call_ref *calls;
    size_t call_count;
    const struct row_card *cards; /* of this node, as the lease tells them */
    size_t card_count;
} checkpoint;

typedef struct pipeline {
    const node_parts *node;
    ledger *ledger;
    const task_spec *spec;
    const checkpoint *done;
    contract *terms;
    char *prompt, *reference;      /* texts */
    char *gold_source, *gold_plan; /* NULL when the problem has none */
    provider_recorded *recorded;   /* replay */
    provider_material material;
    ability_demand demands[SPEC_STAGES + 1]; /* of each stage's model, then of the escalation */
    provider *providers[SPEC_STAGES];
    provider *escalation; /* for one more call where a stage's budget has ended; NULL: none */
    const lane_facts
        *facts;        /* of the device asked for; kind "none" with a reason when there is none */
    bool placed;       /* facts are those of the lane that this task has held and takes again */
    char *kernel_spec; /* interview's KernelSpec JSON, or NULL */
    candidate *best;   /* the candidate that goes on, or NULL */
    int64_t attempts;  /* numbered over the whole task */
    result_record result; /* filled as stages end */
    bool over;            /* the outcome is decided: no further stage */
    bool exhausted;       /* a recording had no further answer in some stage */
} pipeline;

/* pipeline_margin: δ of verdicts on that card for such a time; *calibrated: it comes from A/A runs there. */
double pipeline_margin(const pipeline *p, const char *uuid, double ms, bool *calibrated);
/* pipeline_distrust: why nothing may be timed on that card (its self-test failed), or NULL. */
const char *pipeline_distrust(const pipeline *p, const char *uuid);
/* pipeline_open opens the model of every stage, and the escalation; rigs of tests use it too. */
int pipeline_open(pipeline *p, err *e);
/* pipeline_run runs a `synthesize` task to its result. */
int pipeline_run(const node_parts *node, ledger *account, const task_spec *spec,
                 const checkpoint *done, err *e);
/* pipeline_contract runs a `contract` task: the reference keeps the promises of the contract. */
int pipeline_contract(const node_parts *node, ledger *account, const task_spec *spec, err *e);
/* pipeline_validate runs a `validate` task: is the problem fit to judge by? What is wrong with its
 * files is the result `wrong`, with the check's name as detail. */
int pipeline_validate(const node_parts *node, ledger *account, const task_spec *spec, err *e);

#endif
