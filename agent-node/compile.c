/* compile - the node's pool of compiler children
 *
 * A slot is a place for one child: DOWN → STARTING → IDLE ⇄ BUSY → DOWN …; a start that fails makes it
 * BROKEN, with the error. One keeper thread starts children, because a child dies with the thread that
 * made it and task threads come and go. Waiting for a slot, and for a start, is one condition.
 *
 * SPDX-License-Identifier: MIT */
#include "agent-node/compile.h"

#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/scoped.h"
#include "common/subproc.h"
#include "common/xalloc.h"
#include "wire/pipe.h"

enum { START_MS = 60000, SOURCE_MAX = 1048576, ARGV_MAX = 128, TRIES = 2 };

typedef enum slot_state { SLOT_DOWN, SLOT_STARTING, SLOT_IDLE, SLOT_BUSY, SLOT_BROKEN } slot_state;

typedef struct slot {
    slot_state state;
    subproc *process;
    int fd;
    int64_t served; /* compiles so far */
    err broken;     /* SLOT_BROKEN */
} slot;

struct compile_pool {
    char *binary, *nvrtc;
    char **library_dirs;
    size_t library_dir_count;
    compile_options options; /* numbers and flags only */
    char version[32];
    hash key;

    pthread_t keeper;
    bool keeping; /* the keeper runs */
    pthread_mutex_t lock;
    pthread_cond_t changed; /* a slot changed state, or stop */
    bool stop;
    slot slots[COMPILE_CHILDREN_MAX];
    size_t slot_count;
};

/* ---- one child ---- */

static void slot_stop(slot *s)
{
    subproc_destroy(&s->process);
    scoped_close(&s->fd);
    s->served = 0;
}

static size_t fill_argv(const compile_pool *p, bool key, char *major, const char **argv)
{
    size_t n = 0;
    const char *first[] = {p->binary, "--fd", "3", "--max-major", major};
    for (size_t i = 0; i < sizeof first / sizeof first[0]; i++)
        argv[n++] = first[i];
    if (p->nvrtc != NULL) {
        argv[n++] = "--nvrtc";
        argv[n++] = p->nvrtc;
    }
    for (size_t i = 0; i < p->library_dir_count && n + 4 < ARGV_MAX; i++) {
        argv[n++] = "--library-dir";
        argv[n++] = p->library_dirs[i];
    }
    if (key)
        argv[n++] = "--key";
    if (p->options.unsafe)
        argv[n++] = "--unsafe-compile";
    argv[n] = NULL;
    return n;
}

/* spawn starts the process; *fd is our end of its socket. */
static subproc *spawn(const compile_pool *p, bool key, int *fd, err *e)
{
    static const char *const empty[] = {NULL};
    const char *argv[ARGV_MAX];
    char major[16];
    int ends[2];
    snprintf(major, sizeof major, "%d", p->options.max_major);
    fill_argv(p, key, major, argv);
    if (pipe_pair(ends, e) != 0)
        return NULL;
    subproc_fd given = {ends[1], 3};
    subproc_options options = {.argv = argv, .env = empty, .fds = &given, .fd_count = 1};
    subproc *process = subproc_start(&options, e);
    close(ends[1]);
    if (process == NULL)
        close(ends[0]);
    else
        *fd = ends[0];
    return process;
}

/* err_of turns a child's not_run back into the err it was. */
static int err_of(const struct msg_compiled *m, err *e)
{
    err_code code = ERR_INTERNAL;
    for (int i = ERR_USAGE; i <= ERR_INTERNAL; i++)
        if (strcmp(m->detail, err_code_name((err_code)i)) == 0)
            code = (err_code)i;
    return err_set(e, code, "ce-compiler: %s", m->text);
}

