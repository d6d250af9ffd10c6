/* site - a run as pages that are plain files
 *
 * The data of the run go through a parcel (reports/parcel.h) first, from which keys were taken out: what a site
 * shows is what an evidence pack would hold. Pages: index.html (board), run.html, p/N.html (problem N),
 * t/N.html (task N of the board); report/ has the report with its pictures, x/ the texts that are too long for
 * a page.
 *
 * SPDX-License-Identifier: MIT */
#include "reports/site.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/file.h"
#include "common/scoped.h"
#include "common/xalloc.h"
#include "reports/board.h"
#include "reports/board_html.h"
#include "reports/html.h"
#include "reports/parcel.h"
#include "reports/plot.h"
#include "reports/report.h"
#include "reports/site_task.h"
#include "reports/text.h"

enum { PAGE_MAX = 256 * 1024 * 1024, CELL_MAX = 64 * 1024 };

typedef struct site {
    const board *b;
    const char *folder;
} site;

static int put_page(const site *s, const char *path, const buf *page, err *e)
{
    SCOPED(scoped_free) char *whole = file_join(s->folder, path);
    if (page->overflow)
        return err_set(e, ERR_LIMIT, "%s is larger than %zu bytes", whole, page->max);
    return file_write(whole, buf_text(page), page->size, e);
}

/* The pages one folder down: where one is, from the board on. */
static void open_page(const char *title, const char *links, buf *out)
{
    buf_init(out, PAGE_MAX);
    html_open(out, title);
    buf_puts(out, site_text_style);
    buf_puts(out, "<nav aria-label=\"site\">");
    buf_puts(out, links);
    buf_puts(out, "</nav>\n");
}

/* ---- the run ---- */

static void put_term(const char *term, const char *value, buf *out)
{
    buf_printf(out, "<dt>%s</dt><dd>", term);
    html_text(out, value);
    buf_puts(out, "</dd>\n");
}

static void put_run(const board_run *run, buf *out)
{
    char hex[HASH_HEX];
    SCOPED(buf_fini) buf began = {0};
    SCOPED(scoped_free)
    char *counts = xasprintf("%" PRId64 " planned, %" PRId64 " scored, %" PRId64 " failed",
                             run->counts.planned, run->counts.scored, run->counts.failed);
    SCOPED(scoped_free) char *seed = xasprintf("%" PRId64, run->row.seed);
    hash_hex(&run->row.suite_hash, hex);
    buf_init(&began, CELL_MAX);
    text_date(&began, run->row.created_ms);
    buf_puts(out, "<dl>\n");
    put_term("run", run->row.id, out);
    put_term("state", run_state_name(run->row.state), out);
    put_term("began", buf_text(&began), out);
    put_term("suite", run->row.suite, out);
    put_term("suite hash", hex, out);
    put_term("tasks", counts, out);
    put_term("seed", seed, out);
    put_term("command", run->row.command, out);
    put_term("ce", run->row.version, out);
    buf_puts(out, "</dl>\n");
}

static void put_plots(const site *s, buf *out)
{
    bool any = false;
    buf_puts(out, "<div class=\"plots\">\n");
    for (size_t i = 0; i < PLOT_COUNT; i++) {
        SCOPED(scoped_free)
        char *path = xasprintf("%s/report/%s.svg", s->folder, plots[i].name);
        if (!file_exists(path))
            continue;
        any = true;
        buf_printf(out,
                   "<figure><img src=\"report/%s.svg\" alt=\"%s\" width=\"480\" loading=\"lazy\">"
                   "<figcaption class=\"soft\">%s (<a href=\"report/%s.dat\">data</a>)"
                   "</figcaption></figure>\n",
                   plots[i].name, plots[i].alt, plots[i].alt, plots[i].name);
    }
    buf_puts(out, "</div>\n");
    buf_puts(out, any ? "" : "<p>None was drawn: gnuplot was not installed.</p>\n");
}

