/* subproc - a child process with a deadline
 *
 * Start: everything that allocates happens before fork; between fork and exec the child makes plain
 * system calls only, since other threads of ours may hold any lock. The child is a session of its own
 * (a Ctrl-C reaches us, not it; one signal reaches its whole group). A pipe that exec closes carries
 * {step, errno} back, so subproc_start knows whether the program really runs.
 *
 * End: the pidfd is readable once the child has exited. While it is still a zombie its number cannot
 * be reused, so that is the moment to kill what is left of its group; then it is reaped.
 *
 * SPDX-License-Identifier: MIT */
#include "common/subproc.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/buf.h"
#include "common/clock.h"
#include "common/scoped.h"
#include "common/str.h"
#include "common/xalloc.h"

struct subproc {
    pid_t pid;
    int pidfd;
    bool reaped;
    int status; /* wait status once reaped */
};

typedef enum step { STEP_PARENT, STEP_FDS, STEP_LIMITS, STEP_CWD, STEP_EXEC } step;

/* What the child tells through the pipe when it cannot become the program. */
typedef struct failure {
    int step;
    int reason;
} failure;

/* Everything the child needs, ready before fork. */
typedef struct plan {
    const subproc_options *options;
    char *path;
    char *const *argv;
    char *const *env;
    pid_t parent;
    int report;               /* write end of the pipe */
    sigset_t mask;            /* to restore in the parent */
    int held[SUBPROC_FD_MAX]; /* descriptors to pass on, out of the way of the targets */
} plan;

/* ---- in the child: async-signal-safe calls only ---- */

__attribute__((noreturn)) static void give_up(const plan *p, step at)
{
    failure f = {(int)at, errno};
    ssize_t put = write(p->report, &f, sizeof f);
    _exit(put == (ssize_t)sizeof f ? 127 : 126);
}

static void reset_signals(void)
{
    for (int s = 1; s < NSIG; s++)
        if (s != SIGKILL && s != SIGSTOP)
            signal(s, SIG_DFL);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

static void die_with_parent(const plan *p)
{
    if (p->options->keep_after_parent)
        return;
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0)
        give_up(p, STEP_PARENT);
    if (getppid() != p->parent) /* it died before we asked */
        _exit(127);
}

/* close_later marks every descriptor above 2 as closed by exec. */
static void close_later(void)
{
    if (close_range(3, ~0u, CLOSE_RANGE_CLOEXEC) == 0)
        return;
    long most = sysconf(_SC_OPEN_MAX);
    for (int fd = 3; fd < (most > 0 && most < 65536 ? (int)most : 65536); fd++)
        fcntl(fd, F_SETFD, FD_CLOEXEC);
}

static bool is_target(const subproc_options *o, int fd)
{
    for (size_t i = 0; i < o->fd_count; i++)
        if (o->fds[i].child == fd)
            return true;
    return false;
}

static int first_free(const subproc_options *o)
{
    int above = 3;
    for (size_t i = 0; i < o->fd_count; i++)
        if (o->fds[i].child >= above)
            above = o->fds[i].child + 1;
    return above;
}

/* pass_fds: sources and targets may overlap, so all sources first move above every target. */
static void pass_fds(plan *p)
{
    const subproc_options *o = p->options;
    int above = first_free(o);
    int report = fcntl(p->report, F_DUPFD_CLOEXEC, above);
    if (report < 0)
        give_up(p, STEP_FDS);
    p->report = report;
    for (size_t i = 0; i < o->fd_count; i++) {
        p->held[i] = fcntl(o->fds[i].parent, F_DUPFD_CLOEXEC, above);
        if (p->held[i] < 0)
            give_up(p, STEP_FDS);
    }
    int null = fcntl(open("/dev/null", O_RDWR | O_CLOEXEC), F_DUPFD_CLOEXEC, above);
    close_later();
    for (int fd = 0; fd < 2; fd++)
        if (!is_target(o, fd) && dup2(null, fd) < 0)
            give_up(p, STEP_FDS);
    for (size_t i = 0; i < o->fd_count; i++)
        if (dup2(p->held[i], o->fds[i].child) < 0)
            give_up(p, STEP_FDS);
}

