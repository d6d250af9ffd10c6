/* columns - the tables of a board: which columns, and what stands in a cell
 *
 * SPDX-License-Identifier: MIT */
#include "reports/columns.h"

#include <inttypes.h>
#include <math.h>

#include "reports/text.h"

static const agg *agg_of(const columns_view *v, size_t entrant)
{
    return &v->aggs->rows[entrant];
}

static void put_share(buf *out, size_t k, size_t n, double low, double high)
{
    text_share(out, k, n);
    if (n > 0)
        buf_printf(out, " [%.1f, %.1f]", 100 * low, 100 * high);
}

static void put_fraction(buf *out, size_t k, size_t n)
{
    buf_printf(out, "%zu/%zu", k, n);
}

void columns_name(const columns_view *v, size_t entrant, buf *out)
{
    buf_puts(out, v->b->entrants[entrant].row->name);
    if (v->b->run_count > 1 && !v->stable)
        buf_printf(out, " (%s)", v->b->entrants[entrant].run->row.id);
}

bool columns_is_shown(const columns_view *v, const columns_column *column)
{
    return !column->is_unstable || !v->stable;
}

#define COLUMN_ENTRANT                             \
    {                                              \
        "entrant", true, true, false, columns_name \
    }
#define COLUMN_END   \
    {                \
        .name = NULL \
    }

/* ---- ranks ---- */

static void put_rank(const columns_view *v, size_t entrant, buf *out)
{
    const ranking_row *row = &v->ranks->rows[entrant];
    if (row->unranked != NULL)
        buf_puts(out, "–");
    else if (row->is_human)
        buf_puts(out, "human");
    else
        buf_printf(out, "%zu [%zu–%zu]", row->place.rank, row->place.low, row->place.high);
}

static void put_certified(const columns_view *v, size_t entrant, buf *out)
{
    const agg *a = agg_of(v, entrant);
    put_share(out, a->certified[AGG_FAST_1], a->declared, a->certified_low, a->certified_high);
}

static void put_correct(const columns_view *v, size_t entrant, buf *out)
{
    const agg *a = agg_of(v, entrant);
    put_share(out, a->correct, a->declared, a->correct_low, a->correct_high);
}

static void put_common(const columns_view *v, size_t entrant, buf *out)
{
    text_factor(out, v->ranks->rows[entrant].common_geomean);
}

static void note_ranks(const columns_view *v, buf *out)
{
    const ranking *r = v->ranks;
    if (r->ranked == 0) {
        buf_puts(out, "No entrant has a rank here. ");
    } else {
        buf_printf(out,
                   "Rank = 1 + entrants that are shown to have more certified wins: paired "
                   "bootstrap over %zu problems, then %zu sample%s, Holm over pairs; who is not "
                   "shown to differ shares a rank. In brackets the range of 90 %% of resamples. ",
                   r->problems, r->samples, r->samples == 1 ? "" : "s");
        if (!isnan(r->detectable))
            buf_printf(out,
                       "So many problems show a difference of %.0f points four times in five. ",
                       100 * r->detectable);
    }
    buf_puts(out, "Certified: correct, and the whole interval of the speedup beyond the margin. "
                  "Shares are of all N, with Wilson's 95 % interval.");
    for (size_t e = 0; e < r->count; e++)
        if (r->rows[e].is_human && r->rows[e].unranked == NULL) {
            buf_puts(out, " human: the suite's own kernels, which take no rank.");
            break;
        }
}

static const columns_column ranks[] = {
    {"rank", true, false, false, put_rank},
    COLUMN_ENTRANT,
    {"certified fast_1", false, false, false, put_certified},
    {"correct", false, false, false, put_correct},
    {"geomean, common set", false, false, false, put_common},
    COLUMN_END,
};

/* ---- speed ---- */

static void put_coverage(const columns_view *v, size_t entrant, buf *out)
{
    put_fraction(out, v->ranks->rows[entrant].covered, v->ranks->scope);
}

static void put_geomean(const columns_view *v, size_t entrant, buf *out)
{
    text_factor(out, agg_of(v, entrant)->geomean);
    buf_printf(out, " (n=%zu)", agg_of(v, entrant)->measured);
}

