/* world - see world.h
 *
 * SPDX-License-Identifier: MIT */
#include "world.h"

#include <math.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/file.h"
#include "common/scoped.h"
#include "common/str.h"
#include "common/xalloc.h"
#include "coordinator/keyring.h"
#include "wire/record.h"
#include "wire/sock.h"

enum { PATIENCE_MS = 60000, KEPT_MAX = 64 };

void must(bool condition, const char *text, const char *file, int line)
{
    if (condition)
        return;
    fprintf(stderr, "%s:%d: %s\n", file, line, text);
    abort();
}

/* ---- the coordinator's side ---- */
static void add_names(const char *text, settings_name **out, size_t *count)
{
    str rest = str_of(text), piece;
    while (text && str_split(&rest, ',', &piece)) {
        *out = xreallocarray(*out, *count + 1, sizeof **out);
        (*out)[(*count)++].name = xstrndup(piece.data, piece.size);
    }
}

void world_settings(const world_options *options, settings *out)
{
    static const int64_t budgets[SPEC_STAGES] = {2, 3, 3, 3, 1};
    settings_name *entrants = NULL;
    memset(out, 0, sizeof *out);
    add_names("internal", &out->suites, &out->suite_count);
    out->suites_dir = xstrdup(CE_SOURCE_DIR "/suites");
    add_names(options->only, &out->only, &out->only_count);
    add_names(options->entrants ? options->entrants : "gold", &entrants, &out->entrant_count);
    out->entrants = xcalloc(out->entrant_count, sizeof *out->entrants);
    for (size_t i = 0; i < out->entrant_count; i++) {
        out->entrants[i].name = entrants[i].name;
        memcpy(out->entrants[i].budgets, budgets, sizeof budgets);
        for (size_t k = 0; k < SPEC_STAGES; k++)
            out->entrants[i].models[k] = xstrdup(entrants[i].name);
    }
    free(entrants);
    out->samples = options->samples ? options->samples : 1;
    out->seed = 7;
    out->device = xstrdup("fake");
    out->target = 1.0;
    out->node_timeout_ms = options->lost_ms ? options->lost_ms : SETTINGS_NODE_TIMEOUT_MS;
}

world *world_create(const world_options *options)
{
    world *self = xcalloc(1, sizeof *self);
    settings wanted;
    char id[ID_TEXT];
    snprintf(self->folder, sizeof self->folder, "/tmp/ce-world-XXXXXX");
    MUST(mkdtemp(self->folder) != NULL);
    snprintf(self->db, sizeof self->db, "%s/ce.db", self->folder);
    world_settings(options, &wanted);
    SCOPED(selection_destroy) selection *chosen = selection_create(&wanted, NULL);
    MUST(chosen != NULL);
    self->store = store_open(self->db, STORE_OWN, NULL);
    MUST(self->store != NULL);
    SCOPED(docket_destroy)
    docket *cases = options->validate ? docket_mutants(chosen->problems, chosen->count) : NULL;
    const run_request request = {.settings = &wanted,
                                 .selection = chosen,
                                 .docket = cases,
                                 .command = "test",
                                 .version = "0",
                                 .now_ms = clock_wall_ms()};
    err e = {0};
    if (run_create(self->store, &request, id, &e))
        fprintf(stderr, "%s\n", e.text);
    self->run = run_open(self->store, id, clock_wall_ms(), &e);
    MUST(self->run != NULL);
    SCOPED(scoped_free) char *keys = file_join(self->folder, "keys");
    const coord_options how = {.store = self->store,
                               .run = self->run,
                               .lost_ms = wanted.node_timeout_ms,
                               .bind = options->secure ? "curve://127.0.0.1:*" : NULL,
                               .keys = keys};
    self->coord = coord_create(&how, &e);
    MUST(self->coord != NULL);
    settings_fini(&wanted);
    return self;
}

void world_destroy(world **self)
{
    if (!*self)
        return;
    coord_destroy(&(*self)->coord);
    run_destroy(&(*self)->run);
    store_destroy(&(*self)->store);
    file_remove_tree((*self)->folder, NULL);
    free(*self);
    *self = NULL;
}

int64_t world_count(const world *self, const char *from)
{
    sqlite3 *db = NULL;
    sqlite3_stmt *s = NULL;
    SCOPED(scoped_free) char *sql = xasprintf("SELECT count(*) FROM %s", from);
    MUST(sqlite3_open_v2(self->db, &db, SQLITE_OPEN_READONLY, NULL) == SQLITE_OK);
    MUST(sqlite3_prepare_v2(db, sql, -1, &s, NULL) == SQLITE_OK);
    MUST(sqlite3_step(s) == SQLITE_ROW);
    int64_t count = sqlite3_column_int64(s, 0);
    sqlite3_finalize(s);
    sqlite3_close(db);
    return count;
}

