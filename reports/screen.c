/* screen - head, three lists, and how they share the height
 *
 * A list that does not fit ends with "… and N more". Lists get rows in turn until the height is used up, so a
 * long one cannot push a short one out.
 *
 * SPDX-License-Identifier: MIT */
#include "reports/screen.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/glyph.h"
#include "common/json.h"
#include "common/scoped.h"
#include "common/xalloc.h"
#include "reports/columned.h"
#include "reports/text.h"

enum {
    TEXT_MAX = 64 * 1024,
    BAR_MIN = 10,
    BAR_MAX = 40,
    LISTS = 3,
    ROOMY = 4 /* rows a list: from here on empty lines stand between them */
};

typedef enum style { PLAIN, TITLE, WARNING, FAULT } style;

/* What is being written. */
typedef struct page {
    buf *out;
    const screen_shape *shape;
    size_t left; /* lines that are still free */
} page;

/* ---- lines ---- */

/* One line, cut to the width; `text` may hold foreign text. */
static void put_line(page *p, style how, const char *text)
{
    static const char *const begin[] = {"", "\033[1m", "\033[33m", "\033[31m"};
    if (p->left == 0)
        return;
    p->left--;
    bool painted = p->shape->colour && how != PLAIN;
    buf_puts(p->out, painted ? begin[how] : "");
    glyph_add(p->out, text, p->shape->width, p->shape->utf8);
    buf_puts(p->out, painted ? "\033[0m\n" : "\n");
}

/* Seconds. */
static const int64_t minute = 60, hour = 3600, day = 86400;

static void add_span(buf *out, int64_t ms)
{
    const int64_t s = ms > 0 ? ms / 1000 : 0;
    if (s < minute)
        buf_printf(out, "%" PRId64 " s", s);
    else if (s < hour)
        buf_printf(out, "%" PRId64 " min", s / minute);
    else if (s < 2 * day)
        buf_printf(out, "%.1f h", (double)s / (double)hour);
    else
        buf_printf(out, "%" PRId64 " d", s / day);
}

static char *span(int64_t ms)
{
    buf out;
    buf_init(&out, TEXT_MAX);
    add_span(&out, ms);
    return buf_take(&out);
}

/* ---- the head ---- */

static void add_done(buf *out, const moment *m)
{
    buf_printf(out, "%" PRId64 "/%" PRId64 " done", m->tally.done, m->tally.planned);
}

static void add_results(buf *out, const moment *m)
{
    buf_printf(out, ", %" PRId64 " correct", m->tally.correct);
    if (m->tally.failed > 0)
        buf_printf(out, ", %" PRId64 " given up", m->tally.failed);
}

void screen_left(buf *out, const moment *m)
{
    const int64_t left = moment_left_ms(m);
    if (left < 0)
        return;
    buf_puts(out, ", about ");
    add_span(out, left);
    buf_puts(out, " left");
}

/* What is most wanted comes first: a narrow terminal cuts the rest. */
static void add_money(buf *out, const moment *m)
{
    const spend_row *s = &m->spend;
    text_usd(out, s->cost_usd, s->cost_unknown);
    if (m->run.budget_usd > 0)
        buf_printf(out, " of $%.4f (%.1f %%)", m->run.budget_usd,
                   100 * (s->cost_usd + s->unknown_usd) / m->run.budget_usd);
    buf_printf(out, ", %" PRId64 " call%s", s->calls, s->calls == 1 ? "" : "s");
    text_usd_beside(out, s->unknown_usd, s->unknown_calls);
}

static void put_progress(page *p, const moment *m)
{
    SCOPED(buf_fini) buf counts, line;
    buf_init(&counts, TEXT_MAX);
    buf_init(&line, TEXT_MAX);
    add_done(&counts, m);
    screen_left(&counts, m);
    add_results(&counts, m);
    const size_t beside = counts.size + 3; /* ASCII; two brackets and a space */
    size_t bar = p->shape->width > beside ? p->shape->width - beside : 0;
    bar = bar > BAR_MAX ? BAR_MAX : bar;
    if (bar >= BAR_MIN)
        text_bar(&line, bar, (size_t)(m->tally.done + m->tally.failed), (size_t)m->tally.planned);
    buf_puts(&line, buf_text(&counts));
    put_line(p, PLAIN, buf_text(&line));
}

