/* judge_process - the Python child: one JSON line out, one JSON line back
 *
 * A socketpair carries the lines (fd 3 of the child); a pipe carries its stderr, of which the end is
 * kept. Both are read while we wait for a reply, so a chatty reference cannot block. The child watches
 * its end of the socketpair and ends when ours is closed.
 *
 * SPDX-License-Identifier: MIT */
#include "agent-node/judge_process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/python.h"
#include "common/buf.h"
#include "common/clock.h"
#include "common/scoped.h"
#include "common/str.h"
#include "common/subproc.h"
#include "common/xalloc.h"

enum { CHANNEL_FD = 3, TAIL_MAX = 4096, REPLY_MAX = 64 * 1024 * 1024, DEATH_MS = 2000 };

struct judge_process {
    subproc *child; /* NULL once it is gone */
    int channel, errors;
    int64_t next_id;
    buf reply; /* bytes read behind the last line */
    char tail[TAIL_MAX + 1];
    size_t tail_size;
};

static int spawn(judge_process *self, const judge_process_options *o, int channel, int errors,
                 err *e)
{
    SCOPED(python_env_free) char **env = python_env();
    const char *const argv[] = {o->python, o->script, o->device, o->timing_lib, o->cache_dir, NULL};
    const subproc_fd fds[] = {{channel, CHANNEL_FD}, {errors, STDERR_FILENO}};
    /* The death signal would follow the starting thread, not the process: the child watches fd 3. */
    subproc_options options = {.argv = argv,
                               .env = (const char *const *)env,
                               .fds = fds,
                               .fd_count = sizeof fds / sizeof *fds,
                               .keep_after_parent = true};
    self->child = subproc_start(&options, e);
    return self->child == NULL ? err_wrap(e, "judge") : 0;
}

judge_process *judge_process_start(const judge_process_options *options, err *e)
{
    SCOPED(judge_process_destroy) judge_process *self = xcalloc(1, sizeof *self);
    self->channel = self->errors = -1;
    buf_init(&self->reply, REPLY_MAX);
    int pair[2], pipes[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0) {
        err_errno(e, errno, "judge: socketpair");
        return NULL;
    }
    self->channel = pair[0];
    SCOPED(scoped_close) int theirs = pair[1];
    if (pipe2(pipes, O_CLOEXEC) < 0) {
        err_errno(e, errno, "judge: pipe");
        return NULL;
    }
    self->errors = pipes[0];
    SCOPED(scoped_close) int their_errors = pipes[1];
    fcntl(self->errors, F_SETFL, O_NONBLOCK);
    fcntl(self->channel, F_SETFL, O_NONBLOCK);
    if (spawn(self, options, theirs, their_errors, e) < 0)
        return NULL;
    return TAKE(self);
}

void judge_process_destroy(judge_process **self)
{
    judge_process *p = TAKE(*self);
    if (p == NULL)
        return;
    scoped_close(&p->channel);
    subproc_destroy(&p->child);
    scoped_close(&p->errors);
    buf_fini(&p->reply);
    free(p);
}

bool judge_process_alive(const judge_process *self)
{
    return self != NULL && self->child != NULL;
}

pid_t judge_process_pid(const judge_process *self)
{
    return subproc_pid(self->child);
}

/* ---- stderr ---- */

static void keep_tail(judge_process *self, const char *data, size_t size)
{
    if (size > TAIL_MAX) {
        data += size - TAIL_MAX;
        size = TAIL_MAX;
    }
    size_t keep = self->tail_size + size > TAIL_MAX ? TAIL_MAX - size : self->tail_size;
    memmove(self->tail, self->tail + self->tail_size - keep, keep);
    memcpy(self->tail + keep, data, size);
    self->tail_size = keep + size;
    self->tail[self->tail_size] = '\0';
}

static void drain_errors(judge_process *self)
{
    char chunk[TAIL_MAX];
    ssize_t got;
    while ((got = read(self->errors, chunk, sizeof chunk)) > 0)
        keep_tail(self, chunk, (size_t)got);
}

/* last_words: the last line of stderr, cut to what fits an err. */
static str last_words(const judge_process *self)
{
    str rest = {self->tail, self->tail_size}, line, last = {NULL, 0};
    while (rest.size > 0 && str_line(&rest, &line))
        if (str_trim(line).size > 0)
            last = str_trim(line);
    return last;
}

/* ---- endings ---- */

/* died: the channel is closed or broken: reap the child and say how it ended. */
static int died(judge_process *self, err *e)
{
    int status = 0;
    char how[64] = "closed its channel";
    if (subproc_wait(self->child, DEATH_MS, &status, NULL) == 0)
        subproc_status_text(status, how, sizeof how);
    subproc_destroy(&self->child);
    drain_errors(self);
    str words = last_words(self);
    err_native(e, ERR_UNAVAILABLE, ERR_DOMAIN_CHILD, status, "judge: the Python process %s%s%.*s",
               how, words.size > 0 ? ": " : "", (int)words.size,
               words.data != NULL ? words.data : "");
    if (e != NULL)
        e->retry = true;
    return -1;
}

static int late(judge_process *self, int64_t deadline_ms, err *e)
{
    subproc_destroy(&self->child);
    err_set(e, ERR_TIMEOUT, "judge: no answer within %lld ms", (long long)deadline_ms);
    if (e != NULL)
        e->retry = true;
    return -1;
}

