/* document - a run in one page
 *
 * Each section is written whole and then cut at a line, so that the page has a limit whatever a run holds.
 *
 * SPDX-License-Identifier: MIT */
#include "reports/document.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/scoped.h"
#include "common/xalloc.h"
#include "reports/leaderboard.h"
#include "reports/plot.h"
#include "reports/rerun.h"
#include "reports/text.h"

enum { SECTION_MAX = 64 * 1024 * 1024, CHANGES_MAX = 200, KINDS_MAX = 32 };

typedef struct page {
    const document_ask *ask;
    const board *b;
    const board_run *run;
    const agg_list *aggs;
} page;

/* ---- verdict ---- */

static void put_verdict(const page *p, buf *out)
{
    const run_counts *c = &p->run->counts;
    size_t correct = 0, faster = 0, slower = 0, apart = 0;
    for (size_t i = 0; i < p->aggs->count; i++) {
        apart += p->aggs->rows[i].degenerate;
        correct += p->aggs->rows[i].correct;
        faster += p->aggs->rows[i].fast[2];
        slower += p->aggs->rows[i].losses;
    }
    buf_puts(out, "# Report: ");
    text_cell(out, p->run->row.suite);
    buf_puts(out, " ");
    text_cell(out, p->run->row.suite_version);
    buf_puts(out, ", run ");
    text_cell(out, p->run->row.id);
    buf_printf(out,
               "\n\n**%s%s**: %" PRId64 " of %" PRId64
               " tasks are scored, %zu correct, %zu above 1×, "
               "%zu below",
               run_state_name(p->run->row.state), board_rankable(p->b) ? "" : ", not ranked",
               c->scored, c->planned, correct, faster, slower);
    if (apart > 0)
        buf_printf(out, "; %zu tasks of degenerate problems are not among the last three", apart);
    buf_puts(out, ".\n");
    if (p->ask->changes != NULL) {
        buf_puts(out, "\nAgainst the run before, ");
        regress_verdict(p->ask->changes, out);
    }
    buf_puts(out, "\n");
    leaderboard_claims(p->b, "> - ", out);
}

/* ---- what changed ---- */

static void put_change(const page *p, const char *what, size_t offset, buf *out)
{
    SCOPED(buf_fini) buf now = {0};
    SCOPED(buf_fini) buf was = {0};
    buf_init(&now, SECTION_MAX);
    buf_init(&was, SECTION_MAX);
    text_distinct(&now, p->b, offset);
    text_distinct(&was, p->ask->before, offset);
    if (strcmp(buf_text(&now), buf_text(&was)) == 0)
        return;
    buf_printf(out, "* %s: %s, was %s\n", what, buf_text(&now), buf_text(&was));
}

static void put_changes(const page *p, buf *out)
{
    static const struct {
        const char *what;
        size_t offset;
    } facts[] = {{"driver", offsetof(board_facts, driver)},
                 {"PyTorch", offsetof(board_facts, torch)},
                 {"NVRTC", offsetof(board_facts, nvrtc)},
                 {"baseline modes that won", offsetof(board_facts, baseline_mode)}};
    buf_puts(out, "\n## What changed\n\n");
    if (p->ask->before == NULL) {
        buf_puts(out, "Not held against another run: `--against RUN` does.\n");
        return;
    }
    const run_row *was = &p->ask->before->runs[0].row;
    buf_puts(out, "* held against run ");
    text_cell(out, was->id);
    buf_printf(out, "; the suite is %s\n",
               hash_equal(&was->suite_hash, &p->run->row.suite_hash) ? "the same"
                                                                     : "**not the same**");
    for (size_t i = 0; i < sizeof facts / sizeof facts[0]; i++)
        put_change(p, facts[i].what, facts[i].offset, out);
    if (strcmp(was->version, p->run->row.version) != 0) {
        buf_puts(out, "* ce: ");
        text_cell(out, p->run->row.version);
        buf_puts(out, ", was ");
        text_cell(out, was->version);
        buf_puts(out, "\n");
    }
}

