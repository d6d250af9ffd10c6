/* hall - a serving coordinator in a thread, with a store of its own
 *
 * SPDX-License-Identifier: MIT */
#include "hall.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "common/file.h"
#include "common/scoped.h"
#include "common/xalloc.h"

enum { HELLO_MS = 1000 };

static int leaving = -1; /* eventfd: one hall at a time */

static void on_leaving(void *arg)
{
    service_stop(arg);
}

static void *serve(void *arg)
{
    hall *self = arg;
    err e = {0};
    self->rc = service_run(self->service, &e);
    return NULL;
}

void hall_start(hall *self)
{
    err e = {0};
    const service_options how = {.store = self->store,
                                 .endpoint = self->endpoint,
                                 .out = self->out,
                                 .version = "0",
                                 .lost_ms = 15000};
    self->service = service_create(&how, &e);
    MUST(self->service != NULL);
    leaving = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    loop_add_fd(service_coord(self->service)->events, leaving, on_leaving, self->service);
    MUST(pthread_create(&self->thread, NULL, serve, self) == 0);
    self->begun = true;
}

void hall_stop(hall *self)
{
    if (!self->begun)
        return;
    MUST(eventfd_write(leaving, 1) == 0);
    pthread_join(self->thread, NULL);
    coord_goodbye(service_coord(self->service), "done");
    if (self->working)
        pthread_join(self->worker, NULL);
    service_destroy(&self->service);
    close(leaving);
    self->begun = self->working = false;
}

hall *hall_create(void)
{
    hall *self = xcalloc(1, sizeof *self);
    snprintf(self->folder, sizeof self->folder, "/tmp/ce-hall-XXXXXX");
    MUST(mkdtemp(self->folder) != NULL);
    self->db = file_join(self->folder, "ce.db");
    self->out = file_join(self->folder, "out");
    self->endpoint = xasprintf("ipc://%s/s", self->folder);
    self->store = store_open(self->db, STORE_OWN, NULL);
    MUST(self->store != NULL);
    hall_start(self);
    return self;
}

void hall_destroy(hall **self)
{
    if (!*self)
        return;
    hall_stop(*self);
    store_destroy(&(*self)->store);
    file_remove_tree((*self)->folder, NULL);
    free((*self)->db);
    free((*self)->out);
    free((*self)->endpoint);
    free(*self);
    *self = NULL;
}

static void *work(void *arg)
{
    const hall *self = arg;
    SCOPED(client_destroy) client *box = client_create(self->endpoint);
    message m;
    do { /* while a run is being read nobody is let in: as a node does, it says so again */
        client_hello(box, "box", 2);
    } while (!client_next(box, HELLO_MS, &m));
    MUST(m.type == MSG_WELCOME);
    message_fini(&m);
    client_pull(box, 2);
    client_serve(box);
    return NULL;
}

void hall_work(hall *self)
{
    MUST(pthread_create(&self->worker, NULL, work, self) == 0);
    self->working = true;
}

void hall_settings(settings *out)
{
    const world_options options = {.only = "silu_fp16"};
    world_settings(&options, out);
}

char *hall_submit(remote *to)
{
    message m, reply;
    err e = {0};
    SCOPED(settings_fini) settings wanted = {.suites = NULL};
    hall_settings(&wanted);
    SCOPED(scoped_free) char *text = settings_write(&wanted);
    message_init(&m, MSG_SUBMIT);
    message_set_str(&m.body.submit.settings, text);
    message_set_str(&m.body.submit.command, "test");
    MUST(remote_ask(to, &m, MSG_SUBMITTED, &reply, &e) == 0);
    char *id = xstrdup(reply.body.submitted.run);
    message_fini(&reply);
    return id;
}

bool hall_over(remote *to, const char *id, message *reply)
{
    message m;
    message_init(&m, MSG_RUN_GET);
    message_set_str(&m.body.run_get.run, id);
    MUST(remote_ask(to, &m, MSG_RUN_STATE, reply, NULL) == 0);
    if (reply->body.run_state.over)
        return true;
    message_fini(reply);
    return false;
}
