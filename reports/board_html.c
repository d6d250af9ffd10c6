/* board_html - the board as one page that needs nothing else
 *
 * SPDX-License-Identifier: MIT */
#include "reports/board_html.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "common/scoped.h"
#include "common/str.h"
#include "common/xalloc.h"
#include "reports/claimed.h"
#include "reports/columns.h"
#include "reports/html.h"
#include "reports/leaderboard.h"
#include "reports/text.h"

enum { CELL_MAX = 64 * 1024 };

typedef struct page {
    const board *b;
    columns_view view;
    const grid *cells;
    buf *out;
    bool is_site; /* links to further pages */
} page;

static void put_name(const page *p, size_t entrant)
{
    SCOPED(buf_fini) buf name = {0};
    buf_init(&name, CELL_MAX);
    columns_name(&p->view, entrant, &name);
    html_text(p->out, buf_text(&name));
}

static void open_section(const page *p, const char *id, const char *title)
{
    buf_printf(p->out, "<h2 id=\"%s\">%s</h2>\n", id, title);
}

static void put_heads(const page *p, const char *const *names, const bool *is_text, size_t count)
{
    buf_puts(p->out, "<thead><tr>");
    for (size_t i = 0; i < count; i++)
        buf_printf(p->out, "<th scope=\"col\"%s>%s</th>", is_text[i] ? " class=\"t\"" : "",
                   names[i]);
    buf_puts(p->out, "</tr></thead>\n<tbody>\n");
}

static void close_table(const page *p)
{
    buf_puts(p->out, "</tbody>\n</table></div>\n");
}

/* ---- what the numbers are worth ---- */

/* The sentences are Markdown with ** only. */
static void put_claims(const page *p)
{
    SCOPED(buf_fini) buf text = {0};
    buf_init(&text, CELL_MAX);
    leaderboard_claims(p->b, "", &text);
    str rest = {buf_text(&text), text.size}, line;
    buf_puts(p->out, "<ul class=\"claims\">\n");
    while (str_line(&rest, &line)) {
        SCOPED(buf_fini) buf plain = {0};
        buf_init(&plain, CELL_MAX);
        for (size_t i = 0; i < line.size; i++)
            if (line.data[i] != '*')
                buf_add(&plain, &line.data[i], 1);
        buf_puts(p->out, "<li>");
        html_text(p->out, buf_text(&plain));
        buf_puts(p->out, "</li>\n");
    }
    buf_puts(p->out, "</ul>\n");
}

/* ---- tables of entrants ---- */

static void put_cell(const page *p, const columns_column *c, size_t entrant)
{
    SCOPED(buf_fini) buf cell = {0};
    buf_init(&cell, CELL_MAX);
    c->put(&p->view, entrant, &cell);
    bool is_head = c->put == columns_name;
    buf_puts(p->out, is_head ? "<th scope=\"row\">" : c->is_text ? "<td class=\"t\">" : "<td>");
    html_text(p->out, buf_text(&cell));
    buf_puts(p->out, is_head ? "</th>" : "</td>");
}

static void put_column_heads(const page *p, const columns_column *columns)
{
    buf_puts(p->out, "<thead><tr>");
    for (const columns_column *c = columns; c->name != NULL; c++)
        if (columns_is_shown(&p->view, c))
            buf_printf(p->out, "<th scope=\"col\"%s>%s</th>", c->is_text ? " class=\"t\"" : "",
                       c->name);
    buf_puts(p->out, "</tr></thead>\n<tbody>\n");
}

static void put_note(const page *p, const columns_table *t)
{
    SCOPED(buf_fini) buf note = {0};
    buf_init(&note, CELL_MAX);
    if (t->note == NULL)
        return;
    t->note(&p->view, &note);
    buf_puts(p->out, "<p>");
    html_text(p->out, buf_text(&note));
    buf_puts(p->out, "</p>\n");
}

static void put_table(const page *p, columns_id id)
{
    const columns_table *t = &columns_tables[id];
    if (t->is_shown != NULL && !t->is_shown(&p->view))
        return;
    open_section(p, t->id, t->title);
    html_region(p->out, t->id, t->title);
    put_column_heads(p, t->columns);
    for (size_t i = 0; i < p->view.ranks->shown; i++) {
        buf_puts(p->out, "<tr>");
        for (const columns_column *c = t->columns; c->name != NULL; c++)
            if (columns_is_shown(&p->view, c))
                put_cell(p, c, p->view.ranks->order[i]);
        buf_puts(p->out, "</tr>\n");
    }
    close_table(p);
    put_note(p, t); /* below: on a phone figures come first */
}

static void put_aside(const page *p, void (*put)(const columns_view *v, buf *out))
{
    SCOPED(buf_fini) buf text = {0};
    buf_init(&text, CELL_MAX);
    put(&p->view, &text);
    if (text.size == 0)
        return;
    buf_puts(p->out, "<p>");
    html_text(p->out, buf_text(&text));
    buf_puts(p->out, "</p>\n");
}

