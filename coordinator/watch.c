/* watch - read, draw, wait for time, keys and signals
 *
 * Reading a large run takes seconds, so each reading has a thread of its own, which the loop hears of by an
 * eventfd; keys, signals and a new size are answered meanwhile, and who leaves interrupts it. A watcher must
 * not become a run's load: it rests at least REST times as long as reading took.
 *
 * SPDX-License-Identifier: MIT */
#include "coordinator/watch.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/scoped.h"
#include "common/xalloc.h"
#include "coordinator/cmd.h"
#include "reports/screen.h"

enum { FRAME_MAX = 1024 * 1024, REST = 4, AGAIN_MS = 50, FOREVER = -1 };

typedef enum turn { GO_ON, DRAW_AGAIN, STOP } turn;

typedef struct watch {
    const watch_request *of;
    term_kind kind;
    term *screen; /* NULL: plain lines */
    int signals;
    bool keys; /* `in` still gives some */
    sigset_t before;
    moment now;
    bool known;   /* now has been read */
    bool reading; /* a thread is; the next five are its until `done` says so */
    pthread_t thread;
    int done;
    moment fresh;
    int result;
    err error;
    int64_t began_ms, next_ms; /* when a reading did, when one shall; monotonic */
    char *said;                /* the newest plain line */
    int code;
} watch;

/* ---- showing ---- */

static int draw(watch *self, err *e)
{
    const term_size size = term_size_of(self->of->out);
    const screen_shape shape = {.width = size.width,
                                .height = size.height,
                                .utf8 = self->kind.utf8,
                                .colour = self->kind.colour,
                                .keys = self->keys};
    SCOPED(buf_fini) buf lines;
    buf_init(&lines, FRAME_MAX);
    screen_draw(&lines, &self->now, &shape);
    return term_draw(self->screen, buf_text(&lines), e);
}

static int put_line(const watch *self, const buf *line, err *e)
{
    for (size_t at = 0; at < line->size;) {
        ssize_t n = write(self->of->out, line->data + at, line->size - at);
        if (n < 0 && errno != EINTR)
            return err_errno(e, errno, "write");
        at += n > 0 ? (size_t)n : 0;
    }
    return 0;
}

/* What is left of the time changes always, so it is no change. */
static int say(watch *self, err *e)
{
    SCOPED(buf_fini) buf line;
    buf_init(&line, FRAME_MAX);
    screen_sentence(&line, &self->now, self->kind.utf8);
    if (self->said && strcmp(self->said, buf_text(&line)) == 0)
        return 0;
    free(self->said);
    self->said = xstrdup(buf_text(&line));
    screen_left(&line, &self->now);
    buf_puts(&line, "\n");
    return put_line(self, &line, e);
}

static int show(watch *self, err *e)
{
    return self->screen ? draw(self, e) : say(self, e);
}

/* ---- waiting ---- */

static int suspend(watch *self, err *e)
{
    if (self->screen)
        term_leave(self->screen);
    raise(SIGSTOP); /* SIGTSTP is blocked here; until SIGCONT */
    return self->screen ? term_enter(self->screen, e) : 0;
}

static int take_signal(watch *self, turn *then, err *e)
{
    struct signalfd_siginfo info;
    if (read(self->signals, &info, sizeof info) != (ssize_t)sizeof info)
        return 0;
    if (info.ssi_signo == SIGTSTP) {
        *then = DRAW_AGAIN;
        return suspend(self, e);
    }
    if (info.ssi_signo == SIGWINCH) {
        *then = DRAW_AGAIN;
        if (self->screen)
            term_redraw(self->screen);
        return 0;
    }
    self->code = CMD_EXIT_INTERRUPTED;
    *then = STOP;
    return 0;
}

static void take_keys(watch *self, turn *then)
{
    char keys[64];
    const ssize_t n = read(self->of->in, keys, sizeof keys);
    if (n == 0 || (n < 0 && errno != EINTR && errno != EAGAIN))
        self->keys = false;
    else if (n > 0 && memchr(keys, 'q', (size_t)n))
        *then = STOP;
}

/* ---- reading ---- */

static void *read_fresh(void *arg)
{
    watch *self = arg;
    const uint64_t one = 1;
    self->result =
        moment_read(self->of->db, self->of->run, clock_wall_ms(), &self->fresh, &self->error);
    while (write(self->done, &one, sizeof one) < 0 && errno == EINTR) {
    }
    return NULL;
}

