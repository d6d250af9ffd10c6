/* progress - one line, redrawn or repeated
 *
 * SPDX-License-Identifier: MIT */
#include "coordinator/progress.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "common/scoped.h"
#include "common/xalloc.h"

enum { LINE_MAX_BYTES = 512 };

struct progress {
    FILE *out;
    bool terminal;
    bool drawn; /* a line stands on the terminal without its newline */
    int64_t started_ms, shown_ms;
    size_t done_before;
    char *shown; /* the newest line */
};

progress *progress_create(FILE *out, bool terminal, const run *of, int64_t now_ms)
{
    progress *self = xcalloc(1, sizeof *self);
    sched_counts work = sched_count(of->tasks, SCHED_SYNTHESIZE);
    self->out = out;
    self->terminal = terminal;
    self->started_ms = now_ms;
    self->shown_ms = now_ms;
    self->done_before = sched_ended(&work);
    self->shown = xstrdup("");
    return self;
}

void progress_destroy(progress **self)
{
    if (!*self)
        return;
    if ((*self)->drawn)
        fputc('\n', (*self)->out);
    free((*self)->shown);
    free(*self);
    *self = NULL;
}

static void add_bar(buf *out, size_t done, size_t planned)
{
    size_t full = planned ? done * PROGRESS_BAR / planned : PROGRESS_BAR;
    buf_puts(out, "[");
    for (size_t i = 0; i < PROGRESS_BAR; i++)
        buf_puts(out, i < full ? "#" : ".");
    buf_puts(out, "] ");
}

static void add_stages(buf *out, const sched_counts *work)
{
    static const char *const names[SCHED_STAGES] = {"contract",    "interview",   "codegen",
                                                    "correctness", "performance", "polish"};
    const char *before = " (";
    for (size_t i = 0; i < SCHED_STAGES; i++) {
        if (!work->in_stage[i])
            continue;
        buf_printf(out, "%s%s %zu", before, names[i], work->in_stage[i]);
        before = ", ";
    }
    if (*before == ',')
        buf_puts(out, ")");
}

static void add_spend(buf *out, const run *now)
{
    if (!now->calls)
        return;
    buf_printf(out, ", %lld calls, $%.2f", (long long)now->calls, now->spent_usd);
    if (now->unpriced)
        buf_printf(out, " and %lld of unknown price", (long long)now->unpriced);
}

static void add_time_left(buf *out, size_t done, size_t left, int64_t elapsed_ms)
{
    if (!done || !left)
        return;
    int64_t seconds = elapsed_ms / 1000 * (int64_t)left / (int64_t)done;
    if (seconds < 60)
        buf_printf(out, ", about %lld s left", (long long)seconds);
    else if (seconds < 3600)
        buf_printf(out, ", about %lld min left", (long long)(seconds / 60));
    else
        buf_printf(out, ", about %.1f h left", (double)seconds / 3600.0);
}

void progress_line(buf *out, const run *now, size_t nodes, int64_t elapsed_ms, size_t done_before)
{
    sched_counts checks = sched_count(now->tasks, SCHED_CONTRACT);
    sched_counts work = sched_count(now->tasks, SCHED_SYNTHESIZE);
    size_t done = sched_ended(&work);
    if (!nodes) {
        buf_printf(out, "waiting for a node, %zu/%zu tasks done", done, work.planned);
    } else if (!sched_released(now->tasks)) {
        buf_printf(out, "checking contracts %zu/%zu", checks.state[SCHED_DONE], checks.planned);
    } else {
        add_bar(out, done, work.planned);
        buf_printf(out, "%zu/%zu done, %zu correct", done, work.planned, work.correct);
        if (work.state[SCHED_FAILED])
            buf_printf(out, ", %zu failed", work.state[SCHED_FAILED]);
        if (work.state[SCHED_LEASED])
            buf_printf(out, ", %zu in flight", work.state[SCHED_LEASED]);
        add_stages(out, &work);
        add_time_left(out, done - done_before, work.planned - done, elapsed_ms);
    }
    add_spend(out, now);
}

static void draw(progress *self, const char *line, bool last)
{
    if (self->terminal)
        fprintf(self->out, "\r\033[K%s%s", line, last ? "\n" : "");
    else
        fprintf(self->out, "%s\n", line);
    self->drawn = self->terminal && !last;
    fflush(self->out);
}

void progress_show(progress *self, const run *now, size_t nodes, int64_t now_ms, bool last)
{
    int64_t pause = self->terminal ? PROGRESS_TERMINAL_MS : PROGRESS_PLAIN_MS;
    if (!last && now_ms - self->shown_ms < pause)
        return;
    SCOPED(buf_fini) buf line;
    buf_init(&line, LINE_MAX_BYTES);
    progress_line(&line, now, nodes, now_ms - self->started_ms, self->done_before);
    self->shown_ms = now_ms;
    if (!last && strcmp(self->shown, buf_text(&line)) == 0)
        return;
    draw(self, buf_text(&line), last);
    free(self->shown);
    self->shown = buf_take(&line);
}

void progress_say(progress *self, const char *format, ...)
{
    if (self->drawn)
        fputs("\r\033[K", self->out);
    self->drawn = false;
    va_list args;
    va_start(args, format);
    vfprintf(self->out, format, args);
    va_end(args);
    fputc('\n', self->out);
    fflush(self->out);
}
