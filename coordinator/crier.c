/* crier - a queue, a thread, a child
 *
 * SPDX-License-Identifier: MIT */
#include "coordinator/crier.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/json.h"
#include "common/log.h"
#include "common/queue.h"
#include "common/scoped.h"
#include "common/str.h"
#include "common/subproc.h"
#include "common/xalloc.h"

enum { PASSED_MAX = 56, FACTS = 6, ENV_MAX = PASSED_MAX + FACTS + 1, STATUS_MAX = 64 };

/* A copy of what was told. */
typedef struct told {
    crier_event event;
    char *run, *state, *text;
    int code;
} told;

struct crier {
    char *command, *db;
    char *passed[PASSED_MAX + 1]; /* of the environment */
    pthread_t thread;
    queue *waiting; /* of told */
};

const char *crier_event_name(crier_event event)
{
    static const char *const names[] = {[CRIER_FINISH] = "finish",
                                        [CRIER_BUDGET] = "budget",
                                        [CRIER_GATE] = "gate",
                                        [CRIER_DEAD_MAN] = "dead_man"};
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

/* ---- the command ---- */
static bool passes(const char *entry)
{
    static const char *const wanted[] = {
        "PATH=", "HOME=", "USER=", "LOGNAME=", "LANG=", "LC_ALL=", "TZ=", "TMPDIR=", "CE_HOOK_"};
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
        if (str_starts(entry, wanted[i]))
            return true;
    }
    return false;
}

/* The facts first, then what is passed on; env has ENV_MAX places, `facts` are freed by the caller. */
static void fill_env(const crier *self, const told *word, char *facts[FACTS],
                     const char *env[ENV_MAX])
{
    size_t count = 0;
    facts[0] = xasprintf("CE_EVENT=%s", crier_event_name(word->event));
    facts[1] = xasprintf("CE_RUN=%s", word->run);
    facts[2] = xasprintf("CE_STATE=%s", word->state);
    facts[3] = xasprintf("CE_CODE=%d", word->code);
    facts[4] = xasprintf("CE_TEXT=%s", word->text);
    facts[5] = xasprintf("CE_DB=%s", self->db);
    while (count < FACTS) {
        env[count] = facts[count];
        count++;
    }
    for (size_t i = 0; self->passed[i]; i++)
        env[count++] = self->passed[i];
    env[count] = NULL;
}

static void set_text(json *out, const char *key, const char *text)
{
    json_set_str(out, key, *text ? text : NULL);
}

static char *facts_json(const crier *self, const told *word)
{
    SCOPED(json_destroy) json *out = json_new_object();
    json_set_str(out, "event", crier_event_name(word->event));
    set_text(out, "run", word->run);
    set_text(out, "state", word->state);
    json_set_int(out, "code", word->code);
    set_text(out, "text", word->text);
    json_set_str(out, "db", self->db);
    return json_dump(out);
}

/* A file in memory: the command may read it or not, and nobody waits for that. */
static int open_facts(const crier *self, const told *word, err *e)
{
    SCOPED(scoped_free) char *text = facts_json(self, word);
    SCOPED(scoped_close) int fd = memfd_create("ce-hook", MFD_CLOEXEC);
    size_t size = strlen(text);
    if (fd < 0 || write(fd, text, size) != (ssize_t)size || write(fd, "\n", 1) != 1 ||
        lseek(fd, 0, SEEK_SET) < 0)
        return err_errno(e, errno, "hand facts over");
    int given = fd;
    fd = -1;
    return given;
}

static int run_command(const crier *self, const told *word, const char *const *env, err *e)
{
    SCOPED(scoped_close) int facts = open_facts(self, word, e);
    if (facts < 0)
        return -1;
    const char *const argv[] = {"/bin/sh", "-c", self->command, NULL};
    const subproc_fd fds[] = {{.parent = facts, .child = STDIN_FILENO},
                              {.parent = STDERR_FILENO, .child = STDOUT_FILENO}};
    const subproc_options how = {.argv = argv, .env = env, .fds = fds, .fd_count = 2};
    SCOPED(subproc_destroy) subproc *child = subproc_start(&how, e);
    int status = 0;
    if (!child || subproc_wait(child, CRIER_PATIENCE_MS, &status, e))
        return -1;
    char text[STATUS_MAX];
    subproc_status_text(status, text, sizeof text);
    return status == 0 ? 0 : err_set(e, ERR_SYSTEM, "%s %s", self->command, text);
}

static void handle(const crier *self, const told *word)
{
    char *facts[FACTS];
    const char *env[ENV_MAX];
    err e = {0};
    fill_env(self, word, facts, env);
    if (run_command(self, word, env, &e))
        log_err(LOG_WARN, "hook", &e, "the hook for %s failed", crier_event_name(word->event));
    for (size_t i = 0; i < FACTS; i++)
        free(facts[i]);
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
    for (size_t i = 0; self->passed[i]; i++)
        free(self->passed[i]);
    free(self->command);
    free(self->db);
    free(self);
}

crier *crier_create(const crier_options *options, err *e)
{
    crier *self = xcalloc(1, sizeof *self);
    size_t count = 0;
    self->command = xstrdup(options->command);
    self->db = xstrdup(options->db);
    for (const char *const *at = options->environment; at && *at && count < PASSED_MAX; at++) {
        if (passes(*at))
            self->passed[count++] = xstrdup(*at);
    }
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
