/* api - handlers of node messages
 *
 * hello, beat: anybody. Everything else: registered nodes; who is not gets REFUSED with the code
 * not_found, which means "register again". That is never fatal for either side.
 *
 * SPDX-License-Identifier: MIT */
#include "coordinator/api.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/buf.h"
#include "common/clock.h"
#include "common/json.h"
#include "common/log.h"
#include "common/scoped.h"
#include "common/xalloc.h"
#include "coordinator/calibrate.h"
#include "coordinator/coord.h"
#include "coordinator/guard.h"
#include "coordinator/handout.h"
#include "coordinator/ingest.h"
#include "coordinator/operate.h"
#include "coordinator/paid.h"
#include "store/artifact.h"
#include "store/baseline.h"
#include "store/node.h"

enum { BEATS_PER_LOSS = 15, BEAT_MIN_MS = 20, BEAT_MAX_MS = 1000 };

/* A message of a registered node, or of anybody (node is then NODES_NONE). */
typedef struct api_call {
    coord *c;
    const peer_id *from;
    size_t node;
    message *m;
} api_call;

typedef void api_fn(const api_call *call);

static void refuse(coord *c, const peer_id *to, const err *why)
{
    message m;
    message_init(&m, MSG_REFUSED);
    m.body.refused.protocol = MESSAGE_PROTOCOL;
    m.body.refused.code = why->code;
    message_cut_str(&m.body.refused.text, why->text, ERR_TEXT_MAX);
    coord_send(c, to, &m);
}

static handout_ack ack_of(const api_call *call)
{
    return (handout_ack){.peer = *call->from, .seq = call->m->seq};
}

static void acknowledge(const api_call *call, const err *why)
{
    const handout_ack ack = ack_of(call);
    handout_acknowledge(call->c, &ack, why);
}

/* ---- registration ---- */
typedef struct join_job {
    char *name, *instance, *devices, *software;
    peer_id peer;
    int64_t now_ms;
} join_job;

static void join_job_free(join_job *job)
{
    free(job->name);
    free(job->instance);
    free(job->devices);
    free(job->software);
    free(job);
}

static int write_join(store_tx *tx, void *arg, err *e)
{
    const join_job *job = arg;
    node_row row = {.name = job->name,
                    .instance = job->instance,
                    .devices = job->devices,
                    .software = job->software,
                    .joined_ms = job->now_ms,
                    .seen_ms = job->now_ms,
                    .state = NODE_UP};
    return node_put(tx, &row, e);
}

static void join_written(void *owner, void *arg, int result, const err *e)
{
    join_job_free(arg);
    if (result)
        coord_stop(owner, COORD_BROKEN, e);
}

static char *devices_json(const struct msg_hello *hello)
{
    SCOPED(json_destroy) json *list = json_new_array();
    for (size_t i = 0; i < hello->devices_count; i++) {
        const struct row_device *d = &hello->devices[i];
        json *row = json_new_object();
        json_set_str(row, "kind", d->kind);
        json_set_str(row, "name", d->name);
        json_set_str(row, "uuid", d->uuid);
        json_set_str(row, "arch", d->arch);
        json_set_int(row, "memory_bytes", d->memory_bytes);
        json_set_str(row, "reason", d->reason);
        json_append(list, &row);
    }
    return json_dump(list);
}

static void record_join(coord *c, const struct msg_hello *hello)
{
    join_job *job = xcalloc(1, sizeof *job);
    job->name = xstrdup(hello->node);
    job->instance = xstrdup(hello->instance);
    job->devices = devices_json(hello);
    job->software = xstrdup(hello->software);
    job->now_ms = clock_wall_ms();
    if (coord_submit(c, write_join, job, join_written))
        join_job_free(job);
}

static void welcome(coord *c, const peer_id *to, bool fresh)
{
    int64_t beat = c->options.lost_ms / BEATS_PER_LOSS;
    beat = beat < BEAT_MIN_MS ? BEAT_MIN_MS : beat > BEAT_MAX_MS ? BEAT_MAX_MS : beat;
    message m;
    message_init(&m, MSG_WELCOME);
    m.body.welcome.beat_ms = beat;
    m.body.welcome.lost_ms = c->options.lost_ms;
    message_set_str(&m.body.welcome.instance, c->instance);
    m.body.welcome.fresh = fresh;
    coord_send(c, to, &m);
}