static void limit(const plan *p, __rlimit_resource_t what, int64_t value)
{
    if (value <= 0)
        return;
    struct rlimit both = {(rlim_t)value, (rlim_t)value};
    if (setrlimit(what, &both) < 0)
        give_up(p, STEP_LIMITS);
}

__attribute__((noreturn)) static void become_program(plan *p)
{
    setsid();
    die_with_parent(p);
    reset_signals();
    pass_fds(p);
    limit(p, RLIMIT_AS, p->options->memory_bytes);
    limit(p, RLIMIT_CPU, p->options->cpu_seconds);
    limit(p, RLIMIT_FSIZE, p->options->file_bytes);
    if (p->options->cwd != NULL && chdir(p->options->cwd) < 0)
        give_up(p, STEP_CWD);
    execve(p->path, p->argv, p->env);
    give_up(p, STEP_EXEC);
}

/* ---- in the parent ---- */

static char *on_path(const char *name)
{
    const char *path = getenv("PATH");
    str rest = str_of(path != NULL ? path : "/usr/local/bin:/usr/bin:/bin");
    for (str folder; str_split(&rest, ':', &folder);) {
        if (folder.size == 0)
            continue; /* an empty entry means the current folder: never search it */
        char *full = xasprintf("%.*s/%s", (int)folder.size, folder.data, name);
        if (access(full, X_OK) == 0)
            return full;
        free(full);
    }
    return NULL;
}

/* find_program: a relative path means relative to our folder, not to options->cwd. */
static char *find_program(const subproc_options *o, err *e)
{
    const char *name = o->argv[0];
    if (strchr(name, '/') == NULL) {
        char *found = on_path(name);
        if (found == NULL)
            err_set(e, ERR_NOT_FOUND, "start %s: no such program on PATH", name);
        return found;
    }
    if (name[0] == '/' || o->cwd == NULL)
        return xstrdup(name);
    SCOPED(scoped_free) char *here = getcwd(NULL, 0);
    if (here == NULL) {
        err_errno(e, errno, "start %s: current folder", name);
        return NULL;
    }
    return xasprintf("%s/%s", here, name);
}

/* execve takes char *const *, but changes nothing. */
static char *const *vector(const char *const *list)
{
    return (char *const *)(uintptr_t)list;
}

static int explain(const plan *p, failure f, err *e)
{
    const char *name = p->options->argv[0];
    switch ((step)f.step) {
    case STEP_PARENT:
        return err_errno(e, f.reason, "start %s: death signal", name);
    case STEP_FDS:
        return err_errno(e, f.reason, "start %s: pass descriptors", name);
    case STEP_LIMITS:
        return err_errno(e, f.reason, "start %s: set limits", name);
    case STEP_CWD:
        return err_errno(e, f.reason, "start %s: enter folder %s", name, p->options->cwd);
    case STEP_EXEC:
        break;
    }
    return err_errno(e, f.reason, "start %s", p->path);
}

/* read_report waits until exec closed the pipe (0) or the child told its failure (-1). */
static int read_report(const plan *p, int fd, err *e)
{
    failure f;
    ssize_t got;
    do
        got = read(fd, &f, sizeof f);
    while (got < 0 && errno == EINTR);
    if (got == 0)
        return 0;
    if (got != (ssize_t)sizeof f)
        return err_set(e, ERR_SYSTEM, "start %s: no word from the child", p->options->argv[0]);
    return explain(p, f, e);
}

static pid_t fork_with_signals_blocked(plan *p)
{
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &p->mask); /* no handler of ours may run in the child */
    pid_t pid = fork();
    if (pid == 0)
        become_program(p);
    int reason = errno;
    pthread_sigmask(SIG_SETMASK, &p->mask, NULL);
    errno = reason;
    return pid;
}