static int write_run(const site *s, err *e)
{
    static const char *const files[] = {"report.md",    "leaderboard.html", "leaderboard.md",
                                        "results.json", "results.csv",      "entrants.json"};
    SCOPED(buf_fini) buf page = {0};
    open_page("Run", "<a href=\"index.html\">board</a> · run", &page);
    buf_puts(&page, "<h1>Run</h1>\n");
    put_run(&s->b->runs[0], &page);
    buf_puts(&page, "<h2 id=\"files\">Files</h2>\n<ul>\n");
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++)
        buf_printf(&page, "<li><a href=\"report/%s\">%s</a></li>\n", files[i], files[i]);
    buf_puts(&page, "</ul>\n<h2 id=\"plots\">Plots</h2>\n");
    put_plots(s, &page);
    html_close(&page);
    return put_page(s, "run.html", &page, e);
}

/* ---- a problem ---- */

static void put_task_row(const site *s, size_t index, buf *out)
{
    const board_task *t = &s->b->tasks[index];
    SCOPED(buf_fini) buf speed = {0};
    buf_init(&speed, CELL_MAX);
    text_factor(&speed, t->speedup);
    if (!isnan(t->ci_low))
        buf_printf(&speed, " [%.3f, %.3f]", t->ci_low, t->ci_high);
    buf_printf(out, "<tr><th scope=\"row\"><a href=\"../t/%zu.html\">", index + 1);
    html_text(out, s->b->entrants[t->entrant].row->name);
    buf_printf(out, "</a></th><td>%" PRId32 "</td><td class=\"t\">", t->row->sample);
    buf_puts(out, t->row->state == TASK_DONE ? outcome_name(t->row->outcome.result) : "not scored");
    buf_puts(out, "</td><td>");
    html_text(out, buf_text(&speed));
    buf_puts(out, "</td><td class=\"t\">");
    html_text(out, t->verdict);
    buf_puts(out, "</td></tr>\n");
}

static void put_tasks(const site *s, const problem_row *problem, buf *out)
{
    buf_puts(out, "<h2 id=\"tasks\">Candidates</h2>\n");
    html_region(out, "tasks", "Candidates for this problem");
    buf_puts(out,
             "<thead><tr><th scope=\"col\" class=\"t\">entrant</th><th scope=\"col\">sample</th>"
             "<th scope=\"col\" class=\"t\">outcome</th><th scope=\"col\">speedup</th>"
             "<th scope=\"col\" class=\"t\">verdict</th></tr></thead>\n<tbody>\n");
    for (size_t i = 0; i < s->b->task_count; i++)
        if (s->b->tasks[i].problem == problem)
            put_task_row(s, i, out);
    buf_puts(out, "</tbody>\n</table></div>\n");
}

static int put_text(const site_store *texts, const char *title, const hash *name, buf *out, err *e)
{
    SCOPED(buf_fini) buf text = {0};
    char more[96];
    if (site_store_read(texts, name, &text, more, e) < 0)
        return -1;
    const site_text shown = {buf_text(&text), more[0] != '\0' ? more : NULL};
    buf_printf(out, "<h2>%s</h2>\n", title);
    site_text_plain(&shown, out);
    return 0;
}

static int write_problem(const site *s, const site_store *texts, size_t index, err *e)
{
    const problem_row *p = &s->b->runs[0].problems.rows[index];
    SCOPED(buf_fini) buf page = {0};
    SCOPED(scoped_free) char *path = xasprintf("p/%zu.html", index + 1);
    open_page(p->id,
              "<a href=\"../index.html\">board</a> · <a href=\"../run.html\">run</a> · problem",
              &page);
    buf_puts(&page, "<h1>");
    html_text(&page, p->id);
    buf_puts(&page, "</h1>\n<p>");
    html_text(&page, p->title);
    buf_puts(&page, " <span class=\"soft\">(");
    html_text(&page, p->category);
    buf_puts(&page, ", ");
    html_text(&page, p->dtype);
    buf_puts(&page, ")</span></p>\n");
    put_tasks(s, p, &page);
    const site_text contract = {p->contract, NULL};
    if (put_text(texts, "Problem text", &p->prompt, &page, e) < 0 ||
        put_text(texts, "Reference", &p->reference, &page, e) < 0)
        return -1;
    buf_puts(&page, "<h2>Contract</h2>\n");
    site_text_plain(&contract, &page);
    html_close(&page);
    return put_page(s, path, &page, e);
}

