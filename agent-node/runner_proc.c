/* runner_proc - see runner_proc.h.
 *
 * A request is answered by any number of runner_launching messages and then one answer. The latest
 * runner_launching says whose turn it is: while it is the candidate's, a death by a fault signal is
 * `crashed` and silence past the deadline is `hung`; otherwise both are errors of the harness. So is a
 * SIGKILL that we did not send (the kernel's out-of-memory killer, an operator).
 *
 * The runner's stderr goes to a memory file, so that a chatty driver can neither block the runner nor
 * mix into our log; its last words are quoted when the runner dies.
 *
 * SPDX-License-Identifier: MIT */
#include "agent-node/runner_proc.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent-node/compile.h"
#include "common/file.h"
#include "common/scoped.h"
#include "common/subproc.h"
#include "common/xalloc.h"
#include "wire/message.h"
#include "wire/pipe.h"

enum {
    HELLO_MS = 60000,  /* a context on a busy host can take seconds */
    SETUP_MS = 120000, /* allocate, copy, before the candidate's turn */
    GRACE_MS = 2000,   /* the runner keeps deadlines itself; this is for its answer */
    REAP_MS = 5000,    /* from end of file to exit */
    TOOL_MS = 60000,   /* … of a tool that sums up what it saw */
    LAST_WORDS = 400,
    ENV_MAX = 24
};

struct runner_proc {
    subproc *child;
    int fd;        /* our end of the socket pair */
    int errors;    /* memory file: the child's stderr */
    int said;      /* memory file: a tool's stdout; -1: no tool */
    message hello; /* facts point into it */
    runner_facts facts;
    bool greeted;    /* hello has come */
    bool candidate;  /* whose turn it is */
    bool dead;       /* nothing more can be asked */
    int64_t samples; /* of all blocks since arming */
    char *modelled;  /* JSON of the last check, or NULL */
};

/* ---- start ---- */

/* Everything else of our environment stays out: keys above all. */
static const char *const passed_on[] = {"PATH",
                                        "HOME",
                                        "LD_LIBRARY_PATH",
                                        "CUDA_VISIBLE_DEVICES",
                                        "CUDA_DEVICE_ORDER",
                                        "CUDA_CACHE_PATH",
                                        "ASAN_OPTIONS",
                                        "UBSAN_OPTIONS",
                                        "LSAN_OPTIONS",
                                        "TSAN_OPTIONS",
                                        NULL};

/* Code is loaded before it is needed: a first launch under lazy loading could wait for a kernel that waits
 * for us. */
char **runner_proc_env(void)
{
    char **env = xcalloc(ENV_MAX, sizeof *env);
    size_t n = 0;
    env[n++] = xstrdup("CUDA_MODULE_LOADING=EAGER");
    for (size_t i = 0; passed_on[i] != NULL; i++) {
        const char *value = getenv(passed_on[i]);
        if (value != NULL)
            env[n++] = xasprintf("%s=%s", passed_on[i], value);
    }
    return env;
}

void runner_proc_env_free(char ***env)
{
    for (size_t i = 0; *env != NULL && (*env)[i] != NULL; i++)
        free((*env)[i]);
    free(*env);
    *env = NULL;
}

static char *find_binary(const runner_options *options, err *e)
{
    if (options->binary != NULL)
        return xstrdup(options->binary);
    SCOPED(scoped_free) char *folder = file_self_dir(e);
    return folder == NULL ? NULL : file_join(folder, "ce-runner");
}