static void put_median(const columns_view *v, size_t entrant, buf *out)
{
    text_factor(out, agg_of(v, entrant)->median);
}

static void put_p25(const columns_view *v, size_t entrant, buf *out)
{
    text_factor(out, agg_of(v, entrant)->p25);
}

static void put_gated(const columns_view *v, size_t entrant, buf *out)
{
    const agg *a = agg_of(v, entrant);
    text_factor(out, a->measured > 0 ? a->gated : (double)NAN);
}

static void put_faster(const columns_view *v, size_t entrant, buf *out)
{
    buf_printf(out, "%zu", agg_of(v, entrant)->fast[AGG_FAST_1]);
}

static void put_losses(const columns_view *v, size_t entrant, buf *out)
{
    buf_printf(out, "%zu", agg_of(v, entrant)->losses);
}

static bool measured_any(const columns_view *v)
{
    for (size_t i = 0; i < v->aggs->count; i++)
        if (v->aggs->rows[i].measured + v->aggs->rows[i].gemm_measured > 0)
            return true;
    return false;
}

static void note_speed(const columns_view *v, buf *out)
{
    buf_printf(out,
               "Common set: the %zu of %zu problems at which everybody here with any speed has "
               "one. Coverage: problems with a speed. Geomean over own, median and p25 stand over "
               "each entrant's own n and are not comparable where these differ. Gated: geomean "
               "over all tasks of max(1, speedup), and 1 where there is none.",
               v->ranks->common, v->ranks->scope);
}

static const columns_column speed[] = {
    COLUMN_ENTRANT,
    {"geomean, common set", false, false, false, put_common},
    {"coverage", false, false, false, put_coverage},
    {"geomean over own", false, false, false, put_geomean},
    {"median", false, false, false, put_median},
    {"p25", false, false, false, put_p25},
    {"gated", false, false, false, put_gated},
    {"faster", false, false, false, put_faster},
    {"slower", false, false, false, put_losses},
    COLUMN_END,
};

/* ---- fast_p ---- */

static void put_fast(const agg *a, size_t place, buf *out)
{
    text_share(out, a->certified[place], a->declared);
    buf_puts(out, " (");
    text_share(out, a->fast[place], a->declared);
    buf_puts(out, ")");
}

#define PUT_FAST(place)                                                           \
    static void put_fast_##place(const columns_view *v, size_t entrant, buf *out) \
    {                                                                             \
        put_fast(agg_of(v, entrant), place, out);                                 \
    }
PUT_FAST(0)
PUT_FAST(1)
PUT_FAST(2)
PUT_FAST(3)
PUT_FAST(4)
PUT_FAST(5)
#undef PUT_FAST

static void note_fast(const columns_view *v, buf *out)
{
    (void)v;
    buf_puts(out, "Share of all N that are correct and faster than p times the baseline: "
                  "certified (raw: the estimate alone).");
}

static const columns_column fast[] = {
    COLUMN_ENTRANT,
    {"p = 0", false, false, false, put_fast_0},
    {"p = 0.5", false, false, false, put_fast_1},
    {"p = 1", false, false, false, put_fast_2},
    {"p = 1.5", false, false, false, put_fast_3},
    {"p = 2", false, false, false, put_fast_4},
    {"p = 4", false, false, false, put_fast_5},
    COLUMN_END,
};

/* ---- pass@k ---- */

static void put_pass(double share, size_t k, int64_t samples, buf *out)
{
    if (isnan(share))
        buf_printf(out, "– (n=%" PRId64 " < %zu)", samples, agg_ks[k]);
    else
        buf_printf(out, "%.1f %%", 100 * share);
}

#define PUT_PASS(name, field, k)                                                                  \
    static void put_##name(const columns_view *v, size_t entrant, buf *out)                       \
    {                                                                                             \
        put_pass(agg_of(v, entrant)->field[k], k, v->b->entrants[entrant].run->row.samples, out); \
    }
PUT_PASS(pass_1, pass, 0)
PUT_PASS(pass_5, pass, 1)
PUT_PASS(pass_10, pass, 2)
PUT_PASS(win_1, certified_pass, 0)
PUT_PASS(win_5, certified_pass, 1)
PUT_PASS(win_10, certified_pass, 2)
#undef PUT_PASS