static size_t nodes_up(const moment *m)
{
    size_t up = 0;
    for (size_t i = 0; i < m->nodes.count; i++)
        up += moment_is_up(m, &m->nodes.rows[i]);
    return up;
}

/* Why nothing moves at all; NULL: it does, as far as is known. */
static const char *standstill(const moment *m)
{
    if (moment_over(m))
        return NULL;
    if (m->attended_ms == 0)
        return "waiting for the coordinator: none has this database open";
    return nodes_up(m) == 0 ? "waiting for a node: none is up" : NULL;
}

static void put_notes(page *p, const moment *m)
{
    const char *why = standstill(m);
    if (why != NULL)
        put_line(p, WARNING, why);
    if (m->run.state != RUN_CHECKING || m->tally.contracts == 0)
        return;
    SCOPED(scoped_free)
    char *text = xasprintf("checking contracts first: %" PRId64 " of %" PRId64 " done",
                           m->tally.contracts_done, m->tally.contracts);
    put_line(p, WARNING, text);
}

static void put_head(page *p, const moment *m)
{
    SCOPED(buf_fini) buf line, money;
    buf_init(&line, TEXT_MAX);
    buf_init(&money, TEXT_MAX);
    buf_printf(&line, "run %s %s, %s %s on %s, ", m->run.id, run_state_name(m->run.state),
               m->run.suite, m->run.suite_version, m->run.device);
    add_span(&line, (m->run.finished_ms > 0 ? m->run.finished_ms : m->now_ms) - m->run.created_ms);
    put_line(p, TITLE, buf_text(&line));
    put_progress(p, m);
    add_money(&money, m);
    put_line(p, PLAIN, buf_text(&money));
    put_notes(p, m);
}

/* ---- lists ---- */

typedef struct list {
    char *title;
    columned table;
    int64_t total; /* rows that there are; the table may hold fewer */
    style *styles; /* of the table's rows */
} list;

static void list_fini(list *self)
{
    free(self->title);
    free(self->styles);
    columned_fini(&self->table);
}

static char *sample_of(const live_task *t)
{
    return t->entrant != NULL ? xasprintf("#%" PRId64, t->sample) : NULL;
}

static const char *entrant_of(const live_task *t)
{
    return t->entrant != NULL ? t->entrant : "contract check";
}

static void fill_running(list *self, const moment *m)
{
    /* problem, entrant, sample, stage, node, since, lease */
    static const columned_column columns[] = {{10, 9}, {10, 5}, {2, 3}, {15, 7},
                                              {6, 6},  {4, 8},  {7, 4}};
    columned_init(&self->table, columns, sizeof columns / sizeof columns[0]);
    for (size_t i = 0; i < m->running.count; i++) {
        const live_task *t = &m->running.rows[i];
        char *const cells[] = {
            xstrdup(t->problem),
            xstrdup(entrant_of(t)),
            sample_of(t),
            t->stage != NULL ? xasprintf("after %s", t->stage) : xstrdup("begun"),
            t->node != NULL ? xasprintf("on %s", t->node) : NULL,
            t->since_ms > 0 ? span(m->now_ms - t->since_ms) : NULL,
            t->leases > 1 ? xasprintf("lease %" PRId64, t->leases) : NULL,
        };
        columned_add(&self->table, cells);
    }
    self->total = m->tally.leased;
    self->title = xasprintf("running: %" PRId64, self->total);
}

static char *reason_of(const moment *m, const live_task *t)
{
    if (m->attended_ms == 0)
        return xstrdup("for the coordinator");
    if (m->run.opened == 0)
        return xstrdup("for the runs before it");
    if (nodes_up(m) == 0)
        return xstrdup("for a node");
    if (t->entrant != NULL && m->tally.contracts_done < m->tally.contracts)
        return xstrdup("for the contract checks");
    if (t->error != NULL)
        return xasprintf("for lease %" PRId64 ", after: %s", t->leases + 1, t->error);
    if (t->leases > 0)
        return xasprintf("for lease %" PRId64 ", the one before was lost", t->leases + 1);
    return xstrdup("for a free place");
}