static int spawn(runner_proc *p, const runner_options *options, int child_end, err *e)
{
    SCOPED(scoped_free) char *binary = find_binary(options, e);
    if (binary == NULL)
        return -1;
    const char *argv[RUNNER_TOOL_ARGS + 12];
    size_t n = 0;
    for (; options->tool != NULL && options->tool[n] != NULL; n++) {
        assert(n < RUNNER_TOOL_ARGS);
        argv[n] = options->tool[n];
    }
    argv[n++] = binary;
    argv[n++] = "--fd";
    argv[n++] = "3";
    argv[n++] = "--device";
    argv[n++] = options->device;
    if (options->tool != NULL)
        argv[n++] = "--exact";
    if (options->fake_script != NULL) {
        argv[n++] = "--fake";
        argv[n++] = options->fake_script;
    }
    if (options->problem != NULL) {
        argv[n++] = "--problem";
        argv[n++] = options->problem;
    }
    argv[n] = NULL;
    SCOPED(runner_proc_env_free) char **env = runner_proc_env();
    const subproc_fd fds[] = {{p->errors, STDERR_FILENO}, {child_end, 3}, {p->said, STDOUT_FILENO}};
    subproc_options o = {.argv = argv,
                         .env = (const char *const *)env,
                         .fds = fds,
                         .fd_count = p->said >= 0 ? 3 : 2};
    p->child = subproc_start(&o, e);
    return p->child == NULL ? -1 : 0;
}

/* ---- what happened to it ---- */

/* last_words copies the end of the child's stderr as one printable line. */
static void last_words(const runner_proc *p, char out[LAST_WORDS + 1])
{
    struct stat st;
    *out = '\0';
    if (fstat(p->errors, &st) < 0 || st.st_size == 0)
        return;
    off_t from = st.st_size > LAST_WORDS ? st.st_size - LAST_WORDS : 0;
    ssize_t got = pread(p->errors, out, LAST_WORDS, from);
    out[got > 0 ? got : 0] = '\0';
    for (char *c = out; *c != '\0'; c++)
        if (!isprint((unsigned char)*c))
            *c = ' ';
    for (size_t n = strlen(out); n > 0 && out[n - 1] == ' '; n--)
        out[n - 1] = '\0';
}

static bool is_fault_signal(int status)
{
    if (!WIFSIGNALED(status))
        return false;
    int s = WTERMSIG(status);
    return s == SIGSEGV || s == SIGABRT || s == SIGBUS || s == SIGFPE || s == SIGILL ||
           s == SIGTRAP || s == SIGSYS;
}

/* bury reaps a child that closed its socket and judges its end. */
static int bury(runner_proc *p, runner_verdict *out, err *e)
{
    int status = 0;
    char how[64];
    char words[LAST_WORDS + 1];
    if (subproc_wait(p->child, REAP_MS, &status, NULL) < 0) {
        subproc_kill(p->child, SIGKILL);
        if (subproc_wait(p->child, REAP_MS, &status, e) < 0)
            return err_wrap(e, "runner");
    }
    subproc_status_text(status, how, sizeof how);
    last_words(p, words);
    const char *sep = *words != '\0' ? ": " : "";
    if (p->candidate && is_fault_signal(status)) {
        verdict_set(out, OUTCOME_CRASHED, "process", "the runner %s%s%s", how, sep, words);
        return 0;
    }
    err_native(e, ERR_SYSTEM, ERR_DOMAIN_CHILD, status, "the runner %s without an answer%s%s", how,
               sep, words);
    if (e != NULL)
        e->retry = true;
    return -1;
}

/* silence: the deadline and the grace have passed without a word. */
static int silence(runner_proc *p, int64_t waited_ms, runner_verdict *out, err *e)
{
    subproc_kill(p->child, SIGKILL);
    if (p->candidate) {
        verdict_set(out, OUTCOME_HUNG, NULL,
                    "the runner did not answer within %lld ms and was killed",
                    (long long)waited_ms);
        return 0;
    }
    err_set(e, ERR_TIMEOUT, "the runner did not get ready within %lld ms and was killed",
            (long long)waited_ms);
    if (e != NULL)
        e->retry = true;
    return -1;
}

static int told_failure(const struct msg_runner_failed *f, err *e)
{
    err_code code =
        f->code > ERR_NONE && f->code <= ERR_INTERNAL ? (err_code)f->code : ERR_INTERNAL;
    err_domain domain = f->domain <= ERR_DOMAIN_CHILD ? (err_domain)f->domain : ERR_DOMAIN_NONE;
    err_native(e, code, domain, f->native, "%s", f->text);
    if (e != NULL)
        e->retry = code == ERR_GPU;
    return -1;
}