/* A newer process of the same name takes over: the older one is told to leave. */
static void replace_older(coord *c, const struct msg_hello *hello)
{
    size_t older = nodes_named(c->nodes, hello->node);
    if (older == NODES_NONE)
        return;
    const node *gone = nodes_get(c->nodes, older);
    bool same = strcmp(gone->instance, hello->instance) == 0;
    if (!same) {
        message m;
        message_init(&m, MSG_BYE);
        message_set_str(&m.body.bye.text, "another node registered under your name");
        coord_send(c, &gone->peer, &m);
    }
    handout_replace_node(c, older, same, hello->spooled);
}

static void on_hello(const api_call *call)
{
    coord *c = call->c;
    const struct msg_hello *hello = &call->m->body.hello;
    size_t known = nodes_of_peer(c->nodes, call->from);
    if (c->opening)
        return; /* it says so again in a second: what it claims is not known yet */
    if (known != NODES_NONE && strcmp(nodes_get(c->nodes, known)->instance, hello->instance) == 0) {
        welcome(c, call->from, false); /* the first welcome has not arrived yet */
        return;
    }
    err e = {0};
    size_t number;
    bool admitted = guard_admit(c, call->from, hello->node, &e) == 0;
    if (admitted && hello->protocol == MESSAGE_PROTOCOL)
        replace_older(c, hello);
    if (!admitted || nodes_join(c->nodes, call->from, hello, clock_mono_ms(), &number, &e)) {
        log_err(LOG_WARN, "nodes", &e, "refused %s", hello->node);
        refuse(c, call->from, &e);
        return;
    }
    log_line(LOG_INFO, "nodes", "node %s joined with %lld slots", hello->node,
             (long long)hello->slots);
    record_join(c, hello);
    welcome(c, call->from, true);
    calibrate_joined(c, number, hello);
}

static void on_beat(const api_call *call)
{
    coord *c = call->c;
    bool alive = false;
    int64_t now = clock_mono_ms();
    const nodes_pulse pulse = {.from = call->from, .beat = &call->m->body.beat};
    size_t number = nodes_beat(c->nodes, &pulse, c->options.lost_ms, now, &alive);
    if (number == NODES_NONE) {
        err e = {0};
        err_set(&e, ERR_NOT_FOUND, "node %s is not registered here: register again",
                call->m->body.beat.node);
        refuse(c, call->from, &e);
    } else if (alive) {
        lease_renew(c->leases, number, now);
    }
}

static void on_bye(const api_call *call)
{
    handout_lose_node(call->c, call->node, NODE_LEFT, call->m->body.bye.text);
}

/* ---- tasks ---- */
static void on_pull(const api_call *call)
{
    nodes_set_credit(call->c->nodes, call->node, call->m->body.pull.credit);
    handout_dispatch(call->c);
}

/* A lease that another node holds is none of this node's business, whatever token it shows. */
static int check_holder(const api_call *call, size_t task, int64_t token, err *e)
{
    lease held;
    if (lease_check(call->c->leases, task, token, &held, NULL) || held.node == call->node)
        return 0;
    return err_set(e, ERR_DENIED, "task %s is held by another node",
                   sched_get(call->c->options.run->tasks, task)->id);
}

/* The task that this node holds under that token, or SCHED_NONE. */
static size_t own_task(const api_call *call, const char *id, int64_t token, err *e)
{
    size_t task = handout_holder(call->c, id, token, e);
    if (task != SCHED_NONE && check_holder(call, task, token, e))
        return SCHED_NONE;
    return task;
}

static void on_claim(const api_call *call)
{
    handout_claim(call->c, call->node, &call->m->body.claim);
}

static void on_progress(const api_call *call)
{
    const struct msg_progress *p = &call->m->body.progress;
    size_t task = own_task(call, p->task, p->token, NULL);
    if (task != SCHED_NONE)
        sched_enter_stage(call->c->options.run->tasks, task, p->stage);
}

/* A task that a node gave back for this reason is not tried again: a person must mend something. */
static bool is_hopeless(const struct msg_give_back *b)
{
    return !b->retry && (b->code == ERR_CONFIG || b->code == ERR_USAGE);
}

/* A node whose tasks fail one after the other gets none for a while, when others can do them. */
static void blame(const api_call *call, const handout_return *how)
{
    coord *c = call->c;
    if (!how->failure || how->final ||
        !nodes_blame(c->nodes, call->node, how->task, c->options.run->settings.device,
                     clock_mono_ms()))
        return;
    log_line(LOG_WARN, "nodes",
             "node %s is quarantined for %d min: %d of its tasks failed; the last: %s",
             nodes_get(c->nodes, call->node)->name, NODES_BLAME_MS / 60000, NODES_BLAMES,
             how->text);
}

