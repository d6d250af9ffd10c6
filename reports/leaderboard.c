/* leaderboard - the board in Markdown
 *
 * SPDX-License-Identifier: MIT */
#include "reports/leaderboard.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "common/scoped.h"
#include "reports/claimed.h"
#include "reports/columns.h"
#include "reports/text.h"

enum { CELL_MAX = 64 * 1024 };

/* What is being written. */
typedef struct page {
    const board *b;
    columns_view view;
    bool stable;
    buf *out;
} page;

/* ---- what the numbers are worth ---- */

static bool any_mark(const board *b, const char *mark)
{
    for (size_t i = 0; i < b->task_count; i++) {
        const char *marks = b->tasks[i].row->outcome.marks;
        if (marks != NULL && strstr(marks, mark) != NULL)
            return true;
    }
    return false;
}

static void claim_protocol(const board *b, const char *prefix, buf *out)
{
    const board_protocols used = b->runs[0].protocols;
    bool uncertified = (used.timing != NULL && strcmp(used.timing, "ce-timing-0") == 0) ||
                       any_mark(b, "uncertified");
    buf_puts(out, prefix);
    if (uncertified)
        buf_puts(out, "**uncertified**: ");
    buf_printf(out, "checked by %s, %s%s%s.\n", used.correctness,
               used.timing != NULL ? "timed by " : "not timed",
               used.timing != NULL ? used.timing : "",
               uncertified ? ", whose medians have no interval and no verdict" : "");
}

static void claim_samples(const board *b, const char *prefix, buf *out)
{
    int64_t least = b->runs[0].row.samples;
    for (size_t i = 1; i < b->run_count; i++)
        least = b->runs[i].row.samples < least ? b->runs[i].row.samples : least;
    if (least < BOARD_PROVISIONAL_BELOW)
        buf_printf(out, "%sprovisional: %" PRId64 " sample%s a problem; a board needs %d.\n",
                   prefix, least, least == 1 ? "" : "s", BOARD_PROVISIONAL_BELOW);
}

static void claim_progress(const board *b, const char *prefix, buf *out)
{
    int64_t planned = 0, scored = 0;
    for (size_t i = 0; i < b->run_count; i++) {
        planned += b->runs[i].counts.planned;
        scored += b->runs[i].counts.scored;
    }
    if (scored < planned || planned == 0)
        buf_printf(out,
                   "%sincomplete: %" PRId64 " of %" PRId64
                   " tasks are scored. Tasks that are not count as not correct.\n",
                   prefix, scored, planned);
}

static void claim_device(const board *b, const char *prefix, buf *out)
{
    if (board_any_kind(b, "fake"))
        buf_printf(out,
                   "%sfake device: scripted outcomes, and scripted times, not a measurement. Never "
                   "ranked; only outcomes are shown.\n",
                   prefix);
    if (board_any_kind(b, "emu"))
        buf_printf(
            out,
            "%semulator: correctness only, at most 24 shapes of at most 64 Ki elements, never the "
            "benchmark shape. Speed is not measured on emu; never ranked.\n",
            prefix);
}

static void claim_redacted(const board *b, const char *prefix, buf *out)
{
    for (size_t i = 0; i < b->run_count; i++)
        if (b->runs[i].row.redacted_ms > 0) {
            buf_printf(
                out,
                "%sredacted: the references and transcripts of a run shown here were removed "
                "from the database; hashes and scores stay.\n",
                prefix);
            return;
        }
}

void leaderboard_claims(const board *b, const char *prefix, buf *out)
{
    claim_protocol(b, prefix, out);
    claim_device(b, prefix, out);
    claim_samples(b, prefix, out);
    claim_progress(b, prefix, out);
    claim_redacted(b, prefix, out);
}

/* ---- facts ---- */

static void facts_of_run(const page *p, const board_run *run)
{
    buf *out = p->out;
    char hex[HASH_HEX];
    hash_hex(&run->row.suite_hash, hex);
    if (!p->stable) {
        buf_printf(out, "| run | %s, %s, started ", run->row.id, run_state_name(run->row.state));
        text_date(out, run->row.created_ms);
        buf_puts(out, ", finished ");
        text_date(out, run->row.finished_ms);
        buf_puts(out, " |\n");
    }
    buf_puts(out, "| suite | ");
    text_cell(out, run->row.suite);
    buf_puts(out, " ");
    text_cell(out, run->row.suite_version);
    buf_printf(out, ", %s |\n| size | N = %zu problems × %" PRId64 " samples |\n", hex,
               run->problems.count, run->row.samples);
    if (!p->stable) {
        buf_printf(out, "| seed | %" PRId64 " |\n| command | ", run->row.seed);
        text_cell(out, run->row.command);
        buf_printf(out, " (ce %s) |\n", run->row.version);
    }
}