static int wait_ready(compile_pool *p, bool first, int fd, err *e)
{
    SCOPED(message_fini) message m = {0};
    if (pipe_recv(fd, START_MS, &m, e) != 0)
        return err_wrap(e, "ce-compiler did not start");
    if (m.type != MSG_COMPILED || m.seq != 0)
        return err_set(e, ERR_PROTOCOL, "ce-compiler began with %s", message_name(m.type));
    const struct msg_compiled *ready = &m.body.compiled;
    if (ready->outcome != OUTCOME_OK)
        return err_of(ready, e);
    if (first) {
        snprintf(p->version, sizeof p->version, "%s", ready->nvrtc);
        p->key = ready->code;
    }
    return 0;
}

static int slot_start(compile_pool *p, slot *s, bool first, err *e)
{
    s->fd = -1;
    s->process = spawn(p, first, &s->fd, e);
    if (s->process == NULL)
        return err_wrap(e, "starting ce-compiler");
    if (wait_ready(p, first, s->fd, e) == 0)
        return 0;
    slot_stop(s);
    return -1;
}

/* ---- the keeper ---- */

static slot *find_slot(compile_pool *p, slot_state state)
{
    for (size_t i = 0; i < p->slot_count; i++)
        if (p->slots[i].state == state)
            return &p->slots[i];
    return NULL;
}

static void start_down(compile_pool *p, slot *s)
{
    err why;
    bool first = p->version[0] == '\0';
    s->state = SLOT_STARTING;
    pthread_mutex_unlock(&p->lock);
    slot_stop(s);
    int rc = slot_start(p, s, first, &why);
    pthread_mutex_lock(&p->lock);
    s->state = rc == 0 ? SLOT_IDLE : SLOT_BROKEN;
    if (rc != 0)
        s->broken = why;
    pthread_cond_broadcast(&p->changed);
}

static void *keep(void *arg)
{
    compile_pool *p = arg;
    pthread_mutex_lock(&p->lock);
    while (!p->stop) {
        slot *s = find_slot(p, SLOT_DOWN);
        if (s != NULL)
            start_down(p, s);
        else
            pthread_cond_wait(&p->changed, &p->lock);
    }
    pthread_mutex_unlock(&p->lock);
    /* Children die with this thread; reap them here. */
    for (size_t i = 0; i < p->slot_count; i++)
        slot_stop(&p->slots[i]);
    return NULL;
}

/* ---- taking and giving slots ---- */

/* take_slot waits for an idle child. When every slot is broken it fails, and the next caller tries to
 * start them again. */
static slot *take_slot(compile_pool *p, err *e)
{
    pthread_mutex_lock(&p->lock);
    slot *s = NULL;
    while ((s = find_slot(p, SLOT_IDLE)) == NULL) {
        bool hope = find_slot(p, SLOT_DOWN) != NULL || find_slot(p, SLOT_STARTING) != NULL ||
                    find_slot(p, SLOT_BUSY) != NULL;
        if (!hope) {
            slot *broken = find_slot(p, SLOT_BROKEN);
            if (e != NULL)
                *e = broken->broken;
            broken->state = SLOT_DOWN;
            pthread_cond_broadcast(&p->changed);
            break;
        }
        pthread_cond_wait(&p->changed, &p->lock);
    }
    if (s != NULL)
        s->state = SLOT_BUSY;
    pthread_mutex_unlock(&p->lock);
    return s;
}

static void give_slot(compile_pool *p, slot *s, bool healthy)
{
    pthread_mutex_lock(&p->lock);
    bool used_up = ++s->served >= p->options.restart_after;
    s->state = healthy && !used_up ? SLOT_IDLE : SLOT_DOWN;
    slot *broken = healthy ? find_slot(p, SLOT_BROKEN) : NULL;
    if (broken != NULL)
        broken->state = SLOT_DOWN; /* compiling works: try that one again */
    pthread_cond_broadcast(&p->changed);
    pthread_mutex_unlock(&p->lock);
}

/* ---- create, destroy ---- */