/* ---- coverage ---- */

static size_t failures_of(const agg *a, outcome result)
{
    size_t n = 0;
    for (size_t i = 0; i < a->failure_count; i++)
        n += a->failures[i].result == result ? a->failures[i].count : 0;
    return n;
}

static bool any_failure(const agg_list *aggs, outcome result)
{
    for (size_t i = 0; i < aggs->count; i++)
        if (failures_of(&aggs->rows[i], result) > 0)
            return true;
    return false;
}

/* What is neither correct nor ended otherwise has no end yet: the columns sum to N. */
static void put_covered(const page *p, size_t index, buf *out)
{
    const agg *a = &p->aggs->rows[index];
    size_t rest = a->declared - a->correct;
    buf_puts(out, "| ");
    text_cell(out, p->b->entrants[index].row->name);
    buf_printf(out, " | %zu | %zu |", a->declared, a->correct);
    for (int o = 0; o < KINDS_MAX; o++) {
        if (!any_failure(p->aggs, (outcome)o))
            continue;
        size_t n = failures_of(a, (outcome)o);
        rest -= n;
        buf_printf(out, " %zu |", n);
    }
    buf_printf(out, " %zu |\n", rest);
}

static void put_coverage(const page *p, buf *out)
{
    size_t columns = 0;
    buf_puts(out, "\n## Coverage\n\nEvery one of N tasks (those of degenerate problems left out) "
                  "is in exactly one "
                  "column.\n\n| entrant | N | ok |");
    for (int o = 0; o < KINDS_MAX; o++)
        if (any_failure(p->aggs, (outcome)o)) {
            buf_printf(out, " %s |", outcome_name((outcome)o));
            columns++;
        }
    buf_puts(out, " no end |\n|---|--:|--:|--:|");
    for (size_t i = 0; i < columns; i++)
        buf_puts(out, "--:|");
    buf_puts(out, "\n");
    for (size_t i = 0; i < p->aggs->count; i++)
        put_covered(p, p->ask->f->ranks->order[i], out);
}

/* ---- regressions, problems, plots ---- */

static void put_regressions(const page *p, buf *out)
{
    buf_puts(out, "\n## Regressions\n\n");
    if (p->ask->changes == NULL)
        buf_puts(out, "Not looked for.\n");
    else
        regress_text(p->ask->changes, CHANGES_MAX, out);
}

static bool is_beside(const board_task *a, const board_task *b)
{
    return a->entrant == b->entrant && a->problem == b->problem;
}

/* The verdicts of a cell's samples: "faster", or "2 faster, 1 inconclusive(interval)" for several. */
static void put_verdicts(const page *p, const board_task *first, buf *out)
{
    static const char *const names[] = {"faster", "slower", "same", "inconclusive", "impossible"};
    const board_task *end = p->b->tasks + p->b->task_count;
    const char *gap = "";
    for (size_t k = 0; k < sizeof names / sizeof names[0]; k++) {
        size_t n = 0;
        const char *why = NULL;
        for (const board_task *t = first; t < end && is_beside(t, first); t++)
            if (t->verdict != NULL && strcmp(t->verdict, names[k]) == 0) {
                why = t->row->outcome.verdict_reason;
                n++;
            }
        if (n == 0)
            continue;
        buf_puts(out, gap);
        if (p->run->row.samples > 1)
            buf_printf(out, "%zu ", n);
        buf_puts(out, names[k]);
        if (why != NULL && n == 1) {
            buf_puts(out, "(");
            text_cell(out, why);
            buf_puts(out, ")");
        }
        gap = ", ";
    }
}