static subproc *launch(plan *p, err *e)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) < 0) {
        err_errno(e, errno, "start %s: pipe", p->options->argv[0]);
        return NULL;
    }
    SCOPED(scoped_close) int report = ends[0];
    p->report = ends[1];
    pid_t pid = fork_with_signals_blocked(p);
    int reason = errno;
    close(ends[1]);
    if (pid < 0) {
        err_errno(e, reason, "start %s: fork", p->options->argv[0]);
        return NULL;
    }
    SCOPED(subproc_destroy) subproc *self = xcalloc(1, sizeof *self);
    self->pid = pid;
    self->pidfd = pidfd_open(pid, 0);
    if (self->pidfd < 0) {
        err_errno(e, errno, "start %s: pidfd", p->options->argv[0]);
        return NULL;
    }
    return read_report(p, report, e) < 0 ? NULL : TAKE(self);
}

subproc *subproc_start(const subproc_options *options, err *e)
{
    assert(options->argv != NULL && options->argv[0] != NULL);
    assert(options->fd_count <= SUBPROC_FD_MAX);
    static const char *const bare[] = {"PATH=/usr/bin:/bin", NULL};
    SCOPED(scoped_free) char *path = find_program(options, e);
    if (path == NULL)
        return NULL;
    plan p = {.options = options,
              .path = path,
              .argv = vector(options->argv),
              .env = vector(options->env != NULL ? options->env : bare),
              .parent = getpid()};
    return launch(&p, e);
}

/* reap needs a child that has exited (or is about to). */
static void reap(subproc *self)
{
    kill(-self->pid, SIGKILL); /* what it left behind in its group */
    int status = 0;
    while (waitpid(self->pid, &status, 0) < 0 && errno == EINTR)
        continue;
    self->reaped = true;
    self->status = status;
}

void subproc_destroy(subproc **self)
{
    subproc *p = TAKE(*self);
    if (p == NULL)
        return;
    if (!p->reaped) {
        kill(p->pid, SIGKILL); /* before its setsid it leads no group yet */
        reap(p);
    }
    if (p->pidfd >= 0)
        close(p->pidfd);
    free(p);
}

pid_t subproc_pid(const subproc *self)
{
    return self->pid;
}

int subproc_fd_exit(const subproc *self)
{
    return self->pidfd;
}

/* remaining_ms is the poll timeout until a monotonic deadline; -1 is none. */
static int remaining_ms(int64_t deadline)
{
    if (deadline < 0)
        return -1;
    int64_t left = deadline - clock_mono_ms();
    return left <= 0 ? 0 : left > 3600000 ? 3600000 : (int)left;
}

static int64_t deadline_of(int64_t timeout_ms)
{
    return timeout_ms < 0 ? -1 : clock_mono_ms() + timeout_ms;
}

static bool passed(int64_t deadline)
{
    return deadline >= 0 && clock_mono_ms() >= deadline;
}

int subproc_wait(subproc *self, int64_t timeout_ms, int *status, err *e)
{
    int64_t deadline = deadline_of(timeout_ms);
    while (!self->reaped) {
        struct pollfd exited = {.fd = self->pidfd, .events = POLLIN};
        int n = poll(&exited, 1, remaining_ms(deadline));
        if (n > 0)
            reap(self);
        else if (n < 0 && errno != EINTR)
            return err_errno(e, errno, "wait for process %d", (int)self->pid);
        else if (passed(deadline))
            return err_set(e, ERR_TIMEOUT, "process %d still runs after %lld ms", (int)self->pid,
                           (long long)timeout_ms);
    }
    *status = self->status;
    return 0;
}

void subproc_kill(subproc *self, int signal)
{
    if (!self->reaped)
        kill(-self->pid, signal);
}

void subproc_status_text(int status, char *out, size_t size)
{
    if (WIFEXITED(status)) {
        snprintf(out, size, "exited with %d", WEXITSTATUS(status));
        return;
    }
    if (!WIFSIGNALED(status)) {
        snprintf(out, size, "ended with wait status %d", status);
        return;
    }
    const char *name = sigabbrev_np(WTERMSIG(status));
    if (name != NULL)
        snprintf(out, size, "was killed by SIG%s", name);
    else
        snprintf(out, size, "was killed by signal %d", WTERMSIG(status));
}

/* ---- run to the end ---- */

