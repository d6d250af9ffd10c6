/* ledger - one task's account with the coordinator
 *
 * SPDX-License-Identifier: MIT */
#include "agent-node/ledger.h"

#include <stdlib.h>
#include <string.h>

#include "common/log.h"
#include "common/scoped.h"
#include "common/xalloc.h"

int ledger_check(const ledger *self, err *e)
{
    return atomic_load(self->cancelled)
               ? err_set(e, ERR_CONFLICT, "task %s was cancelled", self->task)
               : 0;
}

int ledger_begin(const ledger *self, err *e)
{
    if (ledger_check(self, e) != 0) {
        return -1;
    }
    return self->leaving != NULL && atomic_load(self->leaving)
               ? err_set(e, ERR_UNAVAILABLE, "the node is being drained")
               : 0;
}

/* What cannot be written down is still sent: a full disk here costs no task. */
static void write_down(const ledger *self, const message *m)
{
    err e = {0};
    if (self->spool != NULL && spool_add(self->spool, m, &e) != 0) {
        log_err(LOG_WARN, "spool", &e, "task %s goes on without", self->task);
    }
}

/* The newest record was answered, or it never will be here. */
static int answered(const ledger *self, int rc, const err *why)
{
    bool open = self->stage != NULL || (rc != 0 && why->code == ERR_UNAVAILABLE);
    if (self->spool != NULL && !open) {
        spool_answered(self->spool);
    }
    return rc;
}

int ledger_put(const ledger *self, const void *data, size_t size, hash *out, err *e)
{
    if (blob_store_put(self->blobs, data, size, out, e) != 0) {
        return -1;
    }
    for (int64_t offset = self->session != NULL ? 0 : -1; offset >= 0;) {
        message m;
        message_init(&m, MSG_BLOB_PUT);
        offset = blob_put_chunk(&m, out, data, size, offset);
        write_down(self, &m);
        if (session_post(self->session, &m, e) != 0) {
            return -1;
        }
    }
    return 0;
}

int ledger_put_text(const ledger *self, const char *text, hash *out, err *e)
{
    return ledger_put(self, text, strlen(text), out, e);
}

static int fetch(const ledger *self, const hash *name, err *e)
{
    SCOPED(blob_in_destroy) blob_in *in = blob_in_create(name);
    for (int state = 0; state == 0;) {
        SCOPED(message_fini) message reply = {0};
        message ask;
        message_init(&ask, MSG_BLOB_GET);
        ask.body.blob_get.blob = *name;
        ask.body.blob_get.offset = blob_in_next(in);
        if (session_call(self->session, &ask, &reply, e) != 0) {
            return -1;
        }
        const struct msg_blob_data *chunk = &reply.body.blob_data;
        if (!chunk->found) {
            char hex[HASH_HEX];
            hash_hex(name, hex);
            return err_set(e, ERR_NOT_FOUND, "the coordinator has no blob %.12s", hex);
        }
        state = blob_in_add(in, chunk->offset, chunk->total, &chunk->data, e);
        if (state < 0) {
            return -1;
        }
    }
    message_bytes bytes = blob_in_take(in);
    int rc = blob_store_put(self->blobs, bytes.data, bytes.size, NULL, e);
    free(bytes.data);
    return rc;
}

int ledger_get(const ledger *self, const hash *name, buf *out, err *e)
{
    if (!blob_store_has(self->blobs, name) && fetch(self, name, e) != 0) {
        return -1;
    }
    return blob_store_get(self->blobs, name, out, e);
}

char *ledger_get_text(const ledger *self, const hash *name, err *e)
{
    SCOPED(buf_fini) buf text;
    buf_init(&text, BLOB_MAX);
    if (ledger_get(self, name, &text, e) != 0) {
        return NULL;
    }
    return buf_take(&text);
}

void ledger_progress(const ledger *self, const char *stage)
{
    message m;
    message_init(&m, MSG_PROGRESS);
    message_set_str(&m.body.progress.task, self->task);
    m.body.progress.token = self->token;
    message_set_str(&m.body.progress.stage, stage);
    session_post(self->session, &m, NULL);
}

/* Sends a message that is answered by an ack; consumes it. */
static int commit(const ledger *self, message *m, err *e)
{
    SCOPED(message_fini) message reply = {0};
    err why = {0};
    write_down(self, m);
    int rc = answered(self, session_call(self->session, m, &reply, &why), &why);
    if (rc != 0 && e != NULL) {
        *e = why;
    }
    return rc;
}

int ledger_reserve(const ledger *self, const ledger_offer *offer, int64_t *wait_ms, bool *patient,
                   err *e)
{
    SCOPED(message_fini) message reply = {0};
    message m;
    message_init(&m, MSG_RESERVE);
    struct msg_reserve *body = &m.body.reserve;
    message_set_str(&body->task, self->task);
    body->token = self->token;
    message_set_str(&body->stage, offer->call.stage);
    body->index = offer->call.index;
    message_set_str(&body->provider, offer->provider);
    message_set_str(&body->model, offer->model);
    body->prompt_bytes = offer->prompt_bytes;
    body->output_max = offer->output_max;
    if (session_call(self->session, &m, &reply, e) != 0) {
        return -1;
    }
    *wait_ms = reply.body.grant.wait_ms;
    *patient = reply.body.grant.patient;
    return 0;
}

