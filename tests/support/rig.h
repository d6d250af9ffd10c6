/* rig - a coordinator in memory and a node's parts around a pipeline, for tests
 *
 * Purpose:   runs pipelines against real ZeroMQ, a real session, the real compiler, and the fake device.
 *            The coordinator keeps what it is told and can be made to refuse.
 * Ownership: rig_create gives an owned rig; getters lend until rig_destroy.
 * Threads:   the coordinator has its own thread; the test's thread is the task thread.
 * Errors:    anything unexpected fails the test at once.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_TESTS_SUPPORT_RIG_H
#define CE_TESTS_SUPPORT_RIG_H

#include <stdbool.h>

#include "agent-node/pipeline.h"

typedef struct rig rig;
struct suite;

/* rig_create: fake_script is the JSON text of the fake device's script, or NULL. */
rig *rig_create(const char *fake_script);
/* rig_create_on is the same on another kind of device, as ce-node --device. */
rig *rig_create_on(const char *device, const char *fake_script);
void rig_destroy(rig **self);

/* rig_folder is a folder of the rig's own; rig_write writes a file there ("fake.json" is the script of
 * the fake device; the next runner and the next judge_open read it). */
const char *rig_folder(const rig *self);
void rig_write(const rig *self, const char *name, const char *text);

/* rig_spec fills a `synthesize` spec of an internal problem for the model id (all stages). Texts are
 * owned by the spec. */
void rig_spec(rig *self, const char *problem, const char *model_id, task_spec *out);

/* rig_fill_spec is the same without a rig: the texts go into `artifacts`. */
void rig_fill_spec(const struct suite *all, blob_store *artifacts, const char *problem,
                   const char *model_id, task_spec *out);

/* rig_run runs a spec from what the rig's coordinator has recorded of it so far. */
int rig_run(rig *self, const task_spec *spec, err *e);
/* rig_run_contract runs it as a contract task. */
int rig_run_contract(rig *self, const task_spec *spec, err *e);

/* What was told: the result (outcome etc.), stages by name, number of calls. */
const result_record *rig_result(const rig *self);                  /* NULL: none */
const stage_record *rig_stage(const rig *self, const char *stage); /* NULL: not told */
size_t rig_call_count(const rig *self);
/* rig_prompt is what recorded call number i asked, a JSON array, in fresh memory. */
char *rig_prompt(rig *self, size_t i);
/* rig_call_key is what its answer can be reused for, in fresh memory. */
char *rig_call_key(rig *self, size_t i);
/* rig_blob is a blob as text in fresh memory. */
char *rig_blob(rig *self, const hash *name);

/* rig_forget drops the recorded result and every stage from `stage` on, as if the node had died there. */
void rig_forget(rig *self, const char *stage);
/* rig_forget_calls drops every recorded call, as a new run starts without. */
void rig_forget_calls(rig *self);
/* rig_change replaces text in the record of a finished stage, as the next lease will read it. */
void rig_change(rig *self, const char *stage, const char *from, const char *to);
/* rig_refuse makes the coordinator answer every later commit with ERR_CONFLICT. */
void rig_refuse(rig *self, bool on);

/* rig_node gives the parts, for tests of single modules. */
const node_parts *rig_node(rig *self);
void rig_ledger(rig *self, ledger *out);
/* rig_cancel sets or clears the flag that cancels the task. */
void rig_cancel(rig *self, bool on);

/* rig_pipeline makes a pipeline as it stands after codegen: texts read, the gold kernel compiled as the
 * best candidate. `done` is empty. rig_pipeline_fini frees what it owns. */
typedef struct rig_work {
    ledger account;
    checkpoint done;
    pipeline p;
} rig_work;
void rig_pipeline(rig *self, const task_spec *spec, rig_work *out);
void rig_pipeline_fini(rig_work *self);
/* rig_texts is the same without a candidate. */
void rig_texts(rig *self, const task_spec *spec, rig_work *out);

#endif
