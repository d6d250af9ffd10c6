/* remote - a DEALER, and patience
 *
 * SPDX-License-Identifier: MIT */
#include "coordinator/remote.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/scoped.h"
#include "common/str.h"
#include "common/xalloc.h"
#include "wire/sock.h"

enum { STEP_MS = 50 };

struct remote {
    char *uri;
    sock_ctx *context;
    sock *dealer;
    uint64_t seq;
};

/* A local socket that nobody serves would be waited for in vain. */
static int check_local(const char *uri, err *e)
{
    const char *path = str_starts(uri, "ipc://") ? uri + strlen("ipc://") : NULL;
    if (!path || access(path, F_OK) == 0)
        return 0;
    return err_set(e, ERR_NOT_FOUND,
                   "no coordinator serves here (%s is not there): start `ce-coord serve`, or name "
                   "one with --coordinator URI",
                   path);
}

remote *remote_open(const char *uri, const char *key, err *e)
{
    SCOPED(remote_destroy) remote *self = xcalloc(1, sizeof *self);
    curve_file ours;
    if (check_local(uri, e) || (key && curve_load(key, &ours, e)))
        return NULL;
    self->uri = xstrdup(uri);
    self->context = sock_ctx_create(e);
    if (!self->context)
        return NULL;
    const sock_options how = {.key = key ? &ours : NULL, .linger_ms = 0};
    self->dealer = sock_create(self->context, SOCK_DEALER, &how, e);
    if (key)
        curve_wipe(&ours.pair);
    if (!self->dealer || sock_watch(self->dealer, e) || sock_connect(self->dealer, uri, e))
        return NULL;
    return TAKE(self);
}

void remote_destroy(remote **self)
{
    if (!*self)
        return;
    sock_destroy(&(*self)->dealer);
    sock_ctx_destroy(&(*self)->context);
    free((*self)->uri);
    free(*self);
    *self = NULL;
}

static int check_news(remote *self, err *e)
{
    for (sock_news news; (news = sock_event(self->dealer)) != SOCK_QUIET;) {
        if (news == SOCK_REFUSED)
            return err_set(e, ERR_DENIED,
                           "%s does not allow this key: `ce-coord keys new NAME --operator` on its "
                           "host makes one that it does",
                           self->uri);
        if (news == SOCK_PLAIN)
            return err_set(
                e, ERR_DENIED,
                "%s wants a key (--key FILE), or takes none: it is plain where this side "
                "is not",
                self->uri);
    }
    return 0;
}

static int silence(const remote *self, err *e)
{
    return err_set(e, ERR_TIMEOUT, "the coordinator at %s did not answer within %d s", self->uri,
                   REMOTE_ANSWER_MS / 1000);
}

static int send_soon(remote *self, const message *m, int64_t until, err *e)
{
    for (;;) {
        err why = {0};
        if (sock_send(self->dealer, NULL, m, &why) == 0)
            return 0;
        if (!why.retry) {
            *e = why;
            return -1;
        }
        if (check_news(self, e))
            return -1;
        if (clock_mono_ms() > until)
            return silence(self, e);
        sock_wait(self->dealer, STEP_MS);
    }
}

/* Which question a message answers; 0: none. */
static int64_t ref_of(const message *m)
{
    static const struct {
        message_type type;
        size_t at;
    } refs[] = {{MSG_ACK, offsetof(message, body.ack.ref)},
                {MSG_SUBMITTED, offsetof(message, body.submitted.ref)},
                {MSG_RUN_STATE, offsetof(message, body.run_state.ref)},
                {MSG_FILE_DATA, offsetof(message, body.file_data.ref)},
                {MSG_FLEET, offsetof(message, body.fleet.ref)}};
    int64_t ref = 0;
    for (size_t i = 0; i < sizeof refs / sizeof refs[0]; i++) {
        if (refs[i].type == m->type)
            memcpy(&ref, (const char *)m + refs[i].at, sizeof ref);
    }
    return ref;
}

static int receive(remote *self, message *out, int64_t until, err *e)
{
    for (;;) {
        int got = sock_recv(self->dealer, NULL, out, e);
        if (got < 0)
            return -1;
        if (got > 0 && ref_of(out) == (int64_t)self->seq)
            return 0;
        if (got > 0)
            message_fini(out); /* of a question that was given up */
        if (check_news(self, e))
            return -1;
        if (clock_mono_ms() > until)
            return silence(self, e);
        if (got == 0)
            sock_wait(self->dealer, STEP_MS);
    }
}

int remote_ask(remote *self, message *m, message_type wanted, message *reply, err *e)
{
    message got;
    int64_t until = clock_mono_ms() + REMOTE_ANSWER_MS;
    m->seq = ++self->seq;
    int rc = send_soon(self, m, until, e);
    message_fini(m);
    if (rc || receive(self, &got, until, e))
        return -1;
    if (got.type == wanted && (wanted != MSG_ACK || got.body.ack.code == ERR_NONE)) {
        *reply = got;
        return 0;
    }
    if (got.type == MSG_ACK && got.body.ack.code != ERR_NONE)
        err_set(e, (err_code)got.body.ack.code, "%s", got.body.ack.text);
    else
        err_set(e, ERR_PROTOCOL, "%s answered with %s", self->uri, message_name(got.type));
    message_fini(&got);
    return -1;
}

int remote_tell(remote *self, message *m, err *e)
{
    SCOPED(message_fini) message reply = {0};
    return remote_ask(self, m, MSG_ACK, &reply, e);
}

char *remote_default(const char *db)
{
    return xasprintf("ipc://%s.sock", db);
}
