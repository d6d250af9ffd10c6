/* compare - entrants side by side over the problems they share; no model is called
 *
 * A problem is common when every entrant's run has it with the same contract. At a problem an entrant
 * has `correct` of its samples and, over the correct ones, a median speedup. More correct wins; with
 * equally many, the faster wins unless the two are closer than COMPARE_TIE. Where the runs used another
 * device or other protocols, speeds are shown but decide nothing.
 *
 * SPDX-License-Identifier: MIT */
#include "reports/compare.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/json.h"
#include "common/scoped.h"
#include "common/stats.h"
#include "common/xalloc.h"
#include "reports/agg.h"
#include "reports/claimed.h"
#include "reports/grid.h"
#include "reports/leaderboard.h"
#include "reports/standing.h"
#include "reports/strata.h"
#include "reports/text.h"

enum { NOBODY = -1, TIE = -2, UNDECIDED = -3 };

typedef struct row {
    const char *problem;
    size_t place;           /* in the grid */
    bool is_gemm;           /* left out of medians and means */
    bool is_degenerate;     /* left out of every sum */
    const grid_cell *cells; /* one an entrant */
    int winner;             /* entrant, or NOBODY, TIE, UNDECIDED */
} row;

/* Two entrants over the common problems. */
typedef struct pair_sum {
    size_t first_wins, second_wins, neither;
} pair_sum;

/* What an entrant has over the common problems. */
typedef struct column_sum {
    size_t declared, correct, certified, measured, wins;
    double cost_usd;
    bool is_cost_known;
    size_t fast[AGG_THRESHOLDS];
    double median;
    double common_geomean; /* over `common_speeds` problems */
} column_sum;

typedef struct comparison {
    const board *b;
    grid *g;
    row *rows;
    size_t row_count;
    column_sum *sums;
    standing *shown;
    size_t samples;       /* that every run has */
    size_t common_speeds; /* solved_by_all without the GEMM track */
    size_t solved_by_all, ties, undecided, unsolved;
    const char *incomparable; /* why speeds decide nothing; NULL: they do */
} comparison;

static void comparison_fini(comparison *c)
{
    grid_destroy(&c->g);
    free(c->rows);
    free(c->sums);
    standing_destroy(&c->shown);
}

/* ---- what can be compared ---- */

static const problem_row *problem_of(const board_run *run, const char *id)
{
    for (size_t i = 0; i < run->problems.count; i++)
        if (strcmp(run->problems.rows[i].id, id) == 0)
            return &run->problems.rows[i];
    return NULL;
}

static bool is_common(const board *b, const problem_row *p)
{
    for (size_t i = 0; i < b->entrant_count; i++) {
        const problem_row *other = problem_of(b->entrants[i].run, p->id);
        if (other == NULL || !hash_equal(&other->contract_hash, &p->contract_hash))
            return false;
    }
    return true;
}

static const char *device_of(const board *b, const board_run *run)
{
    for (size_t i = 0; i < b->task_count; i++)
        if (b->tasks[i].run == run && b->tasks[i].row->facts->device != NULL)
            return b->tasks[i].row->facts->device;
    return "";
}

static const char *why_incomparable(const board *b)
{
    const board_run *first = b->entrants[0].run;
    const board_protocols want = first->protocols;
    for (size_t i = 1; i < b->entrant_count; i++) {
        const board_run *run = b->entrants[i].run;
        if (strcmp(device_of(b, run), device_of(b, first)) != 0)
            return "the runs used different devices";
        const board_protocols used = run->protocols;
        if (strcmp(used.correctness, want.correctness) != 0 ||
            strcmp(used.timing != NULL ? used.timing : "",
                   want.timing != NULL ? want.timing : "") != 0)
            return "the runs used different protocols";
    }
    return NULL;
}

/* ---- numbers ---- */

static int compare_speed(const comparison *c, const grid_cell *x, const grid_cell *y)
{
    if (isnan(x->speedup) || isnan(y->speedup) || c->incomparable != NULL)
        return 0;
    if (x->speedup > y->speedup * COMPARE_TIE)
        return 1;
    return y->speedup > x->speedup * COMPARE_TIE ? -1 : 0;
}

