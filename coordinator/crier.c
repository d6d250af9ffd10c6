/* crier - a queue and a thread
 *
 * SPDX-License-Identifier: MIT */
#include "coordinator/crier.h"

#include <pthread.h>
#include <stdlib.h>

#include "common/json.h"
#include "common/log.h"
#include "common/queue.h"
#include "common/scoped.h"
#include "common/xalloc.h"
#include "coordinator/hook.h"

/* A copy of what was told. */
typedef struct told {
    crier_event event;
    char *run, *state, *text;
    int code;
} told;

struct crier {
    char *command, *db;
    const char *const *environment; /* borrowed */
    pthread_t thread;
    queue *waiting; /* of told */
};

const char *crier_event_name(crier_event event)
{
    static const char *const names[] = {[CRIER_FINISH] = "finish",
                                        [CRIER_BUDGET] = "budget",
                                        [CRIER_DEAD_MAN] = "dead_man",
                                        [CRIER_GATE] = "gate"};
    return names[event];
}

static void told_free(void *arg)
{
    told *self = arg;
    free(self->run);
    free(self->state);
    free(self->text);
    free(self);
}

static const char *or_null(const char *text)
{
    return text[0] != '\0' ? text : NULL;
}

static json *document_of(const crier *self, const told *word)
{
    json *out = json_new_object();
    json_set_str(out, "event", crier_event_name(word->event));
    json_set_str(out, "message", or_null(word->text));
    json_set_str(out, "run", or_null(word->run));
    json_set_str(out, "state", or_null(word->state));
    json_set_int(out, "code", word->code);
    json_set_str(out, "db", self->db);
    return out;
}

static void handle(const crier *self, const told *word)
{
    err e = {0};
    SCOPED(json_destroy) json *document = document_of(self, word);
    SCOPED(scoped_free) char *run = xasprintf("CE_RUN=%s", word->run);
    SCOPED(scoped_free) char *state = xasprintf("CE_STATE=%s", word->state);
    SCOPED(scoped_free) char *code = xasprintf("CE_CODE=%d", word->code);
    SCOPED(scoped_free) char *db = xasprintf("CE_DB=%s", self->db);
    const char *const more[] = {run, state, code, db, NULL};
    const char *const argv[] = {"/bin/sh", "-c", self->command, NULL};
    const hook_event event = {.name = crier_event_name(word->event),
                              .message = word->text,
                              .document = document,
                              .more = more};
    if (hook_call(argv, self->environment, &event, &e) != 0)
        log_err(LOG_WARN, "hook", &e, "the hook for %s failed: %s", event.name, self->command);
}

/* ---- the thread ---- */
static void *work(void *arg)
{
    crier *self = arg;
    for (told *word; (word = queue_pop(self->waiting, -1)) != NULL;) {
        handle(self, word);
        told_free(word);
    }
    return NULL;
}

static void crier_free(crier *self)
{
    queue_destroy(&self->waiting);
    free(self->command);
    free(self->db);
    free(self);
}

crier *crier_create(const crier_options *options, err *e)
{
    crier *self = xcalloc(1, sizeof *self);
    self->command = xstrdup(options->command);
    self->db = xstrdup(options->db);
    self->environment = options->environment;
    self->waiting = queue_create(CRIER_QUEUE, told_free);
    if (pthread_create(&self->thread, NULL, work, self) == 0)
        return self;
    err_set(e, ERR_SYSTEM, "cannot start a thread");
    crier_free(self);
    return NULL;
}

static char *copy(const char *text)
{
    return xstrdup(text ? text : "");
}

void crier_tell(crier *self, const crier_word *word)
{
    if (!self)
        return;
    err e = {0};
    told *kept = xcalloc(1, sizeof *kept);
    *kept = (told){.event = word->event,
                   .run = copy(word->run),
                   .state = copy(word->state),
                   .text = copy(word->text),
                   .code = word->code};
    if (queue_push(self->waiting, kept, &e) == 0)
        return;
    log_err(LOG_WARN, "hook", &e, "%s is not told", crier_event_name(word->event));
    told_free(kept);
}

void crier_destroy(crier **self)
{
    crier *h = *self;
    if (!h)
        return;
    queue_close(h->waiting);
    pthread_join(h->thread, NULL);
    crier_free(h);
    *self = NULL;
}