/* ---- talk ---- */

/* One request and what came of it. */
typedef struct exchange {
    message_type want;
    bool answered;  /* false: the runner died or fell silent, verdict says what that means */
    message answer; /* of type `want` when answered */
    runner_verdict verdict; /* when not answered */
} exchange;

static int lost(runner_proc *p, const err *why, int64_t waited_ms, exchange *x, err *e)
{
    p->dead = true;
    if (why->code == ERR_TIMEOUT)
        return silence(p, waited_ms, &x->verdict, e);
    if (why->code == ERR_UNAVAILABLE)
        return bury(p, &x->verdict, e);
    if (e != NULL)
        *e = *why;
    return err_wrap(e, "runner");
}

/* refuse: the runner said something else than what was asked for. */
static int refuse(runner_proc *p, exchange *x, err *e)
{
    p->dead = true;
    int rc = x->answer.type == MSG_RUNNER_FAILED
                 ? told_failure(&x->answer.body.runner_failed, e)
                 : err_set(e, ERR_PROTOCOL, "the runner sent %s instead of %s",
                           message_name(x->answer.type), message_name(x->want));
    message_fini(&x->answer);
    return rc;
}

static int receive(runner_proc *p, exchange *x, err *e)
{
    int64_t wait_ms = x->want == MSG_RUNNER_HELLO ? HELLO_MS : SETUP_MS;
    for (;;) {
        err why = {0};
        if (pipe_recv(p->fd, wait_ms, &x->answer, &why) < 0)
            return lost(p, &why, wait_ms, x, e);
        if (x->answer.type == x->want) {
            x->answered = true;
            return 0;
        }
        if (x->answer.type != MSG_RUNNER_LAUNCHING)
            return refuse(p, x, e);
        p->candidate = x->answer.body.runner_launching.candidate;
        wait_ms = x->answer.body.runner_launching.deadline_ms + GRACE_MS;
        message_fini(&x->answer);
    }
}

static void read_facts(runner_proc *p)
{
    const struct msg_runner_hello *h = &p->hello.body.runner_hello;
    p->facts = (runner_facts){.kind = h->kind,
                              .name = h->name,
                              .uuid = h->uuid,
                              .arch = h->arch,
                              .cc = h->cc,
                              .sm_count = h->sm_count,
                              .l2_bytes = h->l2_bytes,
                              .memory_bytes = h->memory_bytes,
                              .shared_per_block = h->shared_per_block,
                              .threads_per_block = h->threads_per_block,
                              .driver = h->driver};
}

static int await_hello(runner_proc *p, err *e)
{
    exchange x = {.want = MSG_RUNNER_HELLO};
    if (receive(p, &x, e) < 0)
        return -1;
    if (!x.answered)
        return err_set(e, ERR_PROTOCOL, "the runner ended before it said hello");
    p->hello = x.answer;
    p->greeted = true;
    read_facts(p);
    return 0;
}

static int ask(runner_proc *p, const message *request, exchange *x, err *e)
{
    err why = {0};
    if (p->dead)
        return err_set(e, ERR_INTERNAL, "this runner has ended: start a new one");
    p->candidate = false;
    if (pipe_send(p->fd, request, &why) < 0)
        return lost(p, &why, 0, x, e);
    return receive(p, x, e);
}

/* keep_verdict copies what a runner_done or runner_timed says. */
static int keep_verdict(runner_proc *p, int64_t result, const char *detail, const char *text,
                        runner_verdict *out, err *e)
{
    if (result < OUTCOME_OK || result > OUTCOME_NOT_RUN)
        return err_set(e, ERR_PROTOCOL, "the runner sent outcome %lld, which is none",
                       (long long)result);
    verdict_set(out, (outcome)result, detail, "%s", text);
    p->dead |= !verdict_is_ok(out);
    return 0;
}