static size_t samples_of(const comparison *c, size_t entrant)
{
    return (size_t)c->b->entrants[entrant].run->row.samples; /* at least 1, says the schema */
}

static double rate(const comparison *c, size_t entrant, const row *r)
{
    return (double)r->cells[entrant].correct / (double)samples_of(c, entrant);
}

/* 1: entrant x is better, -1: y is, 0: neither. */
static int compare_cells(const comparison *c, const row *r, size_t x, size_t y)
{
    double difference = rate(c, x, r) - rate(c, y, r);
    if (fabs(difference) > 1e-12)
        return difference > 0 ? 1 : -1;
    return compare_speed(c, &r->cells[x], &r->cells[y]);
}

/* All correct equally often, but speeds that would decide are missing or may not be compared. */
static bool lacks_speeds(const comparison *c, const row *r)
{
    for (size_t i = 0; i < c->b->entrant_count; i++)
        if (r->cells[i].correct > 0 && (isnan(r->cells[i].speedup) || c->incomparable != NULL))
            return true;
    return false;
}

static int winner_of(const comparison *c, const row *r)
{
    size_t best = 0;
    bool any = r->cells[0].correct > 0;
    for (size_t i = 1; i < c->b->entrant_count; i++) {
        any = any || r->cells[i].correct > 0;
        if (compare_cells(c, r, i, best) > 0)
            best = i;
    }
    if (!any)
        return NOBODY;
    for (size_t i = 0; i < c->b->entrant_count; i++)
        if (i != best && compare_cells(c, r, best, i) <= 0)
            return lacks_speeds(c, r) ? UNDECIDED : TIE;
    return (int)best;
}

static void list_rows(comparison *c)
{
    c->g = grid_create(c->b);
    c->rows = xcalloc(c->g->problem_count + 1, sizeof *c->rows);
    for (size_t i = 0; i < c->g->problem_count; i++) {
        const problem_row *p = problem_of(c->b->entrants[0].run, c->g->problems[i]);
        if (p == NULL || !is_common(c->b, p))
            continue;
        row *r = &c->rows[c->row_count++];
        r->problem = p->id;
        r->place = i;
        r->is_gemm = board_is_gemm(p);
        r->is_degenerate = board_is_degenerate(p);
        r->cells = grid_at(c->g, i, 0);
        r->winner = winner_of(c, r);
    }
}

static bool solved_by_all(const comparison *c, const row *r)
{
    for (size_t e = 0; e < c->b->entrant_count; e++)
        if (isnan(r->cells[e].speedup))
            return false;
    return true;
}

static bool is_row(const comparison *c, const char *problem, size_t *hint)
{
    for (size_t n = 0; n < c->row_count; n++, (*hint)++) {
        if (*hint >= c->row_count)
            *hint = 0;
        if (strcmp(c->rows[*hint].problem, problem) == 0)
            return true;
    }
    return false;
}

/* Samples count one by one: fast_p and median are over tasks, as on the leaderboard. */
static void sum_tasks(comparison *c, size_t e, double *speeds)
{
    column_sum *s = &c->sums[e];
    size_t hint = 0;
    s->is_cost_known = true;
    for (size_t i = 0; i < c->b->task_count; i++) {
        const board_task *t = &c->b->tasks[i];
        if (t->entrant != e || !is_row(c, t->row->problem, &hint))
            continue;
        s->cost_usd += t->usage->cost_usd;
        s->is_cost_known = s->is_cost_known && t->usage->cost_unknown == 0 &&
                           t->usage->unknown_calls == 0 && t->usage->unknown_usd <= 0;
        if (!board_task_correct(t) || board_is_degenerate(t->problem))
            continue;
        s->correct++;
        s->certified += agg_is_certified(t, 1) ? 1 : 0;
        if (isnan(t->speedup))
            continue;
        for (size_t p = 0; p < AGG_THRESHOLDS; p++)
            s->fast[p] += t->speedup > agg_thresholds[p] ? 1 : 0;
        if (!board_is_gemm(t->problem))
            speeds[s->measured++] = t->speedup;
    }
    s->median = stats_median(speeds, s->measured);
}