static void fill_waiting(list *self, const moment *m)
{
    /* problem, entrant, sample, reason */
    static const columned_column columns[] = {{10, 9}, {10, 5}, {2, 3}, {19, 8}};
    columned_init(&self->table, columns, sizeof columns / sizeof columns[0]);
    for (size_t i = 0; i < m->waiting.count && !moment_over(m); i++) {
        const live_task *t = &m->waiting.rows[i];
        char *const cells[] = {xstrdup(t->problem), xstrdup(entrant_of(t)), sample_of(t),
                               reason_of(m, t)};
        columned_add(&self->table, cells);
    }
    self->total = moment_over(m) ? 0 : m->tally.waiting;
    self->title = moment_over(m) && m->tally.waiting > 0
                      ? xasprintf("not begun: %" PRId64, m->tally.waiting)
                      : xasprintf("waiting: %" PRId64, self->total);
}

/* "cuda NVIDIA H200, emu": the lanes that can run, else why the first one cannot. */
static char *lanes_of(const live_node *n)
{
    SCOPED(json_destroy)
    json *devices = json_parse_tree(n->devices, strlen(n->devices), "devices", NULL);
    const char *why = "";
    buf out;
    buf_init(&out, TEXT_MAX);
    for (size_t i = 0; i < json_size(devices); i++) {
        const json *one = json_at(devices, i);
        const char *reason = json_str(json_get(one, "reason"), "");
        const char *name = json_str(json_get(one, "name"), "");
        if (*reason != '\0') {
            why = *why != '\0' ? why : reason;
            continue;
        }
        buf_printf(&out, "%s%s%s%s", out.size > 0 ? ", " : "", json_str(json_get(one, "kind"), ""),
                   *name != '\0' ? " " : "", name);
    }
    if (out.size == 0 && *why != '\0')
        buf_printf(&out, "none: %s", why);
    return buf_take(&out);
}

/* What is wrong comes before what is well. */
static char *health_of(const moment *m, const live_node *n)
{
    buf out;
    buf_init(&out, TEXT_MAX);
    if (n->failure != NULL)
        buf_printf(&out, "self-test failed: %s", n->failure);
    if (n->fault != NULL)
        buf_printf(&out, "%slast fault: %s", out.size > 0 ? "; " : "", n->fault);
    if (n->failure == NULL && n->tested_ms > 0) {
        buf_printf(&out, "%sself-test passed ", out.size > 0 ? "; " : "");
        add_span(&out, m->now_ms - n->tested_ms);
        buf_puts(&out, " ago");
    }
    return buf_take(&out);
}

static style style_of(const live_node *n)
{
    if (strcmp(n->state, "lost") == 0 || n->failure != NULL)
        return FAULT;
    return n->fault != NULL ? WARNING : PLAIN;
}

/* "up 3 min", "lost 3 min", or "away": an earlier coordinator had it, and this one has not, or there is none. */
static char *state_of(const moment *m, const live_node *n)
{
    const bool up = moment_is_up(m, n);
    if (!up && strcmp(n->state, "up") == 0)
        return xstrdup("away");
    SCOPED(scoped_free) char *since = span(m->now_ms - (up ? n->joined_ms : n->seen_ms));
    return xasprintf("%s %s", n->state, since);
}

/* Nodes that went before the run began are nobody's concern. */
static bool is_shown(const moment *m, const live_node *n)
{
    return moment_is_up(m, n) || n->held > 0 || n->seen_ms >= m->run.created_ms;
}

static void fill_nodes(list *self, const moment *m)
{
    /* name, state and since when, lanes, tasks, health */
    static const columned_column columns[] = {{8, 9}, {8, 8}, {8, 5}, {9, 7}, {20, 6}};
    columned_init(&self->table, columns, sizeof columns / sizeof columns[0]);
    self->styles = xcalloc(m->nodes.count + 1, sizeof *self->styles);
    for (size_t i = 0; i < m->nodes.count; i++) {
        const live_node *n = &m->nodes.rows[i];
        if (!is_shown(m, n))
            continue;
        char *const cells[] = {
            xstrdup(n->name),
            state_of(m, n),
            lanes_of(n),
            n->held > 0 ? xasprintf("%" PRId64 " running", n->held) : xstrdup("idle"),
            health_of(m, n),
        };
        columned_add(&self->table, cells);
        self->styles[self->table.rows - 1] = style_of(n);
    }
    const size_t up = nodes_up(m);
    self->total = (int64_t)self->table.rows;
    self->title = xasprintf("nodes: %zu up, %zu gone", up, self->table.rows - up);
}