/* ask_done sends a request that runner_done answers. */
static int ask_done(runner_proc *p, const message *request, runner_verdict *out, err *e)
{
    exchange x = {.want = MSG_RUNNER_DONE};
    scoped_free(&p->modelled);
    p->modelled = NULL;
    if (ask(p, request, &x, e) < 0)
        return -1;
    if (!x.answered) {
        *out = x.verdict;
        return 0;
    }
    const struct msg_runner_done *d = &x.answer.body.runner_done;
    p->modelled = d->modelled[0] != '\0' ? xstrdup(d->modelled) : NULL;
    verdict_ok(out);
    out->elapsed_us = d->elapsed_us;
    int rc = keep_verdict(p, d->outcome, d->detail, d->text, out, e);
    message_fini(&x.answer);
    return rc;
}

/* ---- requests ---- */

static struct row_dim *copy_dims(const contract *terms, const contract_shape *shape, size_t *count)
{
    struct row_dim *rows = xcalloc(terms->dim_count + 1, sizeof *rows);
    for (size_t i = 0; i < terms->dim_count; i++) {
        message_set_str(&rows[i].name, terms->dims[i].name);
        rows[i].value = shape->dims[i];
    }
    *count = terms->dim_count;
    return rows;
}

static struct row_span *copy_spans(const judge_span *spans, size_t count)
{
    struct row_span *rows = xcalloc(count + 1, sizeof *rows);
    for (size_t i = 0; i < count; i++)
        rows[i] = (struct row_span){.offset = spans[i].offset, .bytes = spans[i].bytes};
    return rows;
}

static int check_staging(const judge_staging *s, const contract *terms, int64_t sets, err *e)
{
    if (s == NULL || (s->input_count >= (size_t)sets * terms->input_count &&
                      s->output_count == terms->output_count))
        return 0;
    return err_set(e, ERR_INTERNAL,
                   "staging has %zu inputs and %zu outputs, too few for %lld input sets",
                   s->input_count, s->output_count, (long long)sets);
}

static struct row_kernel *copy_kernels(const runner_candidate *candidate)
{
    struct row_kernel *rows = xcalloc(candidate->kernel_count + 1, sizeof *rows);
    for (size_t i = 0; i < candidate->kernel_count; i++) {
        const compile_kernel *k = &candidate->kernels[i];
        message_set_str(&rows[i].name, k->name);
        rows[i].registers = k->registers;
        rows[i].shared_bytes = k->shared_bytes;
        rows[i].local_bytes = k->local_bytes;
    }
    return rows;
}

int runner_proc_load(runner_proc *self, const runner_candidate *candidate, runner_verdict *out,
                     err *e)
{
    SCOPED(message_fini) message m;
    message_init(&m, MSG_RUNNER_LOAD);
    struct msg_runner_load *l = &m.body.runner_load;
    if (!self->greeted && await_hello(self, e) < 0)
        return -1;
    message_set_bytes(strcmp(self->facts.kind, "emu") == 0 ? &l->ptx : &l->cubin, candidate->cubin,
                      candidate->cubin_size);
    message_set_str(&l->contract, candidate->contract);
    message_set_str(&l->plan, candidate->plan);
    l->kernels = copy_kernels(candidate);
    l->kernels_count = candidate->kernel_count;
    return ask_done(self, &m, out, e);
}

int runner_proc_check(runner_proc *self, const runner_check *request, runner_verdict *out, err *e)
{
    const judge_staging *s = request->staging;
    if (check_staging(s, request->terms, request->slot + 1, e) < 0)
        return -1;
    SCOPED(message_fini) message m;
    message_init(&m, MSG_RUNNER_CHECK);
    struct msg_runner_check *c = &m.body.runner_check;
    c->dims = copy_dims(request->terms, request->shape, &c->dims_count);
    c->salt = request->salt;
    c->pair_salt = request->pair_salt;
    c->deadline_ms = request->deadline_ms;
    if (s != NULL) {
        if (s->has_handle)
            message_set_bytes(&c->handle, s->handle, sizeof s->handle);
        message_set_str(&c->shm, s->shm);
        c->inputs_count = request->terms->input_count;
        c->inputs =
            copy_spans(s->inputs + (size_t)request->slot * c->inputs_count, c->inputs_count);
        c->outputs_count = s->output_count;
        c->outputs = copy_spans(s->outputs, s->output_count);
    }
    return ask_done(self, &m, out, e);
}