/* ---- one request ---- */

/* wait_ready polls the channel for `events` and drains stderr meanwhile: 1 ready, 0 deadline. */
static int wait_ready(judge_process *self, short events, int64_t until)
{
    for (;;) {
        int64_t left = until - clock_mono_ms();
        if (left <= 0)
            return 0;
        struct pollfd fds[2] = {{self->channel, events, 0}, {self->errors, POLLIN, 0}};
        if (poll(fds, 2, left > 60000 ? 60000 : (int)left) < 0)
            continue;
        drain_errors(self);
        if (fds[0].revents != 0)
            return 1;
        if (fds[1].revents & POLLHUP) { /* nobody holds stderr any more: only the channel counts */
            struct pollfd one = {self->channel, events, 0};
            if (poll(&one, 1, left > 100 ? 100 : (int)left) > 0)
                return 1;
        }
    }
}

static int send_line(judge_process *self, const buf *text, int64_t until, int64_t deadline_ms,
                     err *e)
{
    const char *line = text->data;
    size_t size = text->size;
    while (size > 0) {
        ssize_t put = send(self->channel, line, size, MSG_NOSIGNAL);
        if (put > 0) {
            line += put;
            size -= (size_t)put;
        } else if (put < 0 && errno != EAGAIN && errno != EINTR) {
            return died(self, e);
        } else if (wait_ready(self, POLLOUT, until) == 0) {
            return late(self, deadline_ms, e);
        }
    }
    return 0;
}

/* receive_line leaves one line (without '\n') in `out`. */
static int receive_line(judge_process *self, int64_t until, int64_t deadline_ms, buf *out, err *e)
{
    size_t looked = 0;
    for (;;) {
        const char *end = self->reply.size > looked
                              ? memchr(self->reply.data + looked, '\n', self->reply.size - looked)
                              : NULL;
        if (end != NULL) {
            buf_add(out, self->reply.data, (size_t)(end - self->reply.data));
            buf_clear(&self->reply); /* one question, one answer: nothing can follow */
            return 0;
        }
        looked = self->reply.size;
        if (wait_ready(self, POLLIN, until) == 0)
            return late(self, deadline_ms, e);
        char chunk[65536];
        ssize_t got = recv(self->channel, chunk, sizeof chunk, 0);
        if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR))
            return died(self, e);
        if (got > 0 && buf_add(&self->reply, chunk, (size_t)got) < 0) {
            subproc_destroy(&self->child);
            return err_set(e, ERR_LIMIT, "judge: an answer of more than %d bytes", REPLY_MAX);
        }
    }
}

/* refuse turns {"ok": false, …} into an err and ends a process that asks for it. */
static int refuse(judge_process *self, const json *reply, err *e)
{
    static const struct {
        const char *name;
        err_code code;
        bool retry;
    } codes[] = {{"config", ERR_CONFIG, false},
                 {"unavailable", ERR_UNAVAILABLE, false},
                 {"gpu", ERR_GPU, true},
                 {"internal", ERR_INTERNAL, false}};
    const char *name = json_str(json_get(reply, "code"), "internal");
    size_t i = 0;
    while (i < 3 && strcmp(name, codes[i].name) != 0)
        i++;
    if (json_bool(json_get(reply, "restart"), false))
        subproc_destroy(&self->child);
    const char *text = json_str(json_get(reply, "text"), "no reason given");
    err_set(e, codes[i].code, codes[i].code == ERR_CONFIG ? "%s" : "judge: %s", text);
    if (e != NULL)
        e->retry = codes[i].retry;
    return -1;
}

static json_doc *understand(judge_process *self, const buf *line, err *e)
{
    SCOPED(json_doc_destroy)
    json_doc *doc = json_parse(buf_text(line), line->size, "judge", e);
    const json *root = doc != NULL ? json_doc_root(doc) : NULL;
    if (doc == NULL || json_int(json_get(root, "id"), -1) != self->next_id) {
        subproc_destroy(&self->child);
        err_set(e, ERR_PROTOCOL, "judge: the answer is no answer to this question");
        return NULL;
    }
    if (!json_bool(json_get(root, "ok"), false)) {
        refuse(self, root, e);
        return NULL;
    }
    return TAKE(doc);
}

json_doc *judge_process_ask(judge_process *self, json **request, int64_t deadline_ms, err *e)
{
    SCOPED(json_destroy) json *owned = TAKE(*request);
    json_set_int(owned, "id", ++self->next_id);
    SCOPED(scoped_free) char *text = json_dump(owned);
    SCOPED(buf_fini) buf line, reply;
    buf_init(&line, REPLY_MAX);
    buf_init(&reply, REPLY_MAX);
    if (buf_printf(&line, "%s\n", text) < 0) {
        err_set(e, ERR_LIMIT, "judge: a question of more than %d bytes", REPLY_MAX);
        return NULL;
    }
    int64_t until = clock_mono_ms() + deadline_ms;
    if (send_line(self, &line, until, deadline_ms, e) < 0 ||
        receive_line(self, until, deadline_ms, &reply, e) < 0)
        return NULL;
    return understand(self, &reply, e);
}
