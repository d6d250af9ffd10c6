/* serve - see serve.h.
 *
 * SPDX-License-Identifier: MIT */
#include "agent-node/runner/serve.h"

#include <stdbool.h>

#include "agent-node/runner/phases.h"
#include "common/scoped.h"
#include "common/xalloc.h"
#include "wire/message.h"
#include "wire/pipe.h"

typedef struct server {
    int fd;
    gpu *device;
    phases *phases;
    bool over; /* a verdict other than ok was told */
} server;

static int say_hello(const server *s, err *e)
{
    const gpu_facts *f = &s->device->facts;
    SCOPED(message_fini) message m;
    message_init(&m, MSG_RUNNER_HELLO);
    struct msg_runner_hello *h = &m.body.runner_hello;
    message_set_str(&h->kind, f->kind);
    message_set_str(&h->name, f->name);
    message_set_str(&h->uuid, f->uuid);
    message_set_str(&h->arch, f->arch);
    h->cc = f->cc;
    h->sm_count = f->sm_count;
    h->l2_bytes = f->l2_bytes;
    h->memory_bytes = f->memory_bytes;
    h->shared_per_block = f->shared_per_block;
    h->threads_per_block = f->threads_per_block;
    h->driver = f->driver;
    return pipe_send(s->fd, &m, e);
}

void serve_failed(int fd, const err *e)
{
    SCOPED(message_fini) message m;
    message_init(&m, MSG_RUNNER_FAILED);
    struct msg_runner_failed *f = &m.body.runner_failed;
    f->code = e->code;
    f->domain = e->domain;
    f->native = e->native;
    message_cut_str(&f->text, e->text, ERR_TEXT_MAX - 1);
    pipe_send(fd, &m, NULL);
}

static int tell_launching(void *arg, bool candidate, int64_t deadline_ms, err *e)
{
    const server *s = arg;
    SCOPED(message_fini) message m;
    message_init(&m, MSG_RUNNER_LAUNCHING);
    m.body.runner_launching.candidate = candidate;
    m.body.runner_launching.deadline_ms = deadline_ms;
    return pipe_send(s->fd, &m, e);
}

/* modelled: JSON or NULL. */
static int tell_done(server *s, const runner_verdict *v, const char *modelled, err *e)
{
    SCOPED(message_fini) message m;
    message_init(&m, MSG_RUNNER_DONE);
    struct msg_runner_done *d = &m.body.runner_done;
    d->outcome = v->result;
    message_cut_str(&d->detail, v->detail, sizeof v->detail - 1);
    message_cut_str(&d->text, v->text, sizeof v->text - 1);
    d->elapsed_us = v->elapsed_us;
    message_set_str(&d->modelled, modelled != NULL ? modelled : "");
    s->over = !verdict_is_ok(v);
    return pipe_send(s->fd, &m, e);
}

static int on_load(server *s, const message *m, err *e)
{
    runner_verdict v;
    if (phases_load(s->phases, &m->body.runner_load, &v, e) < 0)
        return -1;
    return tell_done(s, &v, NULL, e);
}

static int on_check(server *s, const message *m, err *e)
{
    runner_verdict v;
    if (phases_check(s->phases, &m->body.runner_check, &v, e) < 0)
        return -1;
    const gpu_ops *ops = s->device->ops;
    SCOPED(scoped_free) char *modelled = ops->modelled != NULL ? ops->modelled(s->device) : NULL;
    return tell_done(s, &v, modelled, e);
}

static void list_kept(const server *s, struct msg_runner_timed *t)
{
    const size_t *slots = phases_kept_slots(s->phases, &t->kept_count);
    t->kept = xcalloc(t->kept_count + 1, sizeof *t->kept);
    for (size_t i = 0; i < t->kept_count; i++)
        t->kept[i].slot = (int64_t)slots[i];
}