static void put_cell(const page *p, const grid *g, size_t problem, size_t entrant, buf *out)
{
    const grid_cell *cell = grid_at(g, problem, entrant);
    if (cell->example == NULL)
        return;
    bool single = p->run->row.samples == 1;
    buf_puts(out, "| ");
    text_cell(out, g->problems[problem]);
    buf_puts(out, " | ");
    text_cell(out, p->b->entrants[entrant].row->name);
    if (single)
        buf_puts(out, " | ");
    else
        buf_printf(out, " | %zu of %" PRId64 " | ", cell->correct, p->run->row.samples);
    if (single)
        text_outcome(out, cell->example->row);
    if (single)
        buf_puts(out, " | ");
    text_factor(out, cell->speedup);
    if (single && cell->example->ci_low > 0)
        buf_printf(out, " [%.3f, %.3f]", cell->example->ci_low, cell->example->ci_high);
    buf_puts(out, " | ");
    put_verdicts(p, cell->example, out);
    buf_puts(out, " |\n");
}

/* An interval that touches the margin decides nothing, and that is no mistake: say so where it happens. */
static void explain_inconclusive(const page *p, buf *out)
{
    for (size_t i = 0; i < p->b->task_count; i++) {
        const board_task *t = &p->b->tasks[i];
        if (t->verdict == NULL || strcmp(t->verdict, "inconclusive") != 0)
            continue;
        buf_puts(out,
                 "`inconclusive` is an answer too: the interval holds both a kernel that is beyond "
                 "the margin (1 %, or what A/A runs of that card need) and one that is not. A "
                 "kernel whose true speedup lies at the margin itself stays so however often it "
                 "is timed. It counts as correct, and as no certified win.\n\n");
        return;
    }
}

static void put_problems(const page *p, buf *out)
{
    const grid *g = p->ask->f->cells;
    buf_puts(out, "\n## Problems\n\nEvery task is in [leaderboard.md](leaderboard.md).\n\n");
    explain_inconclusive(p, out);
    buf_printf(out,
               "<details><summary>by problem and entrant</summary>\n\n"
               "| problem | entrant | %s | %s | verdict |\n|---|---|--:|--:|---|\n",
               p->run->row.samples == 1 ? "outcome" : "correct",
               p->run->row.samples == 1 ? "speedup [95 %]" : "median speedup");
    for (size_t i = 0; i < g->problem_count; i++)
        for (size_t k = 0; k < g->entrant_count; k++)
            put_cell(p, g, i, k, out);
}

static void put_plots(const page *p, buf *out)
{
    (void)p;
    buf_puts(out, "\n</details>\n\n## Plots\n\n");
    for (size_t i = 0; i < PLOT_COUNT; i++)
        buf_printf(out, "![%s](%s.svg) ([data](%s.dat))\n\n", plots[i].alt, plots[i].name,
                   plots[i].name);
}

/* ---- methods, cost, again ---- */

static void put_methods(const page *p, buf *out)
{
    buf_puts(out, "## Methods and environment\n");
    leaderboard_part_write(p->ask->f, LEADERBOARD_FACTS, out);
}

static void put_fast(const page *p, buf *out)
{
    leaderboard_part_write(p->ask->f, LEADERBOARD_FAST, out);
}

static void put_entrants(const page *p, buf *out)
{
    leaderboard_part_write(p->ask->f, LEADERBOARD_ENTRANTS, out);
}

static void put_speed(const page *p, buf *out)
{
    leaderboard_part_write(p->ask->f, LEADERBOARD_SPEED, out);
}

static void put_cost(const page *p, buf *out)
{
    double usd = 0;
    int64_t unknown = 0, calls = 0;
    for (size_t i = 0; i < p->aggs->count; i++) {
        usd += p->aggs->rows[i].cost_usd;
        unknown += p->aggs->rows[i].cost_unknown;
        calls += p->aggs->rows[i].calls;
    }
    buf_printf(out, "\n## Cost\n\n%" PRId64 " model calls, ", calls);
    text_usd(out, usd, unknown);
    buf_puts(out, ".\n");
    SCOPED(buf_fini) buf stages = {0};
    buf_init(&stages, SECTION_MAX);
    leaderboard_part_write(p->ask->f, LEADERBOARD_COST, &stages);
    buf_add(out, buf_text(&stages), stages.size);
}