static void fact(const page *p, const char *name, size_t offset)
{
    buf_printf(p->out, "| %s | ", name);
    text_distinct(p->out, p->b, offset);
    buf_puts(p->out, " |\n");
}

static void write_facts(const page *p)
{
    static const struct {
        const char *name;
        size_t offset;
    } facts[] = {
        {"device", offsetof(board_facts, device)},
        {"device kind", offsetof(board_facts, device_kind)},
        {"driver", offsetof(board_facts, driver)},
        {"PyTorch", offsetof(board_facts, torch)},
        {"NVRTC", offsetof(board_facts, nvrtc)},
        {"correctness", offsetof(board_facts, correct_protocol)},
        {"timing", offsetof(board_facts, timing_protocol)},
        {"baseline modes that won", offsetof(board_facts, baseline_mode)},
    };
    buf_puts(p->out, "\n| | |\n|---|---|\n");
    for (size_t i = 0; i < p->b->run_count; i++)
        facts_of_run(p, &p->b->runs[i]);
    for (size_t i = 0; i < sizeof facts / sizeof facts[0]; i++)
        fact(p, facts[i].name, facts[i].offset);
    SCOPED(buf_fini) buf looked = {0};
    buf_init(&looked, CELL_MAX);
    text_sanitizer(&looked, p->b);
    buf_puts(p->out, "| compute-sanitizer | ");
    text_cell(p->out, buf_text(&looked));
    buf_puts(p->out, " |\n");
    buf_puts(
        p->out,
        "| baseline rule | the fastest mode of PyTorch that ran: eager, torch.compile "
        "default or max-autotune-no-cudagraphs; speedup = baseline / candidate at the "
        "benchmark shape: with a verdict the estimate from pairs and [its 95 % interval], else "
        "the ratio of medians |\n");
}

/* ---- tables of entrants ---- */

static void entrant_name(const page *p, size_t index)
{
    SCOPED(buf_fini) buf name = {0};
    buf_init(&name, CELL_MAX);
    columns_name(&p->view, index, &name);
    text_cell(p->out, buf_text(&name));
}

static size_t entrant_at(const page *p, size_t line)
{
    return p->view.ranks->order[line];
}

static const agg *agg_at(const page *p, size_t line)
{
    return &p->view.aggs->rows[entrant_at(p, line)];
}

static void put_cell(const page *p, const columns_column *column, size_t entrant)
{
    SCOPED(buf_fini) buf cell = {0};
    buf_init(&cell, CELL_MAX);
    column->put(&p->view, entrant, &cell);
    buf_puts(p->out, " ");
    if (column->is_foreign)
        text_cell(p->out, buf_text(&cell));
    else
        buf_add(p->out, buf_text(&cell), cell.size);
    buf_puts(p->out, " |");
}

static void put_heads(const page *p, const columns_column *columns)
{
    buf_puts(p->out, "|");
    for (const columns_column *c = columns; c->name != NULL; c++)
        if (columns_is_shown(&p->view, c))
            buf_printf(p->out, " %s |", c->name);
    buf_puts(p->out, "\n|");
    for (const columns_column *c = columns; c->name != NULL; c++)
        if (columns_is_shown(&p->view, c))
            buf_puts(p->out, c->is_text ? "---|" : "--:|");
    buf_puts(p->out, "\n");
}

static void put_table(const page *p, columns_id id)
{
    const columns_table *t = &columns_tables[id];
    if (t->is_shown != NULL && !t->is_shown(&p->view))
        return;
    buf_printf(p->out, "\n## %s\n\n", t->title);
    if (t->note != NULL) {
        t->note(&p->view, p->out);
        buf_puts(p->out, "\n\n");
    }
    put_heads(p, t->columns);
    for (size_t i = 0; i < p->view.ranks->shown; i++) {
        buf_puts(p->out, "|");
        for (const columns_column *c = t->columns; c->name != NULL; c++)
            if (columns_is_shown(&p->view, c))
                put_cell(p, c, entrant_at(p, i));
        buf_puts(p->out, "\n");
    }
}

static void write_unranked(const page *p)
{
    bool any = false;
    for (size_t i = 0; i < p->view.ranks->count; i++) {
        const ranking_row *row = &p->view.ranks->rows[entrant_at(p, i)];
        if (row->unranked == NULL)
            continue;
        buf_puts(p->out, any ? "* " : "\nNot ranked:\n\n* ");
        entrant_name(p, entrant_at(p, i));
        buf_puts(p->out, row->is_apart ? ": not of this board: " : ": ");
        text_cell(p->out, row->unranked);
        if (row->is_apart && !p->stable) {
            buf_puts(p->out, "; its board: `ce-coord leaderboard ");
            text_cell(p->out, p->b->entrants[entrant_at(p, i)].run->row.id);
            buf_puts(p->out, "`");
        }
        buf_puts(p->out, "\n");
        any = true;
    }
}