static void note_pass(const columns_view *v, buf *out)
{
    (void)v;
    buf_puts(out,
             "Chance that k of a problem's n samples hold a correct one (fast_1@k: a certified "
             "win), mean over problems; undefined where n is less than k.");
}

static const columns_column pass[] = {
    COLUMN_ENTRANT,
    {"pass@1", false, false, false, put_pass_1},
    {"pass@5", false, false, false, put_pass_5},
    {"pass@10", false, false, false, put_pass_10},
    {"fast_1@1", false, false, false, put_win_1},
    {"fast_1@5", false, false, false, put_win_5},
    {"fast_1@10", false, false, false, put_win_10},
    COLUMN_END,
};

/* ---- cost ---- */

static void put_cost(const columns_view *v, size_t entrant, buf *out)
{
    const agg *a = agg_of(v, entrant);
    text_usd(out, a->cost_usd, a->cost_unknown);
    text_usd_beside(out, a->unknown_usd, a->unknown_calls);
}

/* A price with an unknown part is a lower bound. */
static void put_cost_per(const agg *a, size_t count, buf *out)
{
    bool is_bound = a->cost_unknown > 0 || a->unknown_usd > 0 || a->unknown_calls > 0;
    if (count == 0)
        buf_puts(out, "–");
    else
        buf_printf(out, "%s$%.4f", is_bound ? "≥ " : "", a->cost_usd / (double)count);
}

static void put_cost_per_win(const columns_view *v, size_t entrant, buf *out)
{
    put_cost_per(agg_of(v, entrant), agg_of(v, entrant)->certified[AGG_FAST_1], out);
}

static void put_cost_per_correct(const columns_view *v, size_t entrant, buf *out)
{
    put_cost_per(agg_of(v, entrant), agg_of(v, entrant)->correct, out);
}

/* In, of it read from and written to a cache, out. */
static void put_tokens(const columns_view *v, size_t entrant, buf *out)
{
    const agg *a = agg_of(v, entrant);
    const int64_t kinds[] = {a->tokens_in, a->tokens_cache_read, a->tokens_cache_write,
                             a->tokens_out};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        buf_puts(out, i > 0 ? " / " : "");
        text_count(out, kinds[i]);
    }
    if (a->tokens_unknown > 0)
        buf_printf(out, " (unknown for %" PRId64 ")", a->tokens_unknown);
}

static const columns_column cost[] = {
    COLUMN_ENTRANT,
    {"cost", false, false, false, put_cost},
    {"per certified win", false, false, false, put_cost_per_win},
    {"per correct", false, false, false, put_cost_per_correct},
    {"tokens in / cache read / cache write / out", false, false, false, put_tokens},
    COLUMN_END,
};

/* ---- effort ---- */

static void put_calls(const columns_view *v, size_t entrant, buf *out)
{
    buf_printf(out, "%" PRId64, agg_of(v, entrant)->calls);
}

static void put_attempts(const columns_view *v, size_t entrant, buf *out)
{
    buf_printf(out, "%" PRId64, agg_of(v, entrant)->attempts);
}

static void put_latency(const columns_view *v, size_t entrant, buf *out)
{
    const agg *a = agg_of(v, entrant);
    if (isnan(a->latency_ms))
        buf_puts(out, "–");
    else
        buf_printf(out, "%.1f s / %.1f s", a->latency_ms / 1000, a->latency_p95_ms / 1000);
}

static void put_wall(const columns_view *v, size_t entrant, buf *out)
{
    text_minutes(out, agg_of(v, entrant)->wall_ms);
}

static void put_device(const columns_view *v, size_t entrant, buf *out)
{
    text_minutes(out, agg_of(v, entrant)->device_ms);
}

static const columns_column effort[] = {
    COLUMN_ENTRANT,
    {"calls", false, false, false, put_calls},
    {"attempts", false, false, false, put_attempts},
    {"model time a task, median / 95 %", false, false, true, put_latency},
    {"wall, sum", false, false, true, put_wall},
    {"device, sum", false, false, true, put_device},
    COLUMN_END,
};

/* ---- checks ---- */