/* ---- a candidate ---- */

static int write_task(const site *s, const site_store *texts, size_t index, err *e)
{
    const board_task *t = &s->b->tasks[index];
    SCOPED(buf_fini) buf page = {0};
    SCOPED(scoped_free) char *path = xasprintf("t/%zu.html", index + 1);
    SCOPED(scoped_free)
    char *links =
        xasprintf("<a href=\"../index.html\">board</a> · <a href=\"../run.html\">run</a> · "
                  "<a href=\"../p/%td.html\">problem</a> · candidate",
                  t->problem - s->b->runs[0].problems.rows + 1);
    SCOPED(scoped_free)
    char *title = xasprintf("%s: %s", t->row->problem, s->b->entrants[t->entrant].row->name);
    open_page(title, links, &page);
    if (site_task_write(texts, s->b, t, &page, e) < 0)
        return -1;
    html_close(&page);
    return put_page(s, path, &page, e);
}

/* ---- all ---- */

static int pages_fn(store_tx *tx, void *arg, err *e)
{
    const site *s = arg;
    const site_store texts = {tx, s->folder};
    for (size_t i = 0; i < s->b->runs[0].problems.count; i++)
        if (write_problem(s, &texts, i, e) < 0)
            return -1;
    for (size_t i = 0; i < s->b->task_count; i++)
        if (write_task(s, &texts, i, e) < 0)
            return -1;
    return 0;
}

static int make_folders(const char *folder, err *e)
{
    static const char *const parts[] = {"p", "t"};
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        SCOPED(scoped_free) char *path = file_join(folder, parts[i]);
        if (file_mkdirs(path, e) < 0)
            return -1;
    }
    return 0;
}

static int write_site(const parcel *data, const char *folder, err *e)
{
    const char *run = data->counts.run;
    const board_ask ask = {.runs = &run, .run_count = 1};
    const report_ask whole = {.run = run};
    SCOPED(scoped_free) char *report = file_join(folder, "report");
    SCOPED(board_destroy) board *b = board_read(data->db, &ask, e);
    if (b == NULL || make_folders(folder, e) < 0 ||
        report_write_all(data->db, &whole, report, e) < 0)
        return -1;
    site s = {b, folder};
    SCOPED(buf_fini) buf index = {0};
    buf_init(&index, PAGE_MAX);
    SCOPED(figures_destroy) figures *f = figures_create(b);
    board_html_site(f, &index);
    if (put_page(&s, "index.html", &index, e) < 0 || write_run(&s, e) < 0)
        return -1;
    return store_run(data->db, pages_fn, &s, e);
}

int site_write_pack(const char *pack, const char *folder, err *e)
{
    SCOPED(parcel_close) parcel data = {.db = NULL};
    if (parcel_open(pack, &data, e) < 0)
        return err_wrap(e, "%s", pack);
    return write_site(&data, folder, e);
}

int site_write(store *db, const char *run, keyscan_list known, const char *folder, err *e)
{
    parcel_counts counts;
    char place[] = "/tmp/ce-site-XXXXXX";
    if (mkdtemp(place) == NULL)
        return err_errno(e, errno, "%s", place);
    int rc = parcel_write(db, run, known, place, &counts, e);
    if (rc == 0)
        rc = site_write_pack(place, folder, e);
    file_remove_tree(place, NULL);
    return rc;
}