static void sum_rows(comparison *c, size_t e, double *speeds)
{
    column_sum *s = &c->sums[e];
    size_t n = 0;
    for (size_t i = 0; i < c->row_count; i++) {
        if (c->rows[i].is_degenerate)
            continue;
        s->declared += samples_of(c, e);
        s->wins += c->rows[i].winner == (int)e ? 1 : 0;
        if (solved_by_all(c, &c->rows[i]) && !c->rows[i].is_gemm)
            speeds[n++] = c->rows[i].cells[e].speedup;
    }
    c->common_speeds = n;
    s->common_geomean = stats_geomean(speeds, n);
}

static void sum_up(comparison *c)
{
    c->sums = xcalloc(c->b->entrant_count, sizeof *c->sums);
    SCOPED(scoped_free)
    double *speeds = xcalloc(c->b->task_count + c->row_count + 1, sizeof *speeds);
    for (size_t e = 0; e < c->b->entrant_count; e++) {
        sum_tasks(c, e, speeds);
        sum_rows(c, e, speeds);
    }
    for (size_t i = 0; i < c->row_count; i++) {
        c->solved_by_all += solved_by_all(c, &c->rows[i]) ? 1 : 0;
        c->ties += c->rows[i].winner == TIE ? 1 : 0;
        c->undecided += c->rows[i].winner == UNDECIDED ? 1 : 0;
        c->unsolved += c->rows[i].winner == NOBODY ? 1 : 0;
    }
}

static pair_sum sum_pair(const comparison *c, size_t x, size_t y)
{
    pair_sum s = {0};
    for (size_t i = 0; i < c->row_count; i++) {
        int order = compare_cells(c, &c->rows[i], x, y);
        s.first_wins += order > 0 ? 1 : 0;
        s.second_wins += order < 0 ? 1 : 0;
        s.neither += order == 0 ? 1 : 0;
    }
    return s;
}

/* Every entrant counts with as many samples as the run with the fewest has. */
static size_t shared_samples(const comparison *c)
{
    size_t least = samples_of(c, 0);
    for (size_t e = 1; e < c->b->entrant_count; e++)
        least = samples_of(c, e) < least ? samples_of(c, e) : least;
    return least;
}

static void fill_hits(const comparison *c, uint32_t *correct, uint32_t *certified)
{
    size_t hint = 0;
    for (size_t i = 0; i < c->b->task_count; i++) {
        const board_task *t = &c->b->tasks[i];
        size_t sample = (size_t)t->row->sample;
        if (sample >= c->samples || !board_task_correct(t) || !is_row(c, t->row->problem, &hint))
            continue;
        correct[t->entrant * c->row_count + hint]++;
        certified[t->entrant * c->row_count + hint] += agg_is_certified(t, 1) ? 1 : 0;
    }
}

static void stand(comparison *c)
{
    size_t entrants = c->b->entrant_count;
    c->samples = shared_samples(c);
    SCOPED(scoped_free)
    uint32_t *correct = xcalloc(entrants * c->row_count, sizeof *correct);
    SCOPED(scoped_free) double *speeds = xcalloc(entrants * c->row_count, sizeof *speeds);
    SCOPED(scoped_free)
    uint32_t *certified = xcalloc(entrants * c->row_count, sizeof *certified);
    fill_hits(c, correct, certified);
    for (size_t e = 0; e < entrants; e++)
        for (size_t i = 0; i < c->row_count; i++)
            speeds[e * c->row_count + i] = c->rows[i].cells[e].speedup;
    standing_input input = {.correct = correct,
                            .certified = certified,
                            .speedup = speeds,
                            .entrants = entrants,
                            .problems = c->row_count,
                            .samples = c->samples};
    c->shown = standing_create(&input);
}

static int compute(const board *b, comparison *c, err *e)
{
    *c = (comparison){.b = b};
    if (b->entrant_count < 2)
        return err_set(e, ERR_USAGE, "a comparison needs two entrants, and there is %s",
                       b->entrant_count == 1 ? b->entrants[0].row->name : "none");
    if (b->entrant_count > VERSUS_ENTRANTS_MAX)
        return err_set(e, ERR_LIMIT, "%zu entrants; a comparison takes %d: name fewer runs",
                       b->entrant_count, VERSUS_ENTRANTS_MAX);
    c->incomparable = why_incomparable(b);
    list_rows(c);
    if (c->row_count == 0)
        return err_set(e, ERR_CONFIG,
                       "these runs have no problem with the same contract in common");
    sum_up(c);
    stand(c);
    return 0;
}

