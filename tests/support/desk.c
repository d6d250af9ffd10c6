/* desk - a coordinator by hand: the test itself reads and answers every message
 *
 * SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/support/desk.h"

#include <stdio.h>
#include <stdlib.h>

#include "common/clock.h"
#include "common/file.h"
#include "common/xalloc.h"

struct desk {
    char folder[64];
    char endpoint[96];
    sock_ctx *ctx;
    sock *router;
    peer_id last; /* who sent the last message that was read */
};

desk *desk_create(void)
{
    desk *self = xcalloc(1, sizeof(*self));
    err e = {0};
    snprintf(self->folder, sizeof(self->folder), "/tmp/ce-desk-XXXXXX");
    assert_non_null(mkdtemp(self->folder));
    snprintf(self->endpoint, sizeof(self->endpoint), "ipc://%s/sock", self->folder);
    self->ctx = sock_ctx_create(&e);
    self->router = sock_create(self->ctx, SOCK_ROUTER, &(sock_options){.linger_ms = 1000}, &e);
    if (self->router == NULL || sock_bind(self->router, self->endpoint, &e) != 0) {
        fail_msg("%s", e.text);
    }
    return self;
}

void desk_destroy(desk **self_p)
{
    desk *self = *self_p;
    if (self == NULL) {
        return;
    }
    sock_destroy(&self->router);
    sock_ctx_destroy(&self->ctx);
    file_remove_tree(self->folder, NULL);
    free(self);
    *self_p = NULL;
}

const char *desk_endpoint(const desk *self)
{
    return self->endpoint;
}

const char *desk_folder(const desk *self)
{
    return self->folder;
}

/* Any message; fails after too long a silence. */
static void receive(desk *self, int64_t until, const char *wanted, message *out)
{
    for (;;) {
        err e = {0};
        int rc = sock_recv(self->router, &self->last, out, &e);
        if (rc == 1) {
            return;
        }
        if (rc < 0) {
            fail_msg("the node sent a bad message: %s", e.text);
        }
        int64_t left = until - clock_mono_ms();
        if (left <= 0) {
            fail_msg("no %s came within %d ms", wanted, DESK_PATIENCE_MS);
        }
        sock_wait(self->router, left);
    }
}

void desk_await(desk *self, message_type type, message *out)
{
    int64_t until = clock_mono_ms() + DESK_PATIENCE_MS;
    for (;;) {
        receive(self, until, message_name(type), out);
        if (out->type == type) {
            return;
        }
        message_fini(out);
    }
}

void desk_any(desk *self, message *out)
{
    int64_t until = clock_mono_ms() + DESK_PATIENCE_MS;
    for (;;) {
        receive(self, until, "message", out);
        if (out->type != MSG_BEAT) {
            return;
        }
        message_fini(out);
    }
}

void desk_next(desk *self, message_type type, message *out)
{
    desk_any(self, out);
    if (out->type != type) {
        fail_msg("%s came instead of %s", message_name(out->type), message_name(type));
    }
}

void desk_say(desk *self, message *m)
{
    err e = {0};
    if (sock_send(self->router, &self->last, m, &e) != 0) {
        fail_msg("%s", e.text);
    }
    message_fini(m);
}

void desk_welcome(desk *self, const char *instance, bool fresh)
{
    message m;
    message_init(&m, MSG_WELCOME);
    m.body.welcome.beat_ms = 50;
    m.body.welcome.lost_ms = 15000;
    m.body.welcome.fresh = fresh;
    message_set_str(&m.body.welcome.instance, instance);
    desk_say(self, &m);
}

void desk_refuse(desk *self, err_code code, const char *text)
{
    message m;
    message_init(&m, MSG_REFUSED);
    m.body.refused.protocol = MESSAGE_PROTOCOL;
    m.body.refused.code = code;
    message_set_str(&m.body.refused.text, text);
    desk_say(self, &m);
}

void desk_ack(desk *self, uint64_t ref, err_code code, const char *text)
{
    message m;
    message_init(&m, MSG_ACK);
    m.body.ack.ref = (int64_t)ref;
    m.body.ack.code = code;
    message_set_str(&m.body.ack.text, text);
    desk_say(self, &m);
}

void desk_admit(desk *self, const char *instance)
{
    message hello;
    desk_await(self, MSG_HELLO, &hello);
    message_fini(&hello);
    desk_welcome(self, instance, true);
}