static void on_give_back(const api_call *call)
{
    coord *c = call->c;
    const struct msg_give_back *b = &call->m->body.give_back;
    err e = {0};
    size_t task = own_task(call, b->task, b->token, &e);
    if (task == SCHED_NONE) {
        acknowledge(call, &e);
        return;
    }
    lease_release(c->leases, task, b->token, NULL);
    nodes_release(c->nodes, call->node);
    handout_return how = {.task = task,
                          .token = b->token,
                          .ending = TASK_RETURNED,
                          .failure =
                              !b->leaving && !sched_get(c->options.run->tasks, task)->refused,
                          .final = is_hopeless(b)};
    memccpy(how.text, b->text, 0, sizeof how.text - 1);
    const handout_ack ack = ack_of(call);
    blame(call, &how);
    handout_end(c, &how, &ack);
    bool decides = c->options.run->kind == RUN_EVAL &&
                   sched_get(c->options.run->tasks, task)->kind == SCHED_CONTRACT;
    if (is_hopeless(b) && decides) {
        err_set(&e, ERR_CONFIG, "%s", b->text);
        coord_stop(c, COORD_REFUSED, &e);
    }
}

/* ---- paid calls ---- */
static void on_reserve(const api_call *call)
{
    const handout_ack ack = ack_of(call);
    err e = {0};
    const struct msg_reserve *m = &call->m->body.reserve;
    if (own_task(call, m->task, m->token, &e) == SCHED_NONE)
        acknowledge(call, &e);
    else
        paid_reserve(call->c, &ack, m);
}

static void on_settle(const api_call *call)
{
    const handout_ack ack = ack_of(call);
    err e = {0};
    const struct msg_settle *m = &call->m->body.settle;
    size_t task = sched_find(call->c->options.run->tasks, m->task);
    if (task != SCHED_NONE && check_holder(call, task, m->token, &e))
        acknowledge(call, &e);
    else
        paid_settle(call->c, &ack, m);
}

/* ---- records ---- */
typedef struct record_job {
    ingest *record;
    size_t task; /* SCHED_NONE for a baseline */
    handout_ack ack;
    char node[NODES_NAME]; /* who sent it */
    err refusal;           /* it came too late: why */
} record_job;

static void record_job_free(record_job *job)
{
    ingest_destroy(&job->record);
    free(job);
}

static int write_record(store_tx *tx, void *arg, err *e)
{
    record_job *job = arg;
    return ingest_write(tx, job->record, e);
}

static void apply_call(coord *c, const record_job *job)
{
    const call_record *r = &job->record->of.call;
    run *now = c->options.run;
    paid_answered(c, job->task, job->record->token, r);
    if (!sched_add_call(now->tasks, job->task, r->stage, r->index, &job->record->record))
        return;
    now->calls++;
    if (isnan(r->cost_usd))
        now->unpriced++;
    else
        now->spent_usd += r->cost_usd;
}

/* A candidate that crashed or hung was killed on its card. */
static void look_for_kills(coord *c, const record_job *job)
{
    const stage_record *r = &job->record->of.stage;
    size_t number = nodes_named(c->nodes, job->node);
    for (size_t i = 0; i < r->attempt_count && number != NODES_NONE; i++)
        if (r->attempts[i].result == OUTCOME_CRASHED || r->attempts[i].result == OUTCOME_HUNG)
            nodes_doubt(c->nodes, number);
}

static void apply_stage(coord *c, const record_job *job)
{
    look_for_kills(c, job);
    sched_add_stage(c->options.run->tasks, job->task, job->record->of.stage.stage,
                    &job->record->record);
}

/* A contract that does not hold is the suite author's fault: an evaluation must not be. A validation
 * is made to find it. */
static void judge_contract(coord *c, const sched_task *task, const result_record *r)
{
    if (c->options.run->kind != RUN_EVAL || task->kind != SCHED_CONTRACT ||
        r->result == OUTCOME_OK || !outcome_is_scored(r->result))
        return;
    err e = {0};
    err_set(&e, ERR_CONFIG, "%s", r->text && *r->text ? r->text : "the contract task failed");
    if (!strstr(e.text, task->problem))
        err_wrap(&e, "problem %s", task->problem);
    coord_stop(c, COORD_REFUSED, &e);
}