static void fill_arm(struct msg_runner_arm *a, const runner_arm *request)
{
    const judge_staging *s = request->staging;
    a->dims = copy_dims(request->terms, request->shape, &a->dims_count);
    a->salt = request->salt;
    a->slots = request->slots;
    a->chained = request->chained;
    a->settle = request->settle;
    a->keeps = request->keeps;
    a->deadline_ms = request->deadline_ms;
    if (s == NULL)
        return;
    if (s->has_handle)
        message_set_bytes(&a->handle, s->handle, sizeof s->handle);
    a->inputs_count = (size_t)request->slots * request->terms->input_count;
    a->inputs = copy_spans(s->inputs, a->inputs_count);
}

/* keep_timing takes samples and numbers out of the answer. */
static int keep_timing(const struct msg_runner_timed *t, int64_t samples, runner_timing *out,
                       err *e)
{
    size_t count = t->samples.size / sizeof(double);
    if (t->samples.size % sizeof(double) != 0 || count != (size_t)samples)
        return err_set(e, ERR_PROTOCOL, "the runner sent %zu bytes of samples instead of %lld × 8",
                       t->samples.size, (long long)samples);
    out->samples = count > 0 ? xmemdup(t->samples.data, t->samples.size) : NULL;
    out->sample_count = count;
    out->event_floor_ms = t->event_floor_ms;
    out->warmup_calls = t->warmup_calls;
    out->host_ms = t->host_ms;
    out->event_ms = t->event_ms;
    out->voided = t->voided;
    out->suspect = t->suspect;
    out->kept_count = t->kept_count;
    out->kept = xcalloc(t->kept_count + 1, sizeof *out->kept);
    for (size_t i = 0; i < t->kept_count; i++)
        out->kept[i] = t->kept[i].slot;
    return 0;
}

/* ask_timed sends a request that runner_timed answers. */
static int ask_timed(runner_proc *p, const message *request, int64_t samples, runner_timing *out,
                     err *e)
{
    exchange x = {.want = MSG_RUNNER_TIMED};
    *out = (runner_timing){.verdict = {.result = OUTCOME_OK}};
    if (ask(p, request, &x, e) < 0)
        return -1;
    if (!x.answered) {
        out->verdict = x.verdict;
        return 0;
    }
    const struct msg_runner_timed *t = &x.answer.body.runner_timed;
    int rc = keep_verdict(p, t->outcome, t->detail, t->text, &out->verdict, e);
    if (rc == 0 && verdict_is_ok(&out->verdict))
        rc = keep_timing(t, samples, out, e);
    message_fini(&x.answer);
    return rc;
}

int runner_proc_arm(runner_proc *self, const runner_arm *request, runner_timing *out, err *e)
{
    *out = (runner_timing){.verdict = {.result = OUTCOME_OK}};
    if (check_staging(request->staging, request->terms, request->slots, e) < 0)
        return -1;
    SCOPED(message_fini) message m;
    message_init(&m, MSG_RUNNER_ARM);
    fill_arm(&m.body.runner_arm, request);
    self->samples = 0;
    return ask_timed(self, &m, 0, out, e);
}

int runner_proc_block(runner_proc *self, const runner_block *request, runner_timing *out, err *e)
{
    SCOPED(message_fini) message m;
    message_init(&m, MSG_RUNNER_BLOCK);
    m.body.runner_block = (struct msg_runner_block){.samples = request->samples,
                                                    .untimed = request->untimed,
                                                    .keep = request->keep,
                                                    .warm = request->warm,
                                                    .deadline_ms = request->deadline_ms};
    self->samples += request->samples;
    return ask_timed(self, &m, request->samples, out, e);
}

int runner_proc_kept(runner_proc *self, const judge_staging *staging, int64_t index,
                     runner_verdict *out, err *e)
{
    SCOPED(message_fini) message m;
    message_init(&m, MSG_RUNNER_KEPT);
    struct msg_runner_kept *k = &m.body.runner_kept;
    k->index = index;
    if (staging != NULL) {
        if (staging->has_handle)
            message_set_bytes(&k->handle, staging->handle, sizeof staging->handle);
        k->outputs_count = staging->output_count;
        k->outputs = copy_spans(staging->outputs, staging->output_count);
    }
    return ask_done(self, &m, out, e);
}