static void put_unranked(const page *p)
{
    bool any = false;
    for (size_t i = 0; i < p->view.ranks->count; i++) {
        size_t entrant = p->view.ranks->order[i];
        const ranking_row *row = &p->view.ranks->rows[entrant];
        if (row->unranked == NULL)
            continue;
        buf_puts(p->out, any ? "<li>" : "<p>Not ranked:</p>\n<ul>\n<li>");
        put_name(p, entrant);
        buf_puts(p->out, row->is_apart ? ": not of this board: " : ": ");
        html_text(p->out, row->unranked);
        buf_puts(p->out, "</li>\n");
        any = true;
    }
    buf_puts(p->out, any ? "</ul>\n" : "");
}

/* ---- failures, models ---- */

static void put_failures_of(const page *p, size_t entrant)
{
    const agg *a = &p->view.aggs->rows[entrant];
    for (size_t k = 0; k < a->failure_count; k++) {
        buf_puts(p->out, "<tr><th scope=\"row\">");
        put_name(p, entrant);
        buf_printf(p->out, "</th><td class=\"t\">%s</td><td class=\"t\">",
                   outcome_name(a->failures[k].result));
        html_text(p->out, a->failures[k].stage[0] != '\0' ? a->failures[k].stage : NULL);
        buf_printf(p->out, "</td><td>%zu</td></tr>\n", a->failures[k].count);
    }
}

static void put_failures(const page *p)
{
    static const char *const names[] = {"entrant", "outcome", "stage", "count"};
    static const bool texts[] = {true, true, true, false};
    size_t count = 0;
    for (size_t e = 0; e < p->view.aggs->count; e++)
        count += p->view.aggs->rows[e].failure_count;
    if (count == 0)
        return;
    open_section(p, "failures", "Failures");
    html_region(p->out, "failures", "Failures by outcome and stage");
    put_heads(p, names, texts, 4);
    for (size_t i = 0; i < p->view.ranks->shown; i++)
        put_failures_of(p, p->view.ranks->order[i]);
    close_table(p);
}

static void put_models_of(const page *p, size_t entrant)
{
    const board_entrant *of = &p->b->entrants[entrant];
    for (size_t k = 0; k < of->run->sums.snapshots.count; k++) {
        const snapshot_row *s = &of->run->sums.snapshots.rows[k];
        if (s->entrant != of->row->id)
            continue;
        buf_puts(p->out, "<tr><th scope=\"row\">");
        put_name(p, entrant);
        buf_puts(p->out, "</th><td class=\"t\">");
        html_text(p->out, s->stage);
        buf_puts(p->out, "</td><td class=\"t\">");
        html_text(p->out, s->provider);
        buf_puts(p->out, ":");
        html_text(p->out, s->model);
        buf_puts(p->out, "</td><td class=\"t\">");
        html_text(p->out, s->served);
        buf_printf(p->out, "</td><td>%" PRId64 "</td></tr>\n", s->calls);
    }
}

static void put_models(const page *p)
{
    static const char *const names[] = {"entrant", "stage", "asked for",
                                        "answered, as the provider names it", "calls"};
    static const bool texts[] = {true, true, true, true, false};
    size_t count = 0;
    for (size_t r = 0; r < p->b->run_count; r++)
        count += p->b->runs[r].sums.snapshots.count;
    if (count == 0)
        return;
    open_section(p, "models", "Models");
    html_region(p->out, "models", "Models that answered, by entrant and stage");
    put_heads(p, names, texts, 5);
    for (size_t i = 0; i < p->view.ranks->shown; i++)
        put_models_of(p, p->view.ranks->order[i]);
    close_table(p);
}

/* ---- problems ---- */

static void put_problem_cell(const page *p, const grid_cell *cell, int64_t samples)
{
    SCOPED(buf_fini) buf text = {0};
    buf_init(&text, CELL_MAX);
    if (cell->example == NULL) {
        buf_puts(p->out, "<td class=\"soft\">–</td>");
        return;
    }
    text_factor(&text, cell->speedup);
    const char *look = isnan(cell->speedup) ? "soft" : cell->speedup < 1 ? "bad" : "good";
    buf_printf(p->out, "<td><span class=\"%s\">", look);
    html_text(p->out, buf_text(&text));
    buf_puts(p->out, "</span> ");
    if (samples > 1)
        buf_printf(p->out, "%zu/%" PRId64, cell->correct, samples);
    else if (cell->example->verdict != NULL)
        html_text(p->out, cell->example->verdict);
    else
        buf_puts(p->out, cell->example->row->state == TASK_DONE
                             ? outcome_name(cell->example->row->outcome.result)
                             : "not scored");
    buf_puts(p->out, "</td>");
}