/* ---- Markdown ---- */

static void name(const comparison *c, size_t e, buf *out)
{
    text_cell(out, c->b->entrants[e].row->name);
    if (c->b->run_count > 1)
        buf_printf(out, " (%s)", c->b->entrants[e].run->row.id);
}

static void write_sum(const comparison *c, size_t e, buf *out)
{
    const column_sum *s = &c->sums[e];
    buf_puts(out, "| ");
    name(c, e, out);
    buf_printf(out, " | %zu/%zu | %zu | ", s->correct, s->declared, s->certified);
    text_factor(out, s->common_geomean);
    buf_puts(out, " | ");
    text_factor(out, s->median);
    buf_printf(out, " (n=%zu) | %zu |\n", s->measured, s->wins);
}

static void write_fast(const comparison *c, buf *out)
{
    buf_puts(out, "\n| entrant, raw fast_p at p = |");
    for (size_t p = 0; p < AGG_THRESHOLDS; p++)
        buf_printf(out, " %g |", agg_thresholds[p]);
    buf_puts(out, "\n|---|--:|--:|--:|--:|--:|--:|\n");
    for (size_t e = 0; e < c->b->entrant_count; e++) {
        buf_puts(out, "| ");
        name(c, e, out);
        buf_puts(out, " |");
        for (size_t p = 0; p < AGG_THRESHOLDS; p++) {
            buf_puts(out, " ");
            text_share(out, c->sums[e].fast[p], c->sums[e].declared);
            buf_puts(out, " |");
        }
        buf_puts(out, "\n");
    }
}

static void write_sums(const comparison *c, buf *out)
{
    buf_printf(out,
               "\n| entrant | correct | certified wins | geomean, solved by all (n=%zu) | median "
               "| best at |\n|---|--:|--:|--:|--:|--:|\n",
               c->common_speeds);
    for (size_t e = 0; e < c->b->entrant_count; e++)
        write_sum(c, e, out);
    write_fast(c, out);
    for (size_t i = 0; i < c->row_count; i++)
        if (c->rows[i].is_gemm) {
            buf_puts(out, "\nProblems of category `gemm` are left out of median and geomean.\n");
            break;
        }
    buf_printf(out, "\nTies: %zu. Undecided (a speed is missing): %zu. Solved by nobody: %zu.\n",
               c->ties, c->undecided, c->unsolved);
}

/* ---- cost and quality ---- */

/* Nobody has as many certified wins for less, or more for as little. */
static bool is_on_frontier(const comparison *c, size_t e)
{
    const column_sum *mine = &c->sums[e];
    for (size_t i = 0; i < c->b->entrant_count; i++) {
        const column_sum *other = &c->sums[i];
        double more = (double)other->certified / (double)other->declared -
                      (double)mine->certified / (double)mine->declared;
        double dearer =
            other->cost_usd / (double)other->declared - mine->cost_usd / (double)mine->declared;
        if (i != e && other->is_cost_known && more >= 0 && dearer <= 0 && (more > 0 || dearer < 0))
            return false;
    }
    return true;
}

static void write_price(double usd, size_t count, buf *out)
{
    if (count == 0)
        buf_puts(out, " – |");
    else
        buf_printf(out, " $%.4f |", usd / (double)count);
}

static void write_costs(const comparison *c, buf *out)
{
    bool any = false;
    for (size_t e = 0; e < c->b->entrant_count; e++)
        any = any || c->sums[e].cost_usd > 0 || !c->sums[e].is_cost_known;
    if (!any)
        return;
    buf_puts(out, "\n## Cost and quality\n\nOver the common problems. Frontier: nobody has as many "
                  "certified wins a task for less money, or more for as little.\n\n"
                  "| entrant | cost | per correct | per certified win | frontier |\n"
                  "|---|--:|--:|--:|---|\n");
    for (size_t e = 0; e < c->b->entrant_count; e++) {
        const column_sum *s = &c->sums[e];
        buf_puts(out, "| ");
        name(c, e, out);
        buf_printf(out, " | %s$%.4f |", s->is_cost_known ? "" : "≥ ", s->cost_usd);
        write_price(s->cost_usd, s->correct, out);
        write_price(s->cost_usd, s->certified, out);
        buf_puts(out, !s->is_cost_known      ? " cost unknown |\n"
                      : is_on_frontier(c, e) ? " yes |\n"
                                             : " no |\n");
    }
}

