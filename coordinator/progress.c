/* progress - one line, redrawn or repeated
 *
 * SPDX-License-Identifier: MIT */
#include "coordinator/progress.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "common/glyph.h"
#include "common/scoped.h"
#include "common/xalloc.h"
#include "reports/text.h"

enum { LINE_MAX_BYTES = 512, SENTENCE_MAX_BYTES = 4096 };

struct progress {
    FILE *out;
    term_kind on;
    bool drawn; /* a line stands on the terminal without its newline */
    int64_t started_ms, shown_ms;
    size_t done_before;
    char *shown; /* the newest line */
};

progress *progress_create(FILE *out, const term_kind *on, const run *of, int64_t now_ms)
{
    progress *self = xcalloc(1, sizeof *self);
    sched_counts work = sched_count(of->tasks, SCHED_SYNTHESIZE);
    self->out = out;
    self->on = *on;
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

typedef enum detail { WITHOUT_BAR, WITHOUT_STAGES, WHOLE } detail;

static void add_work(buf *out, const progress_at *at, const sched_counts *work, detail how)
{
    size_t done = sched_ended(work);
    if (how >= WITHOUT_STAGES)
        text_bar(out, PROGRESS_BAR, done, work->planned);
    buf_printf(out, "%zu/%zu done, %zu correct", done, work->planned, work->correct);
    if (work->state[SCHED_FAILED])
        buf_printf(out, ", %zu failed", work->state[SCHED_FAILED]);
    if (work->state[SCHED_LEASED])
        buf_printf(out, ", %zu in flight", work->state[SCHED_LEASED]);
    if (how == WHOLE)
        add_stages(out, work);
    add_time_left(out, done - at->done_before, work->planned - done, at->elapsed_ms);
}

static void write_line(buf *out, const progress_at *at, detail how)
{
    sched_counts checks = sched_count(at->run->tasks, SCHED_CONTRACT);
    sched_counts work = sched_count(at->run->tasks, SCHED_SYNTHESIZE);
    if (!at->nodes)
        buf_printf(out, "waiting for a node, %zu/%zu tasks done", sched_ended(&work), work.planned);
    else if (!sched_released(at->run->tasks))
        buf_printf(out, "checking contracts %zu/%zu", checks.state[SCHED_DONE], checks.planned);
    else
        add_work(out, at, &work, how);
    add_spend(out, at->run);
}

void progress_line(buf *out, const progress_at *at, size_t width)
{
    for (int how = WHOLE; how >= WITHOUT_BAR; how--) {
        SCOPED(buf_fini) buf line;
        buf_init(&line, LINE_MAX_BYTES);
        write_line(&line, at, (detail)how);
        if (line.size > width && how > WITHOUT_BAR) /* it is ASCII: bytes are columns */
            continue;
        glyph_add(out, buf_text(&line), width, false);
        return;
    }
}

static void draw(progress *self, const char *line, bool last)
{
    if (self->on.redraws)
        fprintf(self->out, "\r\033[K%s%s", line, last ? "\n" : "");
    else
        fprintf(self->out, "%s\n", line);
    self->drawn = self->on.redraws && !last;
    fflush(self->out);
}

/* One column less than there are: some terminals wrap as soon as the last one is taken. */
static size_t width_of(const progress *self)
{
    return self->on.redraws ? term_size_of(fileno(self->out)).width - 1 : SIZE_MAX;
}

void progress_show(progress *self, const run *now, size_t nodes, int64_t now_ms, bool last)
{
    int64_t pause = self->on.redraws ? PROGRESS_TERMINAL_MS : PROGRESS_PLAIN_MS;
    if (!last && now_ms - self->shown_ms < pause)
        return;
    SCOPED(buf_fini) buf line;
    buf_init(&line, LINE_MAX_BYTES);
    const progress_at at = {now, nodes, now_ms - self->started_ms, self->done_before};
    progress_line(&line, &at, width_of(self));
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
    SCOPED(buf_fini) buf said, line;
    buf_init(&said, SENTENCE_MAX_BYTES);
    buf_init(&line, (size_t)3 * SENTENCE_MAX_BYTES); /* a replacement has three bytes */
    va_list args;
    va_start(args, format);
    buf_vprintf(&said, format, args);
    va_end(args);
    glyph_add(&line, buf_text(&said), SIZE_MAX, self->on.utf8);
    fprintf(self->out, "%s\n", buf_text(&line));
    fflush(self->out);
}