char *runner_proc_profile(runner_proc *self, const runner_profile_ask *request, err *e)
{
    exchange x = {.want = MSG_RUNNER_PROFILED};
    SCOPED(message_fini) message m;
    message_init(&m, MSG_RUNNER_PROFILE);
    struct msg_runner_profile *r = &m.body.runner_profile;
    r->samples = request->samples;
    r->counters = request->counters;
    r->deadline_ms = request->deadline_ms;
    message_set_str(&r->library, request->library != NULL ? request->library : "");
    if (ask(self, &m, &x, e) < 0)
        return NULL;
    if (!x.answered) {
        err_set(e, ERR_UNAVAILABLE, "%s while it was profiled: %s", outcome_name(x.verdict.result),
                x.verdict.text);
        return NULL;
    }
    char *profile = xstrdup(x.answer.body.runner_profiled.profile);
    message_fini(&x.answer);
    return profile;
}

int runner_proc_disarm(runner_proc *self, runner_verdict *out, err *e)
{
    SCOPED(message_fini) message m;
    message_init(&m, MSG_RUNNER_DISARM);
    m.body.runner_disarm.samples = self->samples;
    return ask_done(self, &m, out, e);
}

void runner_timing_fini(runner_timing *self)
{
    free(self->samples);
    free(self->kept);
    *self = (runner_timing){.verdict = {.result = OUTCOME_NOT_RUN}};
}

/* ---- life ---- */

runner_proc *runner_proc_spawn(const runner_options *options, err *e)
{
    SCOPED(runner_proc_destroy) runner_proc *p = xcalloc(1, sizeof *p);
    int ends[2];
    p->fd = p->errors = p->said = -1;
    p->errors = memfd_create("ce-runner-stderr", MFD_CLOEXEC);
    if (p->errors >= 0 && options->tool != NULL)
        p->said = memfd_create("ce-runner-stdout", MFD_CLOEXEC);
    if (p->errors < 0 || (options->tool != NULL && p->said < 0)) {
        err_errno(e, errno, "memory file for the runner's messages");
        return NULL;
    }
    if (pipe_pair(ends, e) < 0)
        return NULL;
    p->fd = ends[0];
    int rc = spawn(p, options, ends[1], e);
    close(ends[1]);
    return rc < 0 ? NULL : TAKE(p);
}

runner_proc *runner_proc_start(const runner_options *options, err *e)
{
    SCOPED(runner_proc_destroy) runner_proc *p = runner_proc_spawn(options, e);
    return p == NULL || await_hello(p, e) < 0 ? NULL : TAKE(p);
}

void runner_proc_destroy(runner_proc **self)
{
    runner_proc *p = TAKE(*self);
    if (p == NULL)
        return;
    subproc_destroy(&p->child);
    scoped_close(&p->fd);
    scoped_close(&p->errors);
    scoped_close(&p->said);
    message_fini(&p->hello);
    free(p->modelled);
    free(p);
}

int runner_proc_end(runner_proc *self, buf *said, err *e)
{
    int status = 0;
    char chunk[4096];
    assert(self->said >= 0);
    scoped_close(&self->fd); /* the runner ends with its socket, and the tool with the runner */
    self->dead = true;
    if (subproc_wait(self->child, TOOL_MS, &status, e) < 0)
        return err_wrap(e, "the tool");
    for (off_t at = 0; at < RUNNER_SAID_MAX;) {
        ssize_t got = pread(self->said, chunk, sizeof chunk, at);
        if (got <= 0)
            break;
        buf_add(said, chunk, (size_t)got);
        at += got;
    }
    return 0;
}

const char *runner_proc_modelled(const runner_proc *self)
{
    return self->modelled;
}

const runner_facts *runner_proc_facts(const runner_proc *self)
{
    return &self->facts;
}
