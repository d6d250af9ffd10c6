/* rig - a coordinator in memory and a node's parts around a pipeline, for tests
 *
 * SPDX-License-Identifier: MIT */
#include "tests/support/rig.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>
#include <pthread.h>

#include "common/file.h"
#include "common/scoped.h"
#include "common/xalloc.h"
#include "suites/suite.h"
#include "wire/loop.h"
#include "wire/sock.h"

enum { RECORDS_MAX = 64 };

/* What the coordinator was told of the one task. */
typedef struct told {
    char *calls[RECORDS_MAX];
    size_t call_count;
    char *stages[RECORDS_MAX];
    stage_record parsed[RECORDS_MAX];
    size_t stage_count;
    result_record result;
    bool has_result;
    char *baseline_key, *baseline; /* the newest stored baseline */
} told;

struct rig {
    char folder[64];
    char endpoint[96];
    settings settings;
    char fake[96], cache[96];
    /* the coordinator */
    sock_ctx *ctx;
    sock *router;
    loop *events;
    pthread_t thread;
    pthread_mutex_t lock; /* guards told, refuse */
    told told;
    bool refuse;
    blob_store *artifacts;
    blob_inbox *inbox;
    /* the node */
    session *session;
    pthread_t session_thread;
    atomic_bool cancelled;
    node_parts parts;
    suite *suite;
};

static void reply(rig *self, const peer_id *to, message *m)
{
    err e;
    assert_int_equal(sock_send(self->router, to, m, &e), 0);
    message_fini(m);
}

static void acknowledge(rig *self, const peer_id *to, uint64_t seq, err_code code, const char *text)
{
    message m;
    message_init(&m, MSG_ACK);
    m.body.ack.ref = (int64_t)seq;
    m.body.ack.code = code;
    message_set_str(&m.body.ack.text, text);
    reply(self, to, &m);
}

static void on_hello(void *arg, const peer_id *from, message *got)
{
    message m;
    (void)got;
    message_init(&m, MSG_WELCOME);
    m.body.welcome.beat_ms = 1000;
    m.body.welcome.lost_ms = 15000;
    message_set_str(&m.body.welcome.instance, "rig");
    reply(arg, from, &m);
}

static void on_ignored(void *arg, const peer_id *from, message *got)
{
    (void)arg;
    (void)from;
    (void)got;
}

static void on_blob_put(void *arg, const peer_id *from, message *got)
{
    rig *self = arg;
    message_bytes done = {0};
    err e;
    (void)from;
    int rc = blob_inbox_put(self->inbox, "node", &got->body.blob_put, &done, &e);
    assert_true(rc >= 0);
    if (rc == 1) {
        assert_int_equal(blob_store_put(self->artifacts, done.data, done.size, NULL, &e), 0);
        free(done.data);
    }
}

static void on_blob_get(void *arg, const peer_id *from, message *got)
{
    rig *self = arg;
    SCOPED(buf_fini) buf data;
    err e;
    message m;
    buf_init(&data, BLOB_MAX);
    bool found = blob_store_get(self->artifacts, &got->body.blob_get.blob, &data, &e) == 0;
    message_init(&m, MSG_BLOB_DATA);
    blob_answer(&m, got, found ? buf_text(&data) : NULL, data.size);
    m.body.blob_data.ref = (int64_t)got->seq;
    reply(self, from, &m);
}

/* Keeps a record unless the rig refuses; answers either way. */
static bool keep(rig *self, const peer_id *from, const message *got)
{
    pthread_mutex_lock(&self->lock);
    bool refuse = self->refuse;
    pthread_mutex_unlock(&self->lock);
    if (refuse) {
        acknowledge(self, from, got->seq, ERR_CONFLICT, "the lease is not yours any more");
    }
    return !refuse;
}

static void on_call(void *arg, const peer_id *from, message *got)
{
    rig *self = arg;
    if (!keep(self, from, got)) {
        return;
    }
    pthread_mutex_lock(&self->lock);
    assert_true(self->told.call_count < RECORDS_MAX);
    self->told.calls[self->told.call_count++] = xstrdup(got->body.call.record);
    pthread_mutex_unlock(&self->lock);
    acknowledge(self, from, got->seq, ERR_NONE, "");
}