static void apply_result(coord *c, const record_job *job)
{
    lease held;
    if (lease_check(c->leases, job->task, job->record->token, &held, NULL) == 0) {
        lease_release(c->leases, job->task, job->record->token, NULL);
        nodes_release(c->nodes, held.node);
        nodes_praise(c->nodes, held.node);
    }
    sched *tasks = c->options.run->tasks;
    sched_finish(tasks, job->task, job->record->of.result.result);
    judge_contract(c, sched_get(tasks, job->task), &job->record->of.result);
}

/* ---- what came too late: kept for audit ---- */
static int write_late(store_tx *tx, void *arg, err *e)
{
    const record_job *job = arg;
    ingest_late late = {.record = job->record, .node = job->node, .reason = job->refusal.text};
    return ingest_write_late(tx, &late, e);
}

static void late_written(void *owner, void *arg, int result, const err *e)
{
    (void)owner;
    record_job_free(arg);
    if (result)
        log_err(LOG_WARN, "store", e, "a record that came too late was not kept for audit");
}

static void keep_late(coord *c, record_job *job, const err *why)
{
    job->refusal = *why;
    if (coord_submit(c, write_late, job, late_written))
        record_job_free(job);
}

static void record_written(void *owner, void *arg, int result, const err *e)
{
    coord *c = owner;
    record_job *job = arg;
    bool broken = result && (e->code == ERR_SYSTEM || e->code == ERR_DENIED);
    if (result)
        log_err(e->code == ERR_CONFLICT ? LOG_INFO : LOG_WARN, "store", e,
                "a record was not taken");
    else if (job->record->kind == INGEST_CALL)
        apply_call(c, job);
    else if (job->record->kind == INGEST_STAGE)
        apply_stage(c, job);
    else if (job->record->kind == INGEST_RESULT)
        apply_result(c, job);
    handout_acknowledge(c, &job->ack, result ? e : NULL);
    if (result && e->code == ERR_CONFLICT && job->record->kind != INGEST_BASELINE)
        keep_late(c, job, e);
    else
        record_job_free(job);
    if (broken)
        coord_stop(c, COORD_BROKEN, e);
}

/* Reads a record and submits it; task SCHED_NONE for a baseline. */
static void take_record(const api_call *call, ingest_kind kind, size_t task, const char *name,
                        int64_t token, const char *text)
{
    err e = {0};
    const char *sender = nodes_get(call->c->nodes, call->node)->name;
    ingest *record = ingest_read(kind, name, token, text, clock_wall_ms(), &e);
    if (!record) {
        log_err(LOG_WARN, "wire", &e, "node %s sent a bad record", sender);
        acknowledge(call, &e);
        return;
    }
    record_job *job = xcalloc(1, sizeof *job);
    *job = (record_job){.record = record, .task = task, .ack = ack_of(call)};
    memcpy(job->node, sender, NODES_NAME);
    if (coord_submit(call->c, write_record, job, record_written))
        record_job_free(job);
}

/* Of a run that is over, or that is not at work. */
static void refuse_record(const api_call *call, ingest_kind kind, const char *id, int64_t token,
                          const char *text)
{
    err e = {0};
    err_set(&e, ERR_NOT_FOUND, "there is no task %s at work", id);
    acknowledge(call, &e);
    record_job *job = xcalloc(1, sizeof *job);
    job->record = ingest_read(kind, id, token, text, clock_wall_ms(), NULL);
    memcpy(job->node, nodes_get(call->c->nodes, call->node)->name, NODES_NAME);
    if (job->record)
        keep_late(call->c, job, &e);
    else
        free(job);
}

/* The store is the fence: also what comes too late goes there, and is refused and noted there. */
static void take_task_record(const api_call *call, ingest_kind kind, const char *id, int64_t token,
                             const char *text)
{
    size_t task = sched_find(call->c->options.run->tasks, id);
    err e = {0};
    if (task == SCHED_NONE)
        refuse_record(call, kind, id, token, text);
    else if (check_holder(call, task, token, &e))
        acknowledge(call, &e);
    else
        take_record(call, kind, task, id, token, text);
}

static void on_call(const api_call *call)
{
    const struct msg_call *m = &call->m->body.call;
    take_task_record(call, INGEST_CALL, m->task, m->token, m->record);
}

static void on_stage(const api_call *call)
{
    const struct msg_stage *m = &call->m->body.stage;
    take_task_record(call, INGEST_STAGE, m->task, m->token, m->record);
}