static void copy_options(compile_pool *p, const compile_options *o)
{
    p->options = *o;
    p->binary = xstrdup(o->binary);
    p->nvrtc = o->nvrtc != NULL ? xstrdup(o->nvrtc) : NULL;
    p->library_dirs = xcalloc(o->library_dir_count + 1, sizeof *p->library_dirs);
    p->library_dir_count = o->library_dir_count;
    for (size_t i = 0; i < o->library_dir_count; i++)
        p->library_dirs[i] = xstrdup(o->library_dirs[i]);
    if (p->options.deadline_ms == 0)
        p->options.deadline_ms = COMPILE_DEADLINE_MS;
    if (p->options.restart_after == 0)
        p->options.restart_after = COMPILE_RESTART_AFTER;
    p->slot_count = o->children == 0                     ? 1
                    : o->children > COMPILE_CHILDREN_MAX ? COMPILE_CHILDREN_MAX
                                                         : o->children;
    for (size_t i = 0; i < p->slot_count; i++)
        p->slots[i] = (slot){.state = i == 0 ? SLOT_DOWN : SLOT_STARTING, .fd = -1};
}

/* first_child waits for the first slot; the others start after it, when its facts are known. */
static int first_child(compile_pool *p, err *e)
{
    pthread_mutex_lock(&p->lock);
    while (p->slots[0].state == SLOT_DOWN || p->slots[0].state == SLOT_STARTING)
        pthread_cond_wait(&p->changed, &p->lock);
    bool ready = p->slots[0].state == SLOT_IDLE;
    if (!ready && e != NULL)
        *e = p->slots[0].broken;
    for (size_t i = 1; ready && i < p->slot_count; i++)
        p->slots[i].state = SLOT_DOWN;
    pthread_cond_broadcast(&p->changed);
    pthread_mutex_unlock(&p->lock);
    return ready ? 0 : -1;
}

compile_pool *compile_pool_create(const compile_options *options, err *e)
{
    SCOPED(compile_pool_destroy) compile_pool *self = xcalloc(1, sizeof *self);
    copy_options(self, options);
    pthread_mutex_init(&self->lock, NULL);
    pthread_cond_init(&self->changed, NULL);
    int rc = pthread_create(&self->keeper, NULL, keep, self);
    if (rc != 0) {
        err_errno(e, rc, "starting the compilers' thread");
        return NULL;
    }
    self->keeping = true;
    return first_child(self, e) == 0 ? TAKE(self) : NULL;
}

void compile_pool_destroy(compile_pool **self)
{
    compile_pool *p = *self;
    if (p == NULL)
        return;
    *self = NULL;
    if (p->keeping) {
        pthread_mutex_lock(&p->lock);
        assert(find_slot(p, SLOT_BUSY) == NULL);
        p->stop = true;
        pthread_cond_broadcast(&p->changed);
        pthread_mutex_unlock(&p->lock);
        pthread_join(p->keeper, NULL);
    }
    pthread_cond_destroy(&p->changed);
    pthread_mutex_destroy(&p->lock);
    for (size_t i = 0; i < p->library_dir_count; i++)
        free(p->library_dirs[i]);
    free(p->library_dirs);
    free(p->binary);
    free(p->nvrtc);
    free(p);
}

const char *compile_pool_nvrtc(const compile_pool *self)
{
    return self->version;
}

hash compile_pool_key(const compile_pool *self)
{
    return self->key;
}

/* ---- one compile ---- */

void compile_result_fini(compile_result *self)
{
    free(self->detail);
    free(self->text);
    free(self->log);
    free(self->ptx.data);
    free(self->cubin.data);
    for (size_t i = 0; i < self->kernel_count; i++)
        free(self->kernels[i].name);
    free(self->kernels);
    *self = (compile_result){0};
}

static void limit(compile_result *out, const char *text)
{
    *out = (compile_result){.result = OUTCOME_COMPILE_FAILED,
                            .detail = xstrdup("limit"),
                            .text = xstrdup(text),
                            .log = xstrdup("")};
}