static void on_stage(void *arg, const peer_id *from, message *got)
{
    rig *self = arg;
    const char *record = got->body.stage.record;
    err e;
    if (!keep(self, from, got)) {
        return;
    }
    pthread_mutex_lock(&self->lock);
    told *t = &self->told;
    assert_true(t->stage_count < RECORDS_MAX);
    t->stages[t->stage_count] = xstrdup(record);
    assert_int_equal(stage_record_read(record, strlen(record), &t->parsed[t->stage_count], &e), 0);
    t->stage_count++;
    pthread_mutex_unlock(&self->lock);
    acknowledge(self, from, got->seq, ERR_NONE, "");
}

static void on_result(void *arg, const peer_id *from, message *got)
{
    rig *self = arg;
    const char *record = got->body.result.record;
    err e;
    if (!keep(self, from, got)) {
        return;
    }
    pthread_mutex_lock(&self->lock);
    assert_false(self->told.has_result);
    assert_int_equal(result_record_read(record, strlen(record), &self->told.result, &e), 0);
    self->told.has_result = true;
    pthread_mutex_unlock(&self->lock);
    acknowledge(self, from, got->seq, ERR_NONE, "");
}

static void on_baseline_put(void *arg, const peer_id *from, message *got)
{
    rig *self = arg;
    free(self->told.baseline_key);
    free(self->told.baseline);
    self->told.baseline_key = xstrdup(got->body.baseline_put.key);
    self->told.baseline = xstrdup(got->body.baseline_put.record);
    acknowledge(self, from, got->seq, ERR_NONE, "");
}

static void on_baseline_get(void *arg, const peer_id *from, message *got)
{
    rig *self = arg;
    const told *t = &self->told;
    message m;
    message_init(&m, MSG_BASELINE);
    m.body.baseline.ref = (int64_t)got->seq;
    m.body.baseline.found =
        t->baseline_key != NULL && strcmp(t->baseline_key, got->body.baseline_get.key) == 0;
    message_set_str(&m.body.baseline.record, m.body.baseline.found ? t->baseline : "");
    reply(self, from, &m);
}

static void on_bye(void *arg, const peer_id *from, message *got)
{
    rig *self = arg;
    (void)from;
    (void)got;
    loop_stop(self->events);
}

static void on_bad(void *arg, const peer_id *from, const err *why)
{
    (void)arg;
    (void)from;
    fail_msg("the node sent a bad message: %s", why->text);
}

static const loop_route routes[] = {{MSG_HELLO, on_hello},
                                    {MSG_PULL, on_ignored},
                                    {MSG_BEAT, on_ignored},
                                    {MSG_PROGRESS, on_ignored},
                                    {MSG_BLOB_PUT, on_blob_put},
                                    {MSG_BLOB_GET, on_blob_get},
                                    {MSG_CALL, on_call},
                                    {MSG_STAGE, on_stage},
                                    {MSG_RESULT, on_result},
                                    {MSG_BASELINE_PUT, on_baseline_put},
                                    {MSG_BYE, on_bye},
                                    {MSG_BASELINE_GET, on_baseline_get},
                                    {0, NULL}};
static const loop_routes table = {routes, on_bad};

static void *coordinate(void *arg)
{
    rig *self = arg;
    err e;
    assert_int_equal(loop_run(self->events, &e), 0);
    return NULL;
}

static void *serve_session(void *arg)
{
    rig *self = arg;
    err e;
    assert_int_equal(session_run(self->session, &e), 0);
    return NULL;
}

static void start_coordinator(rig *self)
{
    err e;
    self->ctx = sock_ctx_create(&e);
    self->router = sock_create(self->ctx, SOCK_ROUTER, NULL, &e);
    assert_non_null(self->router);
    assert_int_equal(sock_bind(self->router, self->endpoint, &e), 0);
    self->events = loop_create();
    self->artifacts = blob_store_create(NULL, (size_t)256 * 1024 * 1024, &e);
    self->inbox = blob_inbox_create((size_t)128 * 1024 * 1024);
    loop_add_sock(self->events, self->router, &table, self);
    assert_int_equal(pthread_create(&self->thread, NULL, coordinate, self), 0);
}

static void on_lease(void *arg, message *lease)
{
    (void)arg;
    (void)lease;
}