static void put_hidden(const columns_view *v, size_t entrant, buf *out)
{
    const agg *a = agg_of(v, entrant);
    if (a->hidden_passed + a->hidden_failed == 0)
        buf_puts(out, "not run");
    else
        buf_printf(out, "%zu passed, %zu failed", a->hidden_passed, a->hidden_failed);
}

static void put_sanitizer(const columns_view *v, size_t entrant, buf *out)
{
    const size_t *said = agg_of(v, entrant)->sanitizer;
    if (said[BOARD_SANITIZER_CLEAN] + said[BOARD_SANITIZER_FINDING] == 0)
        buf_puts(out, "not run");
    else
        text_sanitizer_counts(out, said);
}

static void put_same(const columns_view *v, size_t entrant, buf *out)
{
    buf_printf(out, "%zu", agg_of(v, entrant)->same);
}

static void put_inconclusive(const columns_view *v, size_t entrant, buf *out)
{
    buf_printf(out, "%zu", agg_of(v, entrant)->inconclusive);
}

static void put_impossible(const columns_view *v, size_t entrant, buf *out)
{
    buf_printf(out, "%zu", agg_of(v, entrant)->impossible);
}

static const columns_column checks[] = {
    COLUMN_ENTRANT,
    {"hidden run", true, false, false, put_hidden},
    {"sanitizer", true, false, false, put_sanitizer},
    {"verdict same", false, false, false, put_same},
    {"inconclusive", false, false, false, put_inconclusive},
    {"impossible", false, false, false, put_impossible},
    COLUMN_END,
};

/* ---- problems that stand apart ---- */

static bool any_problem(const board *b, bool (*is)(const problem_row *))
{
    for (size_t i = 0; i < b->task_count; i++)
        if (is(b->tasks[i].problem))
            return true;
    return false;
}

void columns_gemm(const columns_view *v, buf *out)
{
    if (!any_problem(v->b, board_is_gemm))
        return;
    buf_puts(out, "Problems of category gemm count as correct and in fast_p, and are left out of "
                  "geomeans, coverage, median, p25, gated and slower. Their own geometric means: ");
    for (size_t i = 0; i < v->ranks->shown; i++) {
        const agg *a = agg_of(v, v->ranks->order[i]);
        buf_puts(out, i > 0 ? ", " : "");
        columns_name(v, v->ranks->order[i], out);
        buf_puts(out, " ");
        text_factor(out, a->gemm_geomean);
        buf_printf(out, " (n=%zu)", a->gemm_measured);
    }
    buf_puts(out, ".");
    if (board_any_kind(v->b, "emu"))
        buf_puts(out, " On the emulator their golds run kernels for CUDA cores: the kernels for "
                      "tensor cores are proven on a GPU only.");
}

/* Problems that prove little: out of every figure of the board, with figures of their own. */
void columns_degenerate(const columns_view *v, buf *out)
{
    if (!any_problem(v->b, board_is_degenerate))
        return;
    buf_puts(out, "Problems of category degenerate are passed by an answer that computes nothing: "
                  "they are run and shown, and left out of all counts, shares, ranks and means "
                  "here. Of theirs, correct and certified: ");
    for (size_t i = 0; i < v->ranks->shown; i++) {
        const agg *a = agg_of(v, v->ranks->order[i]);
        buf_puts(out, i > 0 ? ", " : "");
        columns_name(v, v->ranks->order[i], out);
        buf_printf(out, " %zu and %zu of %zu", a->degenerate_correct, a->degenerate_certified,
                   a->degenerate);
    }
    buf_puts(out, ".");
}

/* ---- all ---- */

const columns_table columns_tables[COLUMNS_COUNT] = {
    [COLUMNS_RANKS] = {"entrants", "Entrants", note_ranks, NULL, ranks},
    [COLUMNS_SPEED] = {"speed", "Speed", note_speed, measured_any, speed},
    [COLUMNS_FAST] = {"fast_p", "fast_p", note_fast, measured_any, fast},
    [COLUMNS_PASS] = {"pass", "pass@k", note_pass, NULL, pass},
    [COLUMNS_COST] = {"cost", "Cost", NULL, NULL, cost},
    [COLUMNS_EFFORT] = {"effort", "Effort", NULL, NULL, effort},
    [COLUMNS_CHECKS] = {"checks", "Checks", NULL, NULL, checks},
};