/* ---- a node's side ---- */
struct client {
    sock_ctx *context;
    sock *dealer;
    uint64_t seq;
    char instance[ID_TEXT];
    message kept[KEPT_MAX]; /* came while another type was expected; oldest first */
    size_t kept_count;
};

client *client_create(const char *endpoint)
{
    return client_create_with_key(endpoint, NULL);
}

curve_file world_key(const world *self, const char *name)
{
    curve_file key;
    SCOPED(scoped_free) char *keys = file_join(self->folder, "keys");
    SCOPED(scoped_free) char *path = xasprintf("%s/%s.key", self->folder, name);
    const keyring_new_key wanted = {.name = name, .path = path};
    MUST(keyring_add(keys, &wanted, NULL) == 0);
    MUST(curve_load(path, &key, NULL) == 0);
    return key;
}

client *client_create_with_key(const char *endpoint, const curve_file *key)
{
    client *self = xcalloc(1, sizeof *self);
    id_new(self->instance);
    self->context = sock_ctx_create(NULL);
    MUST(self->context != NULL);
    self->dealer = sock_create(self->context, SOCK_DEALER, &(sock_options){.key = key}, NULL);
    MUST(self->dealer != NULL);
    MUST(sock_connect(self->dealer, endpoint, NULL) == 0);
    return self;
}

void client_destroy(client **self)
{
    if (!*self)
        return;
    for (size_t i = 0; i < (*self)->kept_count; i++)
        message_fini(&(*self)->kept[i]);
    sock_destroy(&(*self)->dealer);
    sock_ctx_destroy(&(*self)->context);
    free(*self);
    *self = NULL;
}

uint64_t client_send(client *self, message *m)
{
    err e = {0};
    m->seq = ++self->seq;
    int64_t until = clock_mono_ms() + PATIENCE_MS;
    while (sock_send(self->dealer, NULL, m, &e)) { /* not connected yet */
        MUST(e.code == ERR_UNAVAILABLE && e.retry && clock_mono_ms() < until);
        sock_wait(self->dealer, 2);
    }
    message_fini(m);
    return self->seq;
}

static bool take_kept(client *self, message_type type, message *out)
{
    for (size_t i = 0; i < self->kept_count; i++) {
        if (type && self->kept[i].type != type)
            continue;
        *out = self->kept[i];
        self->kept_count--;
        memmove(&self->kept[i], &self->kept[i + 1], (self->kept_count - i) * sizeof *out);
        return true;
    }
    return false;
}

static bool receive(client *self, int64_t timeout_ms, message *out)
{
    int64_t until = clock_mono_ms() + timeout_ms;
    for (;;) {
        int got = sock_recv(self->dealer, NULL, out, NULL);
        MUST(got >= 0);
        if (got > 0)
            return true;
        int64_t left = until - clock_mono_ms();
        if (left <= 0)
            return false;
        sock_wait(self->dealer, left);
    }
}

bool client_next(client *self, int64_t timeout_ms, message *out)
{
    return take_kept(self, (message_type)0, out) || receive(self, timeout_ms, out);
}

void client_expect(client *self, message_type type, message *out)
{
    if (take_kept(self, type, out))
        return;
    for (;;) {
        MUST(receive(self, PATIENCE_MS, out));
        if (out->type == type)
            return;
        MUST(self->kept_count < KEPT_MAX);
        self->kept[self->kept_count++] = *out;
    }
}

void client_hello(client *self, const char *name, int64_t slots)
{
    message m;
    message_init(&m, MSG_HELLO);
    m.body.hello.protocol = MESSAGE_PROTOCOL;
    m.body.hello.slots = slots;
    message_set_str(&m.body.hello.node, name);
    message_set_str(&m.body.hello.instance, self->instance);
    message_set_str(&m.body.hello.software, "{}");
    m.body.hello.devices = xcalloc(1, sizeof *m.body.hello.devices);
    m.body.hello.devices_count = 1;
    message_set_str(&m.body.hello.devices[0].kind, "fake");
    message_set_str(&m.body.hello.devices[0].uuid, "GPU-fake");
    client_send(self, &m);
}

void client_join(client *self, const char *name, int64_t slots)
{
    message m;
    client_hello(self, name, slots);
    client_expect(self, MSG_WELCOME, &m);
    message_fini(&m);
}