static void on_cancel(void *arg, const char *task)
{
    rig *self = arg;
    (void)task;
    atomic_store(&self->cancelled, true);
}

static void start_node(rig *self)
{
    err e = {0};
    static const char binary[] = CE_BINARY_DIR "/bin/ce-compiler";
    session_options options = {.coordinator = self->endpoint,
                               .node = "rig",
                               .slots = 1,
                               .software = "{}",
                               .events = {.lease = on_lease, .cancel = on_cancel, .arg = self}};
    compile_options compile = {.binary = binary, .children = 1};
    self->parts.settings = &self->settings;
    self->parts.lanes = lanes_create(&self->settings, &e);
    if (self->parts.lanes == NULL) {
        fail_msg("%s", e.text);
    }
    self->parts.compiler = compile_pool_create(&compile, &e);
    self->parts.blobs = blob_store_create(self->cache, (size_t)64 * 1024 * 1024, &e);
    self->session = session_create(&options, &e);
    assert_non_null(self->session);
    self->parts.session = self->session;
    assert_int_equal(pthread_create(&self->session_thread, NULL, serve_session, self), 0);
}

rig *rig_create(const char *fake_script)
{
    return rig_create_on("fake", fake_script);
}

rig *rig_create_on(const char *device, const char *fake_script)
{
    rig *self = xcalloc(1, sizeof(*self));
    err e = {0};
    snprintf(self->folder, sizeof(self->folder), "/tmp/ce-rig-XXXXXX");
    assert_non_null(mkdtemp(self->folder));
    snprintf(self->endpoint, sizeof(self->endpoint), "ipc://%s/sock", self->folder);
    snprintf(self->cache, sizeof(self->cache), "%s/cache", self->folder);
    snprintf(self->fake, sizeof(self->fake), "%s/fake.json", self->folder);
    pthread_mutex_init(&self->lock, NULL);
    self->settings = (settings){.device = device, .slots = 1, .compilers = 1};
    if (fake_script != NULL) {
        rig_write(self, "fake.json", fake_script);
        self->settings.fake = self->fake;
    }
    self->suite = suite_load(CE_SOURCE_DIR "/suites", "internal", &e);
    if (self->suite == NULL) {
        fail_msg("%s", e.text);
    }
    start_coordinator(self);
    start_node(self);
    return self;
}

static void told_clear(told *t)
{
    for (size_t i = 0; i < t->call_count; i++) {
        free(t->calls[i]);
    }
    for (size_t i = 0; i < t->stage_count; i++) {
        free(t->stages[i]);
        stage_record_fini(&t->parsed[i]);
    }
    result_record_fini(&t->result);
    free(t->baseline_key);
    free(t->baseline);
    *t = (told){0};
}

void rig_destroy(rig **self_p)
{
    rig *self = *self_p;
    err e;
    message bye;
    message_init(&bye, MSG_BYE);
    session_post(self->session, &bye, &e);
    pthread_join(self->thread, NULL);
    session_stop(self->session);
    pthread_join(self->session_thread, NULL);
    session_destroy(&self->session);
    blob_store_destroy(&self->parts.blobs);
    compile_pool_destroy(&self->parts.compiler);
    lanes_destroy(&self->parts.lanes);
    loop_destroy(&self->events);
    sock_destroy(&self->router);
    sock_ctx_destroy(&self->ctx);
    blob_inbox_destroy(&self->inbox);
    blob_store_destroy(&self->artifacts);
    suite_destroy(&self->suite);
    told_clear(&self->told);
    pthread_mutex_destroy(&self->lock);
    file_remove_tree(self->folder, NULL);
    free(self);
    *self_p = NULL;
}

const char *rig_folder(const rig *self)
{
    return self->folder;
}

void rig_write(const rig *self, const char *name, const char *text)
{
    err e = {0};
    SCOPED(scoped_free) char *path = file_join(self->folder, name);
    assert_int_equal(file_write(path, text, strlen(text), &e), 0);
}

/* ---- specs and runs ---- */

static hash put(blob_store *artifacts, const char *text)
{
    hash name = {{0}};
    err e;
    if (text != NULL) {
        assert_int_equal(blob_store_put(artifacts, text, strlen(text), &name, &e), 0);
    }
    return name;
}