/* ---- pairs ---- */

static void write_ratio(const standing_pair *s, buf *out)
{
    text_factor(out, s->ratio);
    if (!isnan(s->ratio_low)) {
        buf_puts(out, " [");
        text_factor(out, s->ratio_low);
        buf_puts(out, ", ");
        text_factor(out, s->ratio_high);
        buf_puts(out, "]");
    }
    buf_printf(out, " (n=%zu) |\n", s->both);
}

static void write_names(const comparison *c, size_t x, size_t y, buf *out)
{
    buf_puts(out, "| ");
    name(c, x, out);
    buf_puts(out, " | ");
    name(c, y, out);
    buf_puts(out, " |");
}

static void write_difference(const versus_pair *pair, buf *out)
{
    buf_printf(out, " %+.1f [%+.1f, %+.1f] | %.3g |", 100 * pair->difference, 100 * pair->low,
               100 * pair->high, pair->adjusted);
}

static void write_solved(const comparison *c, size_t x, size_t y, buf *out)
{
    const standing_pair *shown = standing_between(c->shown, x, y);
    write_names(c, x, y, out);
    buf_printf(out, " %zu / %zu | %.3g |", shown->only_first, shown->only_second, shown->mcnemar);
    write_difference(&shown->rate, out);
    buf_puts(out, "\n");
}

static void write_speeds(const comparison *c, size_t x, size_t y, buf *out)
{
    pair_sum s = sum_pair(c, x, y);
    const standing_pair *shown = standing_between(c->shown, x, y);
    write_names(c, x, y, out);
    buf_printf(out, " %zu / %zu / %zu |", s.first_wins, s.second_wins, s.neither);
    if (c->incomparable != NULL) {
        buf_puts(out, " – | – | – |\n");
        return;
    }
    write_difference(&shown->wins, out);
    buf_puts(out, " ");
    write_ratio(shown, out);
}

typedef void write_pair_fn(const comparison *c, size_t x, size_t y, buf *out);

static void write_each_pair(const comparison *c, write_pair_fn *write, buf *out)
{
    for (size_t x = 0; x < c->b->entrant_count; x++)
        for (size_t y = x + 1; y < c->b->entrant_count; y++)
            write(c, x, y, out);
}

static void write_pairs(const comparison *c, buf *out)
{
    buf_printf(
        out,
        "\n## Pairs\n\n"
        "* only first / only second: problems that one solved in any of %zu sample%s and the "
        "other did not; McNemar: its exact p, Holm over all pairs.\n"
        "* Δ correct, Δ certified: differences of the shares of samples, in points, with a 95 %% "
        "bootstrap interval (problems, then samples; %d resamples) and its p, Holm over all "
        "pairs.\n"
        "* speed ratio: Hodges-Lehmann estimate of first / second over the problems where both "
        "have a speed, with the 95 %% signed-rank interval (six problems at least).\n"
        "* With %zu common problems a difference of %.0f points is found four times in five; "
        "what is smaller can be there and not show.\n\n",
        c->samples, c->samples == 1 ? "" : "s", VERSUS_RESAMPLES, c->row_count,
        100 * standing_detectable(c->shown));
    buf_puts(out, "| first | second | only first / only second | McNemar | Δ correct | p "
                  "|\n|---|---|--:|--:|--:|--:|\n");
    write_each_pair(c, write_solved, out);
    buf_puts(out, "\n| first | second | better at: first / second / neither | Δ certified | p "
                  "| speed ratio |\n|---|---|--:|--:|--:|--:|\n");
    write_each_pair(c, write_speeds, out);
}

/* ---- kinds of problems ---- */

static size_t *places_of(const comparison *c)
{
    size_t *places = xcalloc(c->row_count + 1, sizeof *places);
    for (size_t i = 0; i < c->row_count; i++)
        places[i] = c->rows[i].place;
    return places;
}