void client_beat(client *self, const char *name)
{
    message m;
    message_init(&m, MSG_BEAT);
    message_set_str(&m.body.beat.node, name);
    message_set_str(&m.body.beat.instance, self->instance);
    client_send(self, &m);
}

void client_pull(client *self, int64_t credit)
{
    message m;
    message_init(&m, MSG_PULL);
    m.body.pull.credit = credit;
    client_send(self, &m);
}

int64_t client_ack(client *self, uint64_t ref)
{
    message m;
    client_expect(self, MSG_ACK, &m);
    MUST(m.body.ack.ref == (int64_t)ref);
    int64_t code = m.body.ack.code;
    message_fini(&m);
    return code;
}

int64_t client_call(client *self, const message *given, const char *stage, int64_t index)
{
    char model[] = "m", provider[] = "mock", stop[] = "ok", reason[] = "none asked for";
    char stage_text[32];
    snprintf(stage_text, sizeof stage_text, "%s", stage);
    const call_record record = {.stage = stage_text,
                                .index = index,
                                .provider = provider,
                                .model = model,
                                .stop = stop,
                                .tokens_in = -1,
                                .tokens_out = -1,
                                .tokens_cache_read = -1,
                                .tokens_cache_write = -1,
                                .cost_usd = 0.25,
                                .latency_ms = 3,
                                .reason = reason};
    message m;
    message_init(&m, MSG_CALL);
    message_set_str(&m.body.call.task, given->body.lease.task);
    m.body.call.token = given->body.lease.token;
    m.body.call.record = call_record_write(&record);
    return client_ack(self, client_send(self, &m));
}

int64_t client_stage(client *self, const message *given, const char *stage)
{
    char status[] = "passed", stage_text[32];
    snprintf(stage_text, sizeof stage_text, "%s", stage);
    const stage_record record = {
        .stage = stage_text, .status = status, .result = OUTCOME_OK, .wall_ms = 1};
    message m;
    message_init(&m, MSG_STAGE);
    message_set_str(&m.body.stage.task, given->body.lease.task);
    m.body.stage.token = given->body.lease.token;
    m.body.stage.record = stage_record_write(&record);
    return client_ack(self, client_send(self, &m));
}

int64_t client_result(client *self, const message *given, const char *name, const char *text)
{
    char reason[] = "not measured", words[240];
    snprintf(words, sizeof words, "%s", text);
    result_record record = {.speedup = (double)NAN,
                            .reason = reason,
                            .candidate_ms = (double)NAN,
                            .ci_low = (double)NAN,
                            .ci_high = (double)NAN,
                            .floor_ms = (double)NAN,
                            .baseline_ms = (double)NAN,
                            .text = words,
                            .wall_ms = 1};
    MUST(outcome_parse(name, &record.result));
    message m;
    message_init(&m, MSG_RESULT);
    message_set_str(&m.body.result.task, given->body.lease.task);
    m.body.result.token = given->body.lease.token;
    m.body.result.record = result_record_write(&record);
    return client_ack(self, client_send(self, &m));
}

int64_t client_give_back(client *self, const message *given, err_code code, const char *text)
{
    message m;
    message_init(&m, MSG_GIVE_BACK);
    message_set_str(&m.body.give_back.task, given->body.lease.task);
    m.body.give_back.token = given->body.lease.token;
    m.body.give_back.code = code;
    message_set_str(&m.body.give_back.text, text);
    return client_ack(self, client_send(self, &m));
}

void client_serve(client *self)
{
    message m;
    for (;;) {
        client_pull(self, 1);
        MUST(client_next(self, PATIENCE_MS, &m));
        bool leave = m.type == MSG_BYE;
        if (m.type == MSG_LEASE)
            MUST(client_result(self, &m, "ok", "") == 0);
        message_fini(&m);
        if (leave)
            return;
    }
}

/* ---- both ---- */
typedef struct actor {
    world *w;
    world_script_fn *script;
} actor;

static void *act(void *arg)
{
    const actor *a = arg;
    SCOPED(client_destroy) client *box = client_create(a->w->coord->endpoint);
    a->script(box, a->w);
    return NULL;
}

coord_end world_play(world *self, world_script_fn *script)
{
    actor a = {.w = self, .script = script};
    pthread_t thread;
    coord_end end = COORD_GOES_ON;
    err e = {0};
    MUST(pthread_create(&thread, NULL, act, &a) == 0);
    if (coord_run(self->coord, &end, &e))
        fprintf(stderr, "%s\n", e.text);
    coord_goodbye(self->coord, "done");
    pthread_join(thread, NULL);
    return end;
}

void world_serve(client *box, world *w)
{
    (void)w;
    client_join(box, "box", 1);
    client_serve(box);
}