static void write_entrants(const page *p)
{
    put_table(p, COLUMNS_RANKS);
    write_unranked(p);
}

/* ---- models ---- */

static void put_model(const page *p, size_t index, const snapshot_row *s)
{
    buf *out = p->out;
    buf_puts(out, "| ");
    entrant_name(p, index);
    buf_printf(out, " | %s | ", s->stage);
    text_cell(out, s->provider);
    buf_puts(out, ":");
    text_cell(out, s->model);
    buf_puts(out, " | ");
    text_cell(out, s->served);
    buf_printf(out, " | %" PRId64 " |\n", s->calls);
}

/* The exact models: what was asked for may be a name that moves. */
static void write_models(const page *p)
{
    bool any = false;
    for (size_t i = 0; i < p->view.ranks->shown; i++) {
        const board_entrant *entrant = &p->b->entrants[entrant_at(p, i)];
        const snapshot_list *list = &entrant->run->sums.snapshots;
        for (size_t k = 0; k < list->count; k++) {
            if (list->rows[k].entrant != entrant->row->id)
                continue;
            if (!any)
                buf_puts(p->out, "\n## Models\n\n| entrant | stage | asked for | answered, as the "
                                 "provider names it | calls |\n|---|---|---|---|--:|\n");
            any = true;
            put_model(p, entrant_at(p, i), &list->rows[k]);
        }
    }
}

/* A paragraph with foreign words in it. */
static void put_aside(const page *p, void (*put)(const columns_view *v, buf *out))
{
    SCOPED(buf_fini) buf text = {0};
    buf_init(&text, CELL_MAX);
    put(&p->view, &text);
    if (text.size == 0)
        return;
    buf_puts(p->out, "\n");
    text_cell(p->out, buf_text(&text));
    buf_puts(p->out, "\n");
}

static bool cost_any(const board *b)
{
    for (size_t i = 0; i < b->run_count; i++)
        for (size_t k = 0; k < b->runs[i].sums.spend.count; k++) {
            const spend_row *s = &b->runs[i].sums.spend.rows[k];
            if (s->cost_usd > 0 || s->cost_unknown > 0 || s->unknown_calls > 0)
                return true;
        }
    return false;
}

static void write_spend_of(const page *p, size_t index)
{
    const board_entrant *entrant = &p->b->entrants[index];
    const spend_list *spend = &entrant->run->sums.spend;
    for (size_t i = 0; i < spend->count; i++) {
        const spend_row *s = &spend->rows[i];
        if (s->entrant != entrant->row->id)
            continue;
        buf_puts(p->out, "| ");
        entrant_name(p, index);
        buf_printf(p->out, " | %s | %s | %" PRId64 " | ", s->stage, s->provider, s->calls);
        text_count(p->out, s->tokens_in + s->tokens_cache_read + s->tokens_cache_write);
        buf_puts(p->out, " (");
        text_count(p->out, s->tokens_cache_read);
        buf_puts(p->out, ") / ");
        text_count(p->out, s->tokens_out);
        buf_puts(p->out, " | ");
        text_usd(p->out, s->cost_usd, s->cost_unknown);
        text_usd_beside(p->out, s->unknown_usd, s->unknown_calls);
        if (!p->stable && s->calls > 0)
            buf_printf(p->out, " | %.1f s", s->latency_ms / 1000.0 / (double)s->calls);
        else if (!p->stable)
            buf_puts(p->out, " | –");
        buf_puts(p->out, " |\n");
    }
}

static void write_spend(const page *p)
{
    if (!cost_any(p->b))
        return;
    buf_puts(
        p->out,
        "\n## Cost by stage\n\n| entrant | stage | provider | calls | tokens in (cached) / out "
        "| cost |");
    buf_puts(p->out, p->stable ? "\n|---|---|---|--:|--:|--:|\n"
                               : " time a call |\n|---|---|---|--:|--:|--:|--:|\n");
    for (size_t i = 0; i < p->view.ranks->shown; i++)
        write_spend_of(p, entrant_at(p, i));
}

static void write_failures(const page *p)
{
    bool any = false;
    for (size_t i = 0; i < p->view.ranks->shown; i++) {
        const agg *a = agg_at(p, i);
        for (size_t k = 0; k < a->failure_count; k++) {
            if (!any)
                buf_puts(p->out, "\n## Failures\n\n| entrant | outcome | stage | count |\n"
                                 "|---|---|---|--:|\n");
            any = true;
            buf_puts(p->out, "| ");
            entrant_name(p, entrant_at(p, i));
            buf_printf(p->out, " | %s | ", outcome_name(a->failures[k].result));
            text_cell(p->out, a->failures[k].stage[0] != '\0' ? a->failures[k].stage : NULL);
            buf_printf(p->out, " | %zu |\n", a->failures[k].count);
        }
    }
}