static void write_strata(const comparison *c, buf *out)
{
    SCOPED(scoped_free) size_t *places = places_of(c);
    strata_markdown(&(strata_ask){c->b, c->g, places, c->row_count}, out);
}

static void write_winner(const comparison *c, const row *r, buf *out)
{
    static const char *const words[] = {"", "nobody", "tie", "undecided"};
    if (r->winner >= 0)
        name(c, (size_t)r->winner, out);
    else
        buf_puts(out, words[-r->winner]);
}

static void write_rows(const comparison *c, buf *out)
{
    buf_puts(out, "\n## Problems\n\n| problem |");
    for (size_t e = 0; e < c->b->entrant_count; e++) {
        buf_puts(out, " ");
        name(c, e, out);
        buf_puts(out, " |");
    }
    buf_puts(out, " winner |\n|---|");
    for (size_t e = 0; e < c->b->entrant_count; e++)
        buf_puts(out, "--:|");
    buf_puts(out, "---|\n");
    for (size_t i = 0; i < c->row_count; i++) {
        buf_puts(out, "| ");
        text_cell(out, c->rows[i].problem);
        for (size_t e = 0; e < c->b->entrant_count; e++) {
            buf_printf(out, " | %zu/%zu, ", c->rows[i].cells[e].correct, samples_of(c, e));
            text_factor(out, c->rows[i].cells[e].speedup);
        }
        buf_puts(out, " | ");
        write_winner(c, &c->rows[i], out);
        buf_puts(out, " |\n");
    }
}

int compare_markdown(const board *b, const claim_list *claims, buf *out, err *e)
{
    SCOPED(comparison_fini) comparison c;
    if (compute(b, &c, e) < 0)
        return -1;
    buf_puts(out, "# Comparison: ");
    text_cell(out, b->runs[0].row.suite);
    buf_puts(out, " ");
    text_cell(out, b->runs[0].row.suite_version);
    buf_puts(out, "\n\n");
    leaderboard_claims(b, "> - ", out);
    buf_printf(
        out,
        "> - %zu common problems (same contract). More correct samples win; between equals the "
        "faster, and closer than %g %% is a tie.\n",
        c.row_count, (COMPARE_TIE - 1) * 100);
    if (c.incomparable != NULL)
        buf_printf(out, "> - speeds decide nothing here: %s.\n", c.incomparable);
    write_sums(&c, out);
    write_pairs(&c, out);
    write_costs(&c, out);
    write_strata(&c, out);
    write_rows(&c, out);
    claimed_markdown(claims->rows, claims->count, out);
    return 0;
}

/* ---- JSON ---- */

static json *sum_json(const comparison *c, size_t e)
{
    const column_sum *s = &c->sums[e];
    json *out = json_new_object();
    json_set_str(out, "entrant", c->b->entrants[e].row->name);
    json_set_str(out, "run", c->b->entrants[e].run->row.id);
    json_set_int(out, "declared", (int64_t)s->declared);
    json_set_int(out, "correct", (int64_t)s->correct);
    json_set_int(out, "certified", (int64_t)s->certified);
    json_set_real(out, "cost_usd", s->cost_usd);
    json_set_bool(out, "cost_known", s->is_cost_known);
    json_set_bool(out, "frontier", s->is_cost_known && is_on_frontier(c, e));
    json *fast = json_new_array();
    for (size_t p = 0; p < AGG_THRESHOLDS; p++) {
        json *one = json_new_object();
        json_set_real(one, "p", agg_thresholds[p]);
        json_set_int(one, "count", (int64_t)s->fast[p]);
        json_append(fast, &one);
    }
    json_set(out, "fast", &fast);
    json_set_int(out, "measured", (int64_t)s->measured);
    json_set_real(out, "median", s->median);
    json_set_real(out, "geomean_common", s->common_geomean);
    json_set_int(out, "wins", (int64_t)s->wins);
    return out;
}