int ledger_settle(const ledger *self, const ledger_failure *how, err *e)
{
    message m;
    message_init(&m, MSG_SETTLE);
    struct msg_settle *body = &m.body.settle;
    message_set_str(&body->task, self->task);
    body->token = self->token;
    message_set_str(&body->stage, how->call.stage);
    body->index = how->call.index;
    message_set_str(&body->provider, how->provider);
    message_set_str(&body->model, how->model);
    body->attempts = how->attempts;
    body->unknown_bills = how->unknown_bills;
    body->terminal = how->terminal;
    body->hold_ms = how->hold_ms;
    body->throttled = how->throttled;
    message_cut_str(&body->text, how->text, ERR_TEXT_MAX);
    return commit(self, &m, e);
}

void ledger_fini(ledger *self)
{
    session_forget(&self->stage);
    spool_destroy(&self->spool);
}

/* Waits for the stage record under way, if there is one. */
static int settle(ledger *self, err *e)
{
    SCOPED(message_fini) message reply = {0};
    err why = {0};
    if (self->stage == NULL || session_await(&self->stage, &reply, &why) == 0) {
        return 0;
    }
    if (e != NULL) {
        *e = why;
    }
    return answered(self, -1, &why);
}

int ledger_call(ledger *self, const call_record *record, err *e)
{
    SCOPED(message_fini) message reply = {0};
    message m;
    message_init(&m, MSG_CALL);
    message_set_str(&m.body.call.task, self->task);
    m.body.call.token = self->token;
    m.body.call.record = call_record_write(record);
    write_down(self, &m);
    /* The answer is on its way while the stage record before it is waited for. */
    session_ticket *ticket = session_ask(self->session, &m, e);
    if (ticket == NULL) {
        return -1;
    }
    if (settle(self, e) != 0) {
        session_forget(&ticket);
        return -1;
    }
    err why = {0};
    int rc = answered(self, session_await(&ticket, &reply, &why), &why);
    if (rc != 0 && e != NULL) {
        *e = why;
    }
    return rc;
}

int ledger_stage(ledger *self, const stage_record *record, err *e)
{
    message m;
    message_init(&m, MSG_STAGE);
    message_set_str(&m.body.stage.task, self->task);
    m.body.stage.token = self->token;
    m.body.stage.record = stage_record_write(record);
    if (settle(self, e) != 0) {
        message_fini(&m);
        return -1;
    }
    write_down(self, &m);
    self->stage = session_ask(self->session, &m, e);
    return self->stage != NULL ? 0 : -1;
}

int ledger_result(ledger *self, const result_record *record, err *e)
{
    message m;
    message_init(&m, MSG_RESULT);
    message_set_str(&m.body.result.task, self->task);
    m.body.result.token = self->token;
    m.body.result.record = result_record_write(record);
    if (settle(self, e) != 0) { /* a result stands only on stages that are committed */
        message_fini(&m);
        return -1;
    }
    return commit(self, &m, e);
}

int ledger_give_back(ledger *self, const err *why, err *e)
{
    message m;
    settle(self, NULL); /* what the next holder need not repeat */
    message_init(&m, MSG_GIVE_BACK);
    message_set_str(&m.body.give_back.task, self->task);
    m.body.give_back.token = self->token;
    m.body.give_back.code = why->code;
    m.body.give_back.domain = why->domain;
    m.body.give_back.native = why->native;
    m.body.give_back.retry = why->retry;
    m.body.give_back.leaving = self->leaving != NULL && atomic_load(self->leaving);
    message_cut_str(&m.body.give_back.text, why->text, ERR_TEXT_MAX);
    return commit(self, &m, e);
}

int ledger_baseline_get(const ledger *self, const hash *key, bool *found, baseline_record *out,
                        err *e)
{
    SCOPED(message_fini) message reply = {0};
    char hex[HASH_HEX];
    message m;
    hash_hex(key, hex);
    message_init(&m, MSG_BASELINE_GET);
    message_set_str(&m.body.baseline_get.key, hex);
    if (session_call(self->session, &m, &reply, e) != 0) {
        return -1;
    }
    *found = reply.body.baseline.found;
    const char *record = reply.body.baseline.record;
    return *found ? baseline_record_read(record, strlen(record), out, e) : 0;
}

int ledger_baseline_put(const ledger *self, const hash *key, const baseline_record *record, err *e)
{
    char hex[HASH_HEX];
    message m;
    hash_hex(key, hex);
    message_init(&m, MSG_BASELINE_PUT);
    message_set_str(&m.body.baseline_put.key, hex);
    m.body.baseline_put.record = baseline_record_write(record);
    return commit(self, &m, e);
}