static void put_problems(const page *p)
{
    const grid *g = p->cells;
    open_section(p, "problems", "Problems");
    buf_puts(p->out,
             "<p>Median speedup of the correct samples, then the verdict or the outcome; with "
             "several samples how many are correct.</p>\n");
    html_region(p->out, "problems", "Problems by entrant");
    buf_puts(p->out, "<thead><tr><th scope=\"col\" class=\"t\">problem</th>");
    for (size_t i = 0; i < p->view.ranks->shown; i++) {
        buf_puts(p->out, "<th scope=\"col\">");
        put_name(p, p->view.ranks->order[i]);
        buf_puts(p->out, "</th>");
    }
    buf_puts(p->out, "</tr></thead>\n<tbody>\n");
    for (size_t k = 0; k < g->problem_count; k++) {
        buf_puts(p->out, "<tr><th scope=\"row\">");
        if (p->is_site)
            buf_printf(p->out, "<a href=\"p/%zu.html\">", k + 1);
        html_text(p->out, g->problems[k]);
        buf_puts(p->out, p->is_site ? "</a></th>" : "</th>");
        for (size_t i = 0; i < p->view.ranks->shown; i++) {
            size_t e = p->view.ranks->order[i];
            put_problem_cell(p, grid_at(g, k, e), p->b->entrants[e].run->row.samples);
        }
        buf_puts(p->out, "</tr>\n");
    }
    close_table(p);
}

/* ---- what it was measured on ---- */

static void put_term(const page *p, const char *term, const char *value)
{
    buf_printf(p->out, "<dt>%s</dt><dd>", term);
    html_text(p->out, value);
    buf_puts(p->out, "</dd>\n");
}

static void put_run(const page *p, const board_run *run)
{
    char hex[HASH_HEX];
    const board_protocols used = run->protocols;
    hash_hex(&run->row.suite_hash, hex);
    if (!p->view.stable) {
        SCOPED(buf_fini) buf date = {0};
        buf_init(&date, CELL_MAX);
        text_date(&date, run->row.finished_ms);
        put_term(p, "run", run->row.id);
        put_term(p, "state", run_state_name(run->row.state));
        put_term(p, "finished", buf_text(&date));
        put_term(p, "command", run->row.command);
    }
    SCOPED(scoped_free) char *suite = xasprintf("%s %s", run->row.suite, run->row.suite_version);
    SCOPED(scoped_free)
    char *size =
        xasprintf("%zu problems × %" PRId64 " samples", run->problems.count, run->row.samples);
    put_term(p, "suite", suite);
    put_term(p, "suite hash", hex);
    put_term(p, "size", size);
    put_term(p, "checks", used.correctness);
    put_term(p, "times", used.timing);
}

static void put_distinct(const page *p, const char *term, size_t offset)
{
    SCOPED(buf_fini) buf value = {0};
    buf_init(&value, CELL_MAX);
    text_distinct_plain(&value, p->b, offset);
    put_term(p, term, buf_text(&value));
}

static void put_facts(const page *p)
{
    open_section(p, "measured-on", "Measured on");
    buf_puts(p->out, "<dl>\n");
    for (size_t r = 0; r < p->b->run_count; r++)
        put_run(p, &p->b->runs[r]);
    put_distinct(p, "device", offsetof(board_facts, device));
    put_distinct(p, "driver", offsetof(board_facts, driver));
    put_distinct(p, "PyTorch", offsetof(board_facts, torch));
    put_distinct(p, "NVRTC", offsetof(board_facts, nvrtc));
    put_distinct(p, "baseline modes that won", offsetof(board_facts, baseline_mode));
    SCOPED(buf_fini) buf looked = {0};
    buf_init(&looked, CELL_MAX);
    text_sanitizer(&looked, p->b);
    put_term(p, "compute-sanitizer", buf_text(&looked));
    buf_puts(p->out, "</dl>\n");
}

/* ---- all ---- */

static void write_page(const figures *f, bool stable, bool is_site, buf *out)
{
    const board *b = f->b;
    const ranking *ranks = f->ranks;
    const page p = {b, {b, f->aggs, ranks, stable}, f->cells, out, is_site};
    SCOPED(scoped_free)
    char *title =
        xasprintf("Leaderboard: %s %s", ranks->newest->row.suite, ranks->newest->row.suite_version);
    html_open(out, title);
    if (is_site)
        buf_puts(out,
                 "<nav aria-label=\"site\">board · <a href=\"run.html\">run and plots</a></nav>\n");
    buf_puts(out, "<h1>");
    html_text(out, title);
    buf_puts(out, "</h1>\n");
    put_claims(&p);
    put_table(&p, COLUMNS_RANKS);
    put_unranked(&p);
    put_table(&p, COLUMNS_SPEED);
    put_aside(&p, columns_gemm);
    put_aside(&p, columns_degenerate);
    put_table(&p, COLUMNS_FAST);
    put_table(&p, COLUMNS_PASS);
    put_failures(&p);
    put_table(&p, COLUMNS_COST);
    put_table(&p, COLUMNS_EFFORT);
    put_table(&p, COLUMNS_CHECKS);
    put_models(&p);
    put_problems(&p);
    claimed_html(b->claims.rows, b->claims.count, out);
    put_facts(&p);
    html_close(out);
}

void board_html_write(const figures *f, bool stable, buf *out)
{
    write_page(f, stable, false, out);
}

void board_html_site(const figures *f, buf *out)
{
    write_page(f, false, true, out);
}