static json *pair_json(const comparison *c, size_t x, size_t y)
{
    pair_sum s = sum_pair(c, x, y);
    const standing_pair *shown = standing_between(c->shown, x, y);
    json *out = json_new_object();
    json_set_int(out, "first", (int64_t)x);
    json_set_int(out, "second", (int64_t)y);
    json_set_int(out, "first_wins", (int64_t)s.first_wins);
    json_set_int(out, "second_wins", (int64_t)s.second_wins);
    json_set_int(out, "neither", (int64_t)s.neither);
    json_set_int(out, "only_first", (int64_t)shown->only_first);
    json_set_int(out, "only_second", (int64_t)shown->only_second);
    json_set_real(out, "mcnemar_holm", shown->mcnemar);
    json_set_real(out, "correct_difference", shown->rate.difference);
    json_set_real(out, "correct_low", shown->rate.low);
    json_set_real(out, "correct_high", shown->rate.high);
    json_set_real(out, "correct_holm", shown->rate.adjusted);
    json_set_real(out, "certified_difference", shown->wins.difference);
    json_set_real(out, "certified_low", shown->wins.low);
    json_set_real(out, "certified_high", shown->wins.high);
    json_set_real(out, "certified_holm", shown->wins.adjusted);
    json_set_int(out, "both", (int64_t)shown->both);
    json_set_real(out, "ratio", shown->ratio);
    json_set_real(out, "ratio_low", shown->ratio_low);
    json_set_real(out, "ratio_high", shown->ratio_high);
    return out;
}

static json *pairs_json(const comparison *c)
{
    json *list = json_new_array();
    for (size_t x = 0; x < c->b->entrant_count; x++)
        for (size_t y = x + 1; y < c->b->entrant_count; y++) {
            json *one = pair_json(c, x, y);
            json_append(list, &one);
        }
    return list;
}

static json *row_json(const comparison *c, const row *r)
{
    static const char *const words[] = {NULL, "nobody", "tie", "undecided"};
    json *out = json_new_object(), *cells = json_new_array();
    json_set_str(out, "problem", r->problem);
    for (size_t e = 0; e < c->b->entrant_count; e++) {
        json *one = json_new_object();
        json_set_int(one, "correct", (int64_t)r->cells[e].correct);
        json_set_int(one, "samples", (int64_t)samples_of(c, e));
        json_set_real(one, "speedup", r->cells[e].speedup);
        json_append(cells, &one);
    }
    json_set(out, "entrants", &cells);
    if (r->winner >= 0)
        json_set_int(out, "winner", r->winner);
    else
        json_set_str(out, "verdict", words[-r->winner]);
    return out;
}

int compare_json(const board *b, const claim_list *claims, buf *out, err *e)
{
    SCOPED(comparison_fini) comparison c;
    if (compute(b, &c, e) < 0)
        return -1;
    SCOPED(json_destroy) json *root = json_new_object();
    json *entrants = json_new_array(), *rows = json_new_array();
    for (size_t i = 0; i < b->entrant_count; i++) {
        json *one = sum_json(&c, i);
        json_append(entrants, &one);
    }
    for (size_t i = 0; i < c.row_count; i++) {
        json *one = row_json(&c, &c.rows[i]);
        json_append(rows, &one);
    }
    json_set(root, "entrants", &entrants);
    json *pairs = pairs_json(&c);
    json_set(root, "pairs", &pairs);
    json_set(root, "problems", &rows);
    json_set_int(root, "solved_by_all", (int64_t)c.solved_by_all);
    json_set_int(root, "common_speeds", (int64_t)c.common_speeds);
    json_set_int(root, "ties", (int64_t)c.ties);
    json_set_int(root, "undecided", (int64_t)c.undecided);
    json_set_int(root, "unsolved", (int64_t)c.unsolved);
    json_set_int(root, "samples", (int64_t)c.samples);
    json_set_real(root, "detectable", standing_detectable(c.shown));
    json_set_str(root, "speeds_decide_nothing", c.incomparable);
    SCOPED(scoped_free) size_t *places = places_of(&c);
    json *strata = strata_json(&(strata_ask){b, c.g, places, c.row_count});
    json *claimed = claimed_json(claims->rows, claims->count);
    json_set(root, "strata", &strata);
    json_set(root, "claimed", &claimed);
    SCOPED(scoped_free) char *text = json_dump_pretty(root);
    buf_puts(out, text);
    return 0;
}