/* Inside a code block nothing is escaped: what could end it, or the line, is replaced. */
static void put_code(buf *out, const buf *text)
{
    for (size_t i = 0; i < text->size; i++) {
        char c = text->data[i];
        buf_add(out, c == '`' ? "'" : (unsigned char)c < ' ' ? " " : &text->data[i], 1);
    }
}

static void put_again(const page *p, buf *out)
{
    SCOPED(buf_fini) buf again = {0};
    SCOPED(buf_fini) buf replay = {0};
    buf_init(&again, SECTION_MAX);
    buf_init(&replay, SECTION_MAX);
    rerun_command(&p->run->row, "entrants.json", &again);
    buf_puts(&replay, "ce-coord eval --suite ");
    rerun_quote(&replay, p->run->row.suite);
    buf_puts(&replay, " --model-id replay:");
    rerun_quote(&replay, p->run->row.id);
    buf_puts(out, "\n## Again\n\nThe same questions to the same entrants, with the same seed "
                  "([entrants.json](entrants.json)); then the recorded answers on another card, "
                  "without a model:\n\n```sh\n");
    put_code(out, &again);
    buf_puts(out, "\n");
    put_code(out, &replay);
    buf_puts(out, "\n```\n");
}

/* ---- the page ---- */

/* What a section may take; together less than DOCUMENT_MAX. */
static const struct {
    void (*put)(const page *p, buf *out);
    size_t max;
} sections[] = {
    {put_verdict, 4096}, {put_changes, 2048},  {put_entrants, 7168},    {put_speed, 4096},
    {put_fast, 4096},    {put_coverage, 5120}, {put_regressions, 8192}, {put_problems, 14336},
    {put_plots, 3072},   {put_methods, 4096},  {put_cost, 4096},        {put_again, 2048},
};

/* Whole lines only; what is left out is counted. */
static void put_limited(const buf *text, size_t max, buf *out)
{
    size_t shown = text->size;
    if (shown > max)
        for (shown = max; shown > 0 && text->data[shown - 1] != '\n';)
            shown--;
    buf_add(out, buf_text(text), shown);
    size_t left = 0;
    for (size_t i = shown; i < text->size; i++)
        left += text->data[i] == '\n' ? 1 : 0;
    if (left > 0)
        buf_printf(out,
                   "\n… and %zu more lines: [leaderboard.md](leaderboard.md), "
                   "[results.csv](results.csv).\n",
                   left);
}

static void put_files(const document_ask *ask, buf *out)
{
    SCOPED(buf_fini) buf list = {0};
    buf_init(&list, DOCUMENT_MAX);
    char hex[HASH_HEX];
    for (size_t i = 0; i < ask->file_count; i++) {
        hash_hex(&ask->files[i].content, hex);
        buf_printf(&list, "%s  %s\n", hex, ask->files[i].name);
    }
    const hash all = hash_of_text(buf_text(&list));
    hash_hex(&all, hex);
    buf_printf(
        out,
        "\n## Manifest\n\nSHA-256 of the files beside this page (`sha256sum -c`); pictures are "
        "drawn from the data.\n\n```\n%s```\n\nManifest hash: `%s`\n",
        buf_text(&list), hex);
}

void document_write(const document_ask *ask, buf *out)
{
    const board *b = ask->f->b;
    const page p = {ask, b, &b->runs[0], ask->f->aggs};
    for (size_t i = 0; i < sizeof sections / sizeof sections[0]; i++) {
        SCOPED(buf_fini) buf text = {0};
        buf_init(&text, SECTION_MAX);
        sections[i].put(&p, &text);
        put_limited(&text, sections[i].max, out);
    }
    put_files(ask, out);
}