void rig_fill_spec(const suite *all, blob_store *artifacts, const char *problem_id,
                   const char *model_id, task_spec *out)
{
    static const int64_t budgets[SPEC_STAGES] = {2, 3, 3, 3, 1};
    const problem *p = suite_find(all, problem_id);
    assert_non_null(p);
    *out = (task_spec){.kind = xstrdup("synthesize"),
                       .run = xstrdup("run"),
                       .problem = xstrdup(p->id),
                       .suite = xstrdup("internal"),
                       .contract = contract_text(p->terms),
                       .contract_hash = contract_hash(p->terms),
                       .prompt = put(artifacts, p->prompt),
                       .reference = put(artifacts, p->reference),
                       .reference_file = xasprintf("%s/reference.py", p->folder),
                       .gold_source = put(artifacts, p->gold_source),
                       .gold_plan = put(artifacts, p->gold_plan),
                       .entrant = xstrdup(model_id),
                       .seed = 7,
                       .device = xstrdup("fake"),
                       .target = 1.0};
    for (int i = 0; i < SPEC_STAGES; i++) {
        out->models[i] = xstrdup(model_id);
        out->budgets[i] = budgets[i];
    }
}

void rig_spec(rig *self, const char *problem_id, const char *model_id, task_spec *out)
{
    rig_fill_spec(self->suite, self->artifacts, problem_id, model_id, out);
}

void rig_ledger(rig *self, ledger *out)
{
    *out = (ledger){.session = self->session,
                    .blobs = self->parts.blobs,
                    .task = "task",
                    .token = 1,
                    .cancelled = &self->cancelled};
}

/* The checkpoint that a new lease would carry. */
static void fill_checkpoint(rig *self, checkpoint *out)
{
    const told *t = &self->told;
    out->stages = xcalloc(RECORDS_MAX, sizeof(*out->stages));
    out->calls = xcalloc(RECORDS_MAX, sizeof(*out->calls));
    for (size_t i = 0; i < t->stage_count; i++) {
        out->stages[i].stage = t->parsed[i].stage;
        out->stages[i].record = put(self->artifacts, t->stages[i]);
    }
    out->stage_count = t->stage_count;
    for (size_t i = 0; i < t->call_count; i++) {
        call_record call;
        err e;
        assert_int_equal(call_record_read(t->calls[i], strlen(t->calls[i]), &call, &e), 0);
        out->calls[i].stage = xstrdup(call.stage);
        out->calls[i].index = call.index;
        out->calls[i].record = put(self->artifacts, t->calls[i]);
        call_record_fini(&call);
    }
    out->call_count = t->call_count;
}

int rig_run(rig *self, const task_spec *spec, err *e)
{
    ledger account;
    checkpoint done = {0};
    rig_ledger(self, &account);
    fill_checkpoint(self, &done);
    int rc = pipeline_run(&self->parts, &account, spec, &done, e);
    ledger_fini(&account);
    for (size_t i = 0; i < done.call_count; i++) {
        free(done.calls[i].stage);
    }
    free(done.calls);
    free(done.stages);
    return rc;
}

int rig_run_contract(rig *self, const task_spec *spec, err *e)
{
    ledger account;
    rig_ledger(self, &account);
    int rc = pipeline_contract(&self->parts, &account, spec, e);
    ledger_fini(&account);
    return rc;
}

const result_record *rig_result(const rig *self)
{
    return self->told.has_result ? &self->told.result : NULL;
}

const stage_record *rig_stage(const rig *self, const char *stage)
{
    for (size_t i = 0; i < self->told.stage_count; i++) {
        if (strcmp(self->told.parsed[i].stage, stage) == 0) {
            return &self->told.parsed[i];
        }
    }
    return NULL;
}

size_t rig_call_count(const rig *self)
{
    return self->told.call_count;
}

char *rig_prompt(rig *self, size_t i)
{
    call_record call SCOPED(call_record_fini) = {0};
    err e;
    assert_true(i < self->told.call_count);
    const char *text = self->told.calls[i];
    assert_int_equal(call_record_read(text, strlen(text), &call, &e), 0);
    return rig_blob(self, &call.prompt);
}