static void on_result(const api_call *call)
{
    const struct msg_result *m = &call->m->body.result;
    take_task_record(call, INGEST_RESULT, m->task, m->token, m->record);
}

static void on_baseline_put(const api_call *call)
{
    const struct msg_baseline_put *m = &call->m->body.baseline_put;
    take_record(call, INGEST_BASELINE, SCHED_NONE, m->key, 0, m->record);
}

/* ---- baselines ---- */
typedef struct baseline_job {
    char *key;
    baseline_row row;
    bool found;
    handout_ack ack;
} baseline_job;

static void baseline_job_free(baseline_job *job)
{
    if (job->found)
        baseline_row_fini(&job->row);
    free(job->key);
    free(job);
}

static int read_baseline(store_tx *tx, void *arg, err *e)
{
    baseline_job *job = arg;
    err why = {0};
    job->found = baseline_get(tx, job->key, &job->row, &why) == 0;
    if (job->found || why.code == ERR_NOT_FOUND)
        return 0;
    *e = why;
    return -1;
}

static void baseline_read(void *owner, void *arg, int result, const err *e)
{
    baseline_job *job = arg;
    if (result)
        log_err(LOG_WARN, "store", e, "a baseline cannot be read");
    message m;
    message_init(&m, MSG_BASELINE);
    m.body.baseline.ref = (int64_t)job->ack.seq;
    m.body.baseline.found = result == 0 && job->found;
    message_set_str(&m.body.baseline.record, m.body.baseline.found ? job->row.record : "");
    coord_send(owner, &job->ack.peer, &m);
    baseline_job_free(job);
}

static void on_baseline_get(const api_call *call)
{
    baseline_job *job = xcalloc(1, sizeof *job);
    job->key = xstrdup(call->m->body.baseline_get.key);
    job->ack = ack_of(call);
    if (coord_submit(call->c, read_baseline, job, baseline_read))
        baseline_job_free(job);
}

/* ---- blobs ---- */
typedef struct blob_job {
    hash name;
    buf data;
    message get;     /* reading: the question */
    handout_ack ack; /* writing: whom to tell of a failure */
    bool found;
} blob_job;

static blob_job *blob_job_create(const api_call *call, const hash *name)
{
    blob_job *job = xcalloc(1, sizeof *job);
    job->name = *name;
    job->ack = ack_of(call);
    buf_init(&job->data, BLOB_MAX);
    return job;
}

static void blob_job_free(blob_job *job)
{
    buf_fini(&job->data);
    message_fini(&job->get);
    free(job);
}

static void answer_blob(coord *c, const peer_id *to, const message *get, const buf *data)
{
    message m;
    message_init(&m, MSG_BLOB_DATA);
    blob_answer(&m, get, data ? buf_text(data) : NULL, data ? data->size : 0);
    coord_send(c, to, &m);
}

static int read_blob(store_tx *tx, void *arg, err *e)
{
    blob_job *job = arg;
    err why = {0};
    job->found = artifact_get(tx, &job->name, &job->data, &why) == 0;
    if (job->found || why.code == ERR_NOT_FOUND)
        return 0;
    *e = why;
    return -1;
}

static void blob_read(void *owner, void *arg, int result, const err *e)
{
    blob_job *job = arg;
    if (result)
        log_err(LOG_WARN, "store", e, "an artifact cannot be read");
    bool found = result == 0 && job->found;
    if (found)
        coord_cache(owner, buf_text(&job->data), job->data.size);
    answer_blob(owner, &job->ack.peer, &job->get, found ? &job->data : NULL);
    blob_job_free(job);
}

static void on_blob_get(const api_call *call)
{
    const hash *name = &call->m->body.blob_get.blob;
    blob_job *job = blob_job_create(call, name);
    if (blob_store_get(call->c->cache, name, &job->data, NULL) == 0) {
        answer_blob(call->c, call->from, call->m, &job->data);
        blob_job_free(job);
        return;
    }
    job->get = *call->m;
    message_init(call->m, MSG_BLOB_GET); /* moved */
    if (coord_submit(call->c, read_blob, job, blob_read))
        blob_job_free(job);
}

static int write_blob(store_tx *tx, void *arg, err *e)
{
    const blob_job *job = arg;
    return artifact_put(tx, buf_text(&job->data), job->data.size, NULL, e);
}

static void blob_written(void *owner, void *arg, int result, const err *e)
{
    blob_job *job = arg;
    if (result)
        handout_acknowledge(owner, &job->ack, e);
    blob_job_free(job);
}