/* ---- how lists share the height ---- */

static int64_t need(const list *self)
{
    return self->total > (int64_t)self->table.rows ? (int64_t)self->table.rows + 1 : self->total;
}

/* Rows for each list, one at a time in turn. */
static void share(const list lists[LISTS], size_t room, size_t rows[LISTS])
{
    bool given = true;
    memset(rows, 0, LISTS * sizeof rows[0]);
    while (room > 0 && given) {
        given = false;
        for (size_t i = 0; i < LISTS && room > 0; i++) {
            if ((int64_t)rows[i] >= need(&lists[i]))
                continue;
            rows[i]++;
            room--;
            given = true;
        }
    }
}

static void put_rows(page *p, const list *self, size_t rows)
{
    const bool all = (int64_t)rows >= self->total;
    /* With one line only, a task says more than how many there are, which the title does. */
    const size_t shown = all || rows < 2 ? rows : rows - 1;
    size_t widths[COLUMNED_MAX];
    columned_widths(&self->table, p->shape->width, p->shape->utf8, widths);
    for (size_t i = 0; i < shown && i < self->table.rows; i++) {
        SCOPED(buf_fini) buf line;
        buf_init(&line, TEXT_MAX);
        columned_row(&self->table, i, widths, p->shape->utf8, &line);
        put_line(p, self->styles != NULL ? self->styles[i] : PLAIN, buf_text(&line));
    }
    if (shown == rows)
        return;
    SCOPED(scoped_free)
    char *more = xasprintf("%s and %" PRId64 " more", p->shape->utf8 ? "\xe2\x80\xa6" : "...",
                           self->total - (int64_t)shown);
    put_line(p, PLAIN, more);
}

static void put_lists(page *p, const list lists[LISTS])
{
    const bool roomy = p->left >= (size_t)LISTS * ROOMY;
    const size_t titles = roomy ? 2 * (size_t)LISTS : LISTS;
    size_t rows[LISTS];
    share(lists, p->left > titles ? p->left - titles : 0, rows);
    for (size_t i = 0; i < LISTS; i++) {
        if (roomy)
            put_line(p, PLAIN, "");
        put_line(p, TITLE, lists[i].title);
        put_rows(p, &lists[i], rows[i]);
    }
}

void screen_draw(buf *out, const moment *m, const screen_shape *shape)
{
    static const char keys[] = "q: quit";
    static void (*const fill[LISTS])(list *, const moment *) = {fill_running, fill_nodes,
                                                                fill_waiting};
    list lists[LISTS] = {{0}};
    page p = {out, shape, shape->height};
    put_head(&p, m);
    const bool foot = shape->keys && p.left > (size_t)LISTS * ROOMY;
    p.left -= foot ? 1 : 0;
    for (size_t i = 0; i < LISTS; i++)
        fill[i](&lists[i], m);
    put_lists(&p, lists);
    for (size_t i = 0; i < LISTS; i++)
        list_fini(&lists[i]);
    p.left += foot ? 1 : 0;
    while (foot && p.left > 1)
        put_line(&p, PLAIN, "");
    if (foot)
        put_line(&p, PLAIN, keys);
}

void screen_sentence(buf *out, const moment *m, bool utf8)
{
    SCOPED(buf_fini) buf line;
    buf_init(&line, TEXT_MAX);
    buf_printf(&line, "%s %s: ", m->run.id, run_state_name(m->run.state));
    add_done(&line, m);
    add_results(&line, m);
    buf_printf(&line, ", %" PRId64 " running, %" PRId64 " waiting, %zu node%s up, ",
               m->tally.leased, m->tally.waiting, nodes_up(m), nodes_up(m) == 1 ? "" : "s");
    add_money(&line, m);
    const char *why = standstill(m);
    if (why != NULL)
        buf_printf(&line, "; %s", why);
    glyph_add(out, buf_text(&line), SIZE_MAX, utf8);
}