typedef struct capture {
    int fd; /* read end, non-blocking; -1 at the end */
    buf *out;
} capture;

/* keep fills the buffer to its maximum; the rest only marks the overflow. */
static void keep(buf *out, const char *data, size_t size)
{
    size_t room = out->max - out->size;
    if (out->overflow)
        return;
    buf_add(out, data, size < room ? size : room);
    if (size > room)
        buf_add(out, data + room, size - room);
}

static void drain(capture *c)
{
    char chunk[16 * 1024];
    for (;;) {
        ssize_t got = read(c->fd, chunk, sizeof chunk);
        if (got > 0) {
            keep(c->out, chunk, (size_t)got);
            continue;
        }
        if (got < 0 && errno == EINTR)
            continue;
        if (got == 0 || errno != EAGAIN)
            scoped_close(&c->fd);
        return;
    }
}

/* pump reads both streams until the child has exited or the deadline passed. What a descendant that
 * left the group still writes afterwards is not waited for. */
static int pump(subproc *child, capture streams[2], int64_t deadline, err *e)
{
    for (;;) {
        struct pollfd fds[3] = {{.fd = child->pidfd, .events = POLLIN},
                                {.fd = streams[0].fd, .events = POLLIN},
                                {.fd = streams[1].fd, .events = POLLIN}};
        int n = poll(fds, 3, remaining_ms(deadline));
        if (n < 0 && errno != EINTR)
            return err_errno(e, errno, "poll process %d", (int)child->pid);
        for (int i = 0; n > 0 && i < 2; i++)
            if (streams[i].fd >= 0 && fds[i + 1].revents != 0)
                drain(&streams[i]);
        if (n > 0 && fds[0].revents != 0)
            return 0;
        if (passed(deadline))
            return err_set(e, ERR_TIMEOUT, "deadline passed");
    }
}

static int open_capture(capture *c, buf *out, int child_fd, subproc_fd *passed_on, err *e)
{
    *c = (capture){.fd = -1, .out = out};
    if (out == NULL)
        return 0;
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) < 0)
        return err_errno(e, errno, "pipe");
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    c->fd = ends[0];
    *passed_on = (subproc_fd){ends[1], child_fd};
    return 0;
}

static int finish(subproc *child, capture streams[2], int rc, int *status)
{
    if (rc < 0)
        subproc_kill(child, SIGKILL);
    if (subproc_wait(child, -1, status, NULL) < 0)
        return -1;
    for (int i = 0; i < 2; i++)
        if (streams[i].fd >= 0)
            drain(&streams[i]);
    return rc;
}

int subproc_run(const subproc_options *options, int64_t timeout_ms, buf *out, buf *errors,
                int *status, err *e)
{
    int64_t deadline = deadline_of(timeout_ms);
    assert(options->fd_count + 2 <= SUBPROC_FD_MAX);
    subproc_fd fds[SUBPROC_FD_MAX] = {{-1, 1}, {-1, 2}};
    capture streams[2] = {{-1, NULL}, {-1, NULL}};
    int rc = open_capture(&streams[0], out, 1, &fds[0], e);
    if (rc == 0)
        rc = open_capture(&streams[1], errors, 2, &fds[1], e);
    size_t count = 0;
    for (int i = 0; i < 2; i++)
        if (fds[i].parent >= 0)
            fds[count++] = fds[i];
    size_t pipes = count;
    for (size_t i = 0; i < options->fd_count; i++)
        fds[count++] = options->fds[i];
    subproc_options with_pipes = *options;
    with_pipes.fds = fds;
    with_pipes.fd_count = count;
    SCOPED(subproc_destroy) subproc *child = rc < 0 ? NULL : subproc_start(&with_pipes, e);
    for (size_t i = 0; i < pipes; i++)
        close(fds[i].parent);
    if (child != NULL) {
        rc = pump(child, streams, deadline, e);
        rc = finish(child, streams, rc, status);
        if (rc < 0)
            err_wrap(e, "%s", options->argv[0]);
    }
    for (int i = 0; i < 2; i++)
        scoped_close(&streams[i].fd);
    return child == NULL ? -1 : rc;
}