/* ---- tasks ---- */

/* The factor, its interval and the verdict; rows of before there were verdicts have the factor only. */
static void write_speed(buf *out, const board_task *t)
{
    const char *reason = t->row->outcome.verdict_reason;
    text_factor(out, t->speedup);
    if (!isnan(t->ci_low))
        buf_printf(out, " [%.3f, %.3f]", t->ci_low, t->ci_high);
    if (t->verdict == NULL)
        buf_puts(out, t->speedup < 1 ? " slower" : "");
    else if (reason == NULL)
        buf_printf(out, " %s", t->verdict);
    else
        buf_printf(out, " %s(%s)", t->verdict, reason);
}

static void write_task(const page *p, const board_task *t)
{
    buf *out = p->out;
    buf_puts(out, "| ");
    text_cell(out, t->row->problem);
    buf_puts(out, " | ");
    entrant_name(p, t->entrant);
    buf_puts(out, " | ");
    buf_int(out, t->row->sample);
    buf_puts(out, " | ");
    text_outcome(out, t->row);
    buf_puts(out, " | ");
    write_speed(out, t);
    buf_puts(out, " | ");
    text_ms(out, t->candidate_ms);
    buf_puts(out, " | ");
    text_ms(out, t->baseline_ms);
    buf_puts(out, " | ");
    text_cell(out, isnan(t->baseline_ms) ? NULL : t->row->facts->baseline_mode);
    buf_puts(out, " | ");
    buf_int(out, t->usage->attempts);
    buf_puts(out, " | ");
    buf_int(out, t->usage->calls);
    buf_puts(out, " | ");
    text_cell(out, t->reason != NULL ? t->reason : "");
    buf_puts(out, " |\n");
}

static void write_tasks(const page *p)
{
    buf_puts(p->out,
             "\n## Tasks\n\n| problem | entrant | sample | outcome | speedup | candidate ms "
             "| baseline ms | mode | attempts | calls | why no speedup |\n"
             "|---|---|--:|---|--:|--:|--:|---|--:|--:|---|\n");
    for (size_t i = 0; i < p->b->task_count; i++)
        if (!p->view.ranks->rows[p->b->tasks[i].entrant].is_apart)
            write_task(p, &p->b->tasks[i]);
}

/* ---- all ---- */

static void write_speed_table(const page *p)
{
    put_table(p, COLUMNS_SPEED);
    put_aside(p, columns_gemm);
    put_aside(p, columns_degenerate);
}

static void write_fast(const page *p)
{
    put_table(p, COLUMNS_FAST);
}

static void write_cost(const page *p)
{
    if (!cost_any(p->b))
        return;
    put_table(p, COLUMNS_COST);
    write_spend(p);
}

static page page_of(const figures *f, bool stable, buf *out)
{
    return (page){f->b, {f->b, f->aggs, f->ranks, stable}, stable, out};
}

void leaderboard_part_write(const figures *f, leaderboard_part part, buf *out)
{
    static void (*const parts[])(const page *) = {[LEADERBOARD_FACTS] = write_facts,
                                                  [LEADERBOARD_ENTRANTS] = write_entrants,
                                                  [LEADERBOARD_SPEED] = write_speed_table,
                                                  [LEADERBOARD_COST] = write_spend,
                                                  [LEADERBOARD_FAST] = write_fast};
    const page p = page_of(f, false, out);
    parts[part](&p);
}

void leaderboard_write(const figures *f, bool stable, buf *out)
{
    const board *b = f->b;
    const ranking *ranks = f->ranks;
    const page p = page_of(f, stable, out);
    buf_puts(out, "# Leaderboard: ");
    text_cell(out, ranks->newest->row.suite);
    buf_puts(out, " ");
    text_cell(out, ranks->newest->row.suite_version);
    buf_puts(out, "\n\n");
    leaderboard_claims(b, "> - ", out);
    write_entrants(&p);
    write_speed_table(&p);
    write_fast(&p);
    put_table(&p, COLUMNS_PASS);
    write_failures(&p);
    write_cost(&p);
    put_table(&p, COLUMNS_EFFORT);
    put_table(&p, COLUMNS_CHECKS);
    write_models(&p);
    claimed_markdown(b->claims.rows, b->claims.count, out);
    buf_puts(out, "\n## Measured on\n");
    write_facts(&p);
    write_tasks(&p);
}