static int start_reading(watch *self, err *e)
{
    self->began_ms = clock_mono_ms();
    int rc = pthread_create(&self->thread, NULL, read_fresh, self);
    self->reading = rc == 0;
    return rc == 0 ? 0 : err_errno(e, rc, "start a thread that reads");
}

static int open_screen(watch *self, err *e)
{
    self->kind = term_of(self->of->out, &self->of->env);
    if (!self->kind.redraws)
        return 0;
    self->screen = term_open(self->of->in, self->of->out, e);
    self->keys = isatty(self->of->in) == 1;
    return self->screen ? 0 : -1;
}

/* The screen is opened when there is something to show: until then errors are plain text. */
static int take_fresh(watch *self, err *e)
{
    uint64_t count;
    (void)!read(self->done, &count, sizeof count);
    pthread_join(self->thread, NULL);
    self->reading = false;
    if (self->result < 0) {
        *e = self->error;
        return -1;
    }
    moment_fini(&self->now);
    self->now = self->fresh;
    const int64_t took = clock_mono_ms() - self->began_ms;
    self->next_ms =
        self->began_ms + (self->of->every_ms > REST * took ? self->of->every_ms : REST * took);
    if (!self->known && open_screen(self, e) < 0)
        return -1;
    self->known = true;
    return 0;
}

/* A reading that nobody waits for any more. It may not have begun when it is first interrupted. */
static void drop_reading(watch *self)
{
    struct pollfd done = {.fd = self->done, .events = POLLIN};
    if (!self->reading)
        return;
    while (poll(&done, 1, AGAIN_MS) <= 0)
        store_interrupt(self->of->db);
    pthread_join(self->thread, NULL);
    self->reading = false;
    if (self->result == 0)
        moment_fini(&self->fresh);
}

/* ---- the loop ---- */

static int pause_of(const watch *self)
{
    const int64_t left = self->next_ms - clock_mono_ms();
    return self->reading ? FOREVER : left > 0 ? (int)left : 0;
}

/* Waits for whatever comes first, and takes it. */
static int step(watch *self, turn *then, err *e)
{
    struct pollfd ready[] = {{.fd = self->signals, .events = POLLIN},
                             {.fd = self->keys ? self->of->in : -1, .events = POLLIN},
                             {.fd = self->done, .events = POLLIN}};
    *then = GO_ON;
    if (poll(ready, 3, pause_of(self)) < 0 && errno != EINTR)
        return err_errno(e, errno, "wait for keys and signals");
    if (ready[0].revents && take_signal(self, then, e) < 0)
        return -1;
    if (*then == GO_ON && ready[1].revents)
        take_keys(self, then);
    if (*then != STOP && ready[2].revents) {
        *then = DRAW_AGAIN;
        return take_fresh(self, e);
    }
    return 0;
}

static int follow(watch *self, err *e)
{
    turn then = GO_ON;
    while (then != STOP) {
        if (!self->reading && pause_of(self) == 0 && start_reading(self, e) < 0)
            return -1;
        if (step(self, &then, e) < 0)
            return -1;
        if (self->known && self->of->run && moment_over(&self->now))
            return 0;
        if (then == DRAW_AGAIN && self->known && show(self, e) < 0)
            return -1;
    }
    return 0;
}

/* ---- begin, end ---- */

static int open_signals(watch *self, err *e)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGTSTP, SIGWINCH};
    sigset_t set;
    sigemptyset(&set);
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        sigaddset(&set, numbers[i]);
    pthread_sigmask(SIG_BLOCK, &set, &self->before);
    self->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    self->done = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    return self->signals >= 0 && self->done >= 0 ? 0 : err_errno(e, errno, "watch for signals");
}

static void watch_fini(watch *self)
{
    term_close(&self->screen); /* first: the terminal is not kept waiting for a reading */
    drop_reading(self);
    scoped_close(&self->signals);
    scoped_close(&self->done);
    moment_fini(&self->now);
    free(self->said);
    pthread_sigmask(SIG_SETMASK, &self->before, NULL);
}

/* The last word, which stays when the screen is gone. */
static int conclude(watch *self, err *e)
{
    term_close(&self->screen);
    return self->known && self->of->run && moment_over(&self->now) ? say(self, e) : 0;
}

int watch_run(const watch_request *request, err *e)
{
    SCOPED(watch_fini)
    watch self = {.of = request, .signals = -1, .done = -1, .code = CMD_EXIT_COMPLETE};
    if (open_signals(&self, e) < 0 || follow(&self, e) < 0 || conclude(&self, e) < 0)
        return -1;
    return self.code;
}