/* Not answered unless refused: the record that names the blob is what gets acknowledged. */
static void on_blob_put(const api_call *call)
{
    coord *c = call->c;
    const struct msg_blob_put *chunk = &call->m->body.blob_put;
    message_bytes whole = {.data = NULL};
    err e = {0};
    int got =
        blob_inbox_put(c->inbox, nodes_get(c->nodes, call->node)->instance, chunk, &whole, &e);
    if (got < 0)
        acknowledge(call, &e);
    if (got <= 0)
        return;
    coord_cache(c, whole.data, whole.size);
    blob_job *job = blob_job_create(call, &chunk->blob);
    buf_add(&job->data, whole.data, whole.size);
    free(whole.data);
    if (coord_submit(c, write_blob, job, blob_written))
        blob_job_free(job);
}

static void on_calibration(const api_call *call)
{
    const handout_ack ack = ack_of(call);
    calibrate_take(call->c, call->node, &ack, call->m->body.calibration.record);
}

/* ---- the table ---- */
typedef enum api_peer { API_ANYBODY, API_NODE, API_OPERATOR } api_peer;

static void on_operator(const api_call *call)
{
    operate_handle(call->c, call->from, call->m); /* it looks who asks */
}

/* message, handler, who may send it */
#define API(X)                                     \
    X(MSG_HELLO, on_hello, API_ANYBODY)            \
    X(MSG_BEAT, on_beat, API_ANYBODY)              \
    X(MSG_PULL, on_pull, API_NODE)                 \
    X(MSG_CLAIM, on_claim, API_NODE)               \
    X(MSG_RESERVE, on_reserve, API_NODE)           \
    X(MSG_SETTLE, on_settle, API_NODE)             \
    X(MSG_CALL, on_call, API_NODE)                 \
    X(MSG_STAGE, on_stage, API_NODE)               \
    X(MSG_RESULT, on_result, API_NODE)             \
    X(MSG_GIVE_BACK, on_give_back, API_NODE)       \
    X(MSG_PROGRESS, on_progress, API_NODE)         \
    X(MSG_BLOB_GET, on_blob_get, API_NODE)         \
    X(MSG_BLOB_PUT, on_blob_put, API_NODE)         \
    X(MSG_BASELINE_GET, on_baseline_get, API_NODE) \
    X(MSG_BASELINE_PUT, on_baseline_put, API_NODE) \
    X(MSG_CALIBRATION, on_calibration, API_NODE)   \
    X(MSG_BYE, on_bye, API_NODE)                   \
    X(MSG_SUBMIT, on_operator, API_OPERATOR)       \
    X(MSG_RUN_GET, on_operator, API_OPERATOR)      \
    X(MSG_FILE_GET, on_operator, API_OPERATOR)     \
    X(MSG_FLEET_GET, on_operator, API_OPERATOR)    \
    X(MSG_CANCEL_RUN, on_operator, API_OPERATOR)   \
    X(MSG_DRAIN, on_operator, API_OPERATOR)

typedef struct api_row {
    message_type type;
    api_fn *fn;
    api_peer peer;
} api_row;

static const api_row table[] = {
#define API_ROW(type, fn, peer) {type, fn, peer},
    API(API_ROW)
#undef API_ROW
};

static void dispatch(void *arg, const peer_id *from, message *m)
{
    coord *c = arg;
    const api_row *row = table;
    while (row->type != m->type) /* the loop passes on only what is in the table */
        row++;
    api_call call = {.c = c, .from = from, .node = nodes_of_peer(c->nodes, from), .m = m};
    if (row->peer == API_NODE && call.node == NODES_NONE) {
        err e = {0};
        err_set(&e, ERR_NOT_FOUND, "%s from a node that is not registered: register again",
                message_name(m->type));
        refuse(c, from, &e);
        return;
    }
    if (row->peer == API_NODE)
        nodes_seen(c->nodes, call.node, clock_mono_ms());
    row->fn(&call);
}

static void on_bad(void *arg, const peer_id *from, const err *why)
{
    log_err(LOG_WARN, "wire", why, "a peer's message was refused");
    if (from->size)
        refuse(arg, from, why);
}

const loop_routes *api_routes(void)
{
    static const loop_route routes[] = {
#define API_ROUTE(type, fn, peer) {type, dispatch},
        API(API_ROUTE)
#undef API_ROUTE
            {0, NULL}};
    static const loop_routes all = {.table = routes, .bad = on_bad};
    return &all;
}