static int tell_timed(server *s, const runner_verdict *v, const gpu_timing *timing, err *e)
{
    SCOPED(message_fini) message answer;
    message_init(&answer, MSG_RUNNER_TIMED);
    struct msg_runner_timed *t = &answer.body.runner_timed;
    t->outcome = v->result;
    message_cut_str(&t->detail, v->detail, sizeof v->detail - 1);
    message_cut_str(&t->text, v->text, sizeof v->text - 1);
    s->over = !verdict_is_ok(v);
    if (!s->over) {
        message_set_bytes(&t->samples, timing->samples,
                          timing->sample_count * sizeof *timing->samples);
        t->event_floor_ms = timing->event_floor_ms;
        t->warmup_calls = timing->warmup_calls;
        t->host_ms = timing->host_ms;
        t->event_ms = timing->event_ms;
        t->voided = timing->voided;
        t->suspect = timing->suspect;
        list_kept(s, t);
    }
    return pipe_send(s->fd, &answer, e);
}

static int on_arm(server *s, const message *m, err *e)
{
    runner_verdict v;
    gpu_timing timing = {0};
    if (phases_arm(s->phases, &m->body.runner_arm, &timing, &v, e) < 0)
        return -1;
    return tell_timed(s, &v, &timing, e);
}

static int on_block(server *s, const message *m, err *e)
{
    runner_verdict v;
    const struct msg_runner_block *request = &m->body.runner_block;
    SCOPED(scoped_free) double *samples = xcalloc((size_t)request->samples, sizeof *samples);
    gpu_timing timing = {.samples = samples};
    if (phases_block(s->phases, request, &timing, &v, e) < 0)
        return -1;
    return tell_timed(s, &v, &timing, e);
}

static int on_kept(server *s, const message *m, err *e)
{
    runner_verdict v;
    if (phases_kept(s->phases, &m->body.runner_kept, &v, e) < 0)
        return -1;
    return tell_done(s, &v, NULL, e);
}

static int on_profile(server *s, const message *m, err *e)
{
    SCOPED(scoped_free) char *profile = phases_profile(s->phases, &m->body.runner_profile, e);
    if (profile == NULL)
        return -1;
    SCOPED(message_fini) message answer;
    message_init(&answer, MSG_RUNNER_PROFILED);
    message_set_str(&answer.body.runner_profiled.profile, profile);
    return pipe_send(s->fd, &answer, e);
}

static int on_disarm(server *s, const message *m, err *e)
{
    runner_verdict v;
    if (phases_disarm(s->phases, &m->body.runner_disarm, &v, e) < 0)
        return -1;
    return tell_done(s, &v, NULL, e);
}

typedef struct handler {
    message_type type;
    int (*handle)(server *s, const message *m, err *e);
} handler;

static const handler handlers[] = {
    {MSG_RUNNER_LOAD, on_load},       {MSG_RUNNER_CHECK, on_check}, {MSG_RUNNER_ARM, on_arm},
    {MSG_RUNNER_BLOCK, on_block},     {MSG_RUNNER_KEPT, on_kept},   {MSG_RUNNER_DISARM, on_disarm},
    {MSG_RUNNER_PROFILE, on_profile},
};

static int dispatch(server *s, const message *m, err *e)
{
    for (size_t i = 0; i < sizeof handlers / sizeof *handlers; i++)
        if (handlers[i].type == m->type)
            return handlers[i].handle(s, m, e);
    return err_set(e, ERR_PROTOCOL, "a runner does not take the message %s", message_name(m->type));
}

static int serve_one(server *s, bool *closed, err *e)
{
    SCOPED(message_fini) message m = {0};
    if (pipe_recv(s->fd, -1, &m, e) < 0) {
        *closed = e->code == ERR_UNAVAILABLE;
        return *closed ? 0 : -1;
    }
    return dispatch(s, &m, e);
}

static int serve_all(server *s, err *e)
{
    bool closed = false;
    if (say_hello(s, e) < 0)
        return -1;
    while (!closed && !s->over)
        if (serve_one(s, &closed, e) < 0) {
            serve_failed(s->fd, e);
            return -1;
        }
    return 0;
}

int serve_run(int fd, gpu *device, err *e)
{
    server s = {.fd = fd, .device = device};
    s.phases = phases_create(device, tell_launching, &s);
    int rc = serve_all(&s, e);
    phases_destroy(&s.phases);
    return rc;
}