char *rig_call_key(rig *self, size_t i)
{
    call_record call SCOPED(call_record_fini) = {0};
    err e;
    assert_true(i < self->told.call_count);
    const char *text = self->told.calls[i];
    assert_int_equal(call_record_read(text, strlen(text), &call, &e), 0);
    return TAKE(call.key);
}

/* Blobs are posted, not answered: whoever looks at one waits until all of them have arrived. */
static void settle(rig *self)
{
    SCOPED(message_fini) message answer = {0};
    message m;
    err e = {0};
    message_init(&m, MSG_BASELINE_GET);
    if (session_call(self->session, &m, &answer, &e) != 0) {
        fail_msg("%s", e.text);
    }
}

char *rig_blob(rig *self, const hash *name)
{
    SCOPED(buf_fini) buf text;
    err e;
    settle(self);
    buf_init(&text, BLOB_MAX);
    assert_int_equal(blob_store_get(self->artifacts, name, &text, &e), 0);
    return buf_take(&text);
}

void rig_forget(rig *self, const char *stage)
{
    told *t = &self->told;
    result_record_fini(&t->result);
    t->has_result = false;
    while (t->stage_count > 0) {
        size_t last = --t->stage_count;
        bool found = strcmp(t->parsed[last].stage, stage) == 0;
        free(t->stages[last]);
        stage_record_fini(&t->parsed[last]);
        if (found) {
            return;
        }
    }
}

void rig_forget_calls(rig *self)
{
    told *t = &self->told;
    while (t->call_count > 0) {
        free(t->calls[--t->call_count]);
    }
}

void rig_change(rig *self, const char *stage, const char *from, const char *to)
{
    told *t = &self->told;
    for (size_t i = 0; i < t->stage_count; i++) {
        if (strcmp(t->parsed[i].stage, stage) == 0) {
            SCOPED(scoped_free) char *text = t->stages[i];
            char *at = strstr(text, from);
            assert_non_null(at);
            t->stages[i] = xasprintf("%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
            return;
        }
    }
    fail_msg("stage %s was not told", stage);
}

void rig_refuse(rig *self, bool on)
{
    pthread_mutex_lock(&self->lock);
    self->refuse = on;
    pthread_mutex_unlock(&self->lock);
}

const node_parts *rig_node(rig *self)
{
    return &self->parts;
}

void rig_cancel(rig *self, bool on)
{
    atomic_store(&self->cancelled, on);
}

/* ---- a pipeline for single modules ---- */

static char *text_of(rig *self, const hash *name)
{
    return hash_is_zero(name) ? NULL : rig_blob(self, name);
}

void rig_texts(rig *self, const task_spec *spec, rig_work *out)
{
    err e = {0};
    *out = (rig_work){0};
    rig_ledger(self, &out->account);
    pipeline *p = &out->p;
    p->node = &self->parts;
    p->ledger = &out->account;
    p->spec = spec;
    p->done = &out->done;
    p->facts = lanes_usable(self->parts.lanes, NULL);
    p->terms = contract_parse(spec->contract, strlen(spec->contract), "contract", &e);
    assert_non_null(p->terms);
    p->prompt = text_of(self, &spec->prompt);
    p->reference = text_of(self, &spec->reference);
    p->gold_source = text_of(self, &spec->gold_source);
    p->gold_plan = text_of(self, &spec->gold_plan);
    p->material = (provider_material){
        .contract = spec->contract, .gold_source = p->gold_source, .gold_plan = p->gold_plan};
    if (pipeline_open(p, &e) != 0) {
        fail_msg("%s", e.text);
    }
}

void rig_pipeline(rig *self, const task_spec *spec, rig_work *out)
{
    err e = {0};
    rig_texts(self, spec, out);
    if (candidate_restore(&out->p, &spec->gold_source, &spec->gold_plan, &e) != 0) {
        fail_msg("%s", e.text);
    }
}

void rig_pipeline_fini(rig_work *self)
{
    pipeline *p = &self->p;
    ledger_fini(&self->account);
    for (int i = 0; i < SPEC_STAGES; i++) {
        provider_destroy(&p->providers[i]);
    }
    provider_destroy(&p->escalation);
    free(p->prompt);
    free(p->reference);
    free(p->gold_source);
    free(p->gold_plan);
    free(p->kernel_spec);
    candidate_destroy(&p->best);
    contract_destroy(&p->terms);
}