/* move_result takes the message's parts. */
static void move_result(struct msg_compiled *m, compile_result *out)
{
    *out = (compile_result){.result = (outcome)m->outcome,
                            .detail = TAKE(m->detail),
                            .text = TAKE(m->text),
                            .log = TAKE(m->log),
                            .ptx = m->ptx,
                            .cubin = m->cubin,
                            .code = m->code,
                            .compile_ms = (double)m->micros / 1000.0};
    m->ptx = (message_bytes){0};
    m->cubin = (message_bytes){0};
    snprintf(out->nvrtc, sizeof out->nvrtc, "%s", m->nvrtc);
    out->kernels = xcalloc(m->kernels_count + 1, sizeof *out->kernels);
    out->kernel_count = m->kernels_count;
    for (size_t i = 0; i < m->kernels_count; i++)
        out->kernels[i] = (compile_kernel){.name = TAKE(m->kernels[i].name),
                                           .registers = m->kernels[i].registers,
                                           .shared_bytes = m->kernels[i].shared_bytes,
                                           .local_bytes = m->kernels[i].local_bytes};
}

static void fill_job(const compile_request *r, message *job)
{
    message_init(job, MSG_COMPILE);
    job->seq = 1;
    struct msg_compile *m = &job->body.compile;
    message_set_str(&m->arch, r->arch);
    message_set_str(&m->source, r->source);
    m->line_info = r->line_info;
    m->entries = xcalloc(r->entry_count + 1, sizeof *m->entries);
    m->entries_count = r->entry_count;
    for (size_t i = 0; i < r->entry_count; i++)
        message_set_str(&m->entries[i].name, r->entries[i]);
}

/* How a try ended. */
typedef enum try_end {
    TRY_ANSWERED, /* out is filled */
    TRY_DIED,     /* the child is gone */
    TRY_LATE,     /* the deadline passed */
    TRY_FAILED    /* e is filled */
} try_end;

static try_end exchange(const compile_pool *p, slot *s, const message *job, compile_result *out,
                        err *e)
{
    SCOPED(message_fini) message answer = {0};
    err why;
    if (pipe_send(s->fd, job, &why) != 0 ||
        pipe_recv(s->fd, p->options.deadline_ms, &answer, &why) != 0) {
        if (why.code == ERR_TIMEOUT)
            return TRY_LATE;
        if (why.code == ERR_UNAVAILABLE)
            return TRY_DIED;
        if (e != NULL)
            *e = why;
        return TRY_FAILED;
    }
    if (answer.type != MSG_COMPILED || answer.seq != job->seq) {
        err_set(e, ERR_PROTOCOL, "ce-compiler answered with %s", message_name(answer.type));
        return TRY_FAILED;
    }
    if (answer.body.compiled.outcome == OUTCOME_NOT_RUN) {
        err_of(&answer.body.compiled, e);
        return TRY_FAILED;
    }
    move_result(&answer.body.compiled, out);
    return TRY_ANSWERED;
}

/* death says how the child ended. */
static void death(slot *s, char *out, size_t size)
{
    int status = 0;
    char how[64] = "died";
    if (subproc_wait(s->process, 1000, &status, NULL) == 0)
        subproc_status_text(status, how, sizeof how);
    snprintf(out, size, "the compiler %s over this source", how);
}

static try_end try_once(compile_pool *p, const message *job, compile_result *out, char *died,
                        size_t died_size, err *e)
{
    slot *s = take_slot(p, e);
    if (s == NULL)
        return TRY_FAILED;
    try_end end = exchange(p, s, job, out, e);
    if (end == TRY_DIED)
        death(s, died, died_size);
    give_slot(p, s, end == TRY_ANSWERED);
    return end;
}

int compile_pool_run(compile_pool *self, const compile_request *request, compile_result *out,
                     err *e)
{
    if (strlen(request->source) > SOURCE_MAX) {
        limit(out, "the source is longer than 1 MiB");
        return 0;
    }
    SCOPED(message_fini) message job;
    fill_job(request, &job);
    char text[160];
    for (int i = 0; i < TRIES; i++) {
        try_end end = try_once(self, &job, out, text, sizeof text, e);
        if (end == TRY_ANSWERED)
            return 0;
        if (end == TRY_FAILED)
            return -1;
        if (end == TRY_LATE) {
            snprintf(text, sizeof text, "compiling took longer than %lld s",
                     (long long)(self->options.deadline_ms + 999) / 1000);
            break;
        }
    }
    limit(out, text);
    return 0;
}
