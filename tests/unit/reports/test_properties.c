/* test_properties - what holds of every board, whatever is in it: each derived figure follows from the raw rows
 * beside it, order and names decide nothing, the same answers twice are no win
 *
 * Figures are computed here a second time, by other formulas where there are any.
 *
 * SPDX-License-Identifier: MIT */
/* cmocka wants these first. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/json.h"
#include "common/rng.h"
#include "common/scoped.h"
#include "common/xalloc.h"
#include "reports/compare.h"
#include "reports/leaderboard.h"
#include "reports/ranking.h"
#include "reports/results.h"
#include "tests/unit/reports/filled.h"
#include "tests/unit/reports/made.h"

enum { SEEDS = 12, MAX = 8 * 1024 * 1024, TASKS_MAX = 512 };

static const double strengths[] = {0.7, 0.45, 0.4, 0.1};
enum { ENTRANTS = 4 };

/* ---- raw rows of an entrant, as results.json tells them ---- */

typedef struct raw {
    const json *rows[TASKS_MAX];
    size_t count;
} raw;

static const char *text(const json *row, const char *key)
{
    return json_str(json_get(row, key), "");
}

static double number(const json *row, const char *key)
{
    return json_real(json_get(row, key), (double)NAN);
}

static raw rows_of(const json *root, const char *entrant)
{
    raw out = {.count = 0};
    const json *tasks = json_get(root, "tasks");
    for (size_t i = 0; i < json_size(tasks); i++)
        if (strcmp(text(json_at(tasks, i), "entrant"), entrant) == 0)
            out.rows[out.count++] = json_at(tasks, i);
    return out;
}

static bool is_ok(const json *row)
{
    return strcmp(text(row, "outcome"), "ok") == 0;
}

static bool is_gemm(const json *row)
{
    return strcmp(text(row, "category"), "gemm") == 0;
}

static bool is_certified(const json *row, double p)
{
    const char *verdict = text(row, "verdict");
    return is_ok(row) && verdict[0] != '\0' && strcmp(verdict, "inconclusive") != 0 &&
           strcmp(verdict, "impossible") != 0 &&
           number(row, "ci_low") > p * (1 + number(row, "margin"));
}

/* ---- figures, a second time ---- */

static void expect(const json *row, const char *key, double want)
{
    double got = number(row, key);
    if (isnan(want) ? !isnan(got) : !(fabs(got - want) <= 1e-9 * (fabs(want) + 1)))
        fail_msg("%s: %s is %.12g, the rows give %.12g", text(row, "name"), key, got, want);
}

/* The ends of Wilson's interval are where (share - p)² = z² p (1 - p) / n. */
static void expect_wilson(const json *row, const char *low, const char *high, size_t k, size_t n)
{
    const double z2 = 1.959963984540054 * 1.959963984540054;
    double count = (double)n, share = (double)k / count;
    double a = 1 + z2 / count, b = -(2 * share + z2 / count), c = share * share;
    double root = sqrt(fmax(b * b - 4 * a * c, 0));
    expect(row, low, (-b - root) / (2 * a));
    expect(row, high, (-b + root) / (2 * a));
}

static double choose_log(size_t n, size_t k)
{
    return lgamma((double)n + 1) - lgamma((double)k + 1) - lgamma((double)(n - k) + 1);
}

/* 1 - C(n - c, k) / C(n, k), mean over problems; `p` < 0: correct ones, else certified above p. */
static double pass_at(const raw *r, size_t samples, size_t k, double p)
{
    if (samples < k)
        return (double)NAN;
    double sum = 0;
    size_t problems = r->count / samples;
    for (size_t i = 0; i < problems; i++) {
        size_t c = 0;
        for (size_t s = 0; s < samples; s++) {
            const json *row = r->rows[i * samples + s];
            c += p < 0 ? is_ok(row) : is_certified(row, p);
        }
        sum += samples - c < k ? 1 : 1 - exp(choose_log(samples - c, k) - choose_log(samples, k));
    }
    return sum / (double)problems;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double quantile(const double *sorted, size_t n, double q)
{
    if (n == 0)
        return (double)NAN;
    double place = q * (double)(n - 1), below = floor(place);
    size_t i = (size_t)below;
    return i + 1 < n ? sorted[i] * (1 - (place - below)) + sorted[i + 1] * (place - below)
                     : sorted[n - 1];
}

static double geomean(const double *values, size_t n)
{
    double product = 1;
    for (size_t i = 0; i < n; i++)
        product *= pow(values[i], 1.0 / (double)n);
    return n > 0 ? product : (double)NAN;
}

static void check_speeds(const json *entrant, const raw *r)
{
    double speeds[TASKS_MAX], gated = 0;
    size_t n = 0, losses = 0, scope = 0;
    for (size_t i = 0; i < r->count; i++) {
        double s = number(r->rows[i], "speedup");
        if (is_gemm(r->rows[i]))
            continue;
        scope++;
        if (isnan(s))
            continue;
        speeds[n++] = s;
        losses += s < 1;
        gated += s > 1 ? log(s) : 0;
    }
    qsort(speeds, n, sizeof *speeds, by_value);
    expect(entrant, "measured", (double)n);
    expect(entrant, "in_scope", (double)scope);
    expect(entrant, "losses", (double)losses);
    expect(entrant, "geomean", geomean(speeds, n));
    expect(entrant, "median", quantile(speeds, n, 0.5));
    expect(entrant, "p25", quantile(speeds, n, 0.25));
    expect(entrant, "p75", quantile(speeds, n, 0.75));
    expect(entrant, "gated_geomean", exp(gated / (double)scope));
}

static void check_shares(const json *entrant, const raw *r, size_t samples)
{
    const json *fast = json_get(entrant, "fast"), *pass = json_get(entrant, "pass_at_k");
    size_t correct = 0, certified = 0;
    for (size_t i = 0; i < r->count; i++) {
        correct += is_ok(r->rows[i]);
        certified += is_certified(r->rows[i], 1);
    }
    expect(entrant, "declared", (double)r->count);
    expect(entrant, "correct", (double)correct);
    expect_wilson(entrant, "correct_low", "correct_high", correct, r->count);
    expect_wilson(entrant, "certified_low", "certified_high", certified, r->count);
    assert_int_equal(json_size(fast), AGG_THRESHOLDS);
    for (size_t t = 0; t < AGG_THRESHOLDS; t++) {
        double p = number(json_at(fast, t), "p");
        size_t above = 0, sure = 0;
        for (size_t i = 0; i < r->count; i++) {
            above += number(r->rows[i], "speedup") > p;
            sure += is_certified(r->rows[i], p);
        }
        expect(json_at(fast, t), "count", (double)above);
        expect(json_at(fast, t), "certified", (double)sure);
        expect(json_at(fast, t), "share", (double)above / (double)r->count);
    }
    for (size_t k = 0; k < AGG_KS; k++) {
        size_t at = (size_t)json_int(json_get(json_at(pass, k), "k"), 0);
        expect(json_at(pass, k), "pass", pass_at(r, samples, at, -1));
        expect(json_at(pass, k), "certified_fast_1", pass_at(r, samples, at, 1));
    }
}

static void check_sums(const json *entrant, const raw *r)
{
    static const char *const keys[] = {"cost_usd", "cost_unknown_calls", "tokens_in", "tokens_out",
                                       "calls",    "attempts",           "wall_ms",   "device_ms"};
    for (size_t k = 0; k < sizeof keys / sizeof keys[0]; k++) {
        double sum = 0;
        for (size_t i = 0; i < r->count; i++)
            sum += number(r->rows[i], keys[k]);
        expect(entrant, keys[k], sum);
    }
    const json *failures = json_get(entrant, "failures");
    double failed = 0;
    for (size_t f = 0; f < json_size(failures); f++) {
        const json *one = json_at(failures, f);
        size_t n = 0;
        for (size_t i = 0; i < r->count; i++)
            n += strcmp(text(r->rows[i], "outcome"), text(one, "outcome")) == 0 &&
                 strcmp(text(r->rows[i], "stage"), text(one, "stage")) == 0;
        expect(one, "count", (double)n);
        failed += (double)n;
    }
    expect(entrant, "correct", (double)r->count - failed);
}

/* The median speed of an entrant at a problem; NaN without one. */
static double speed_at(const raw *r, size_t samples, size_t problem)
{
    double speeds[TASKS_MAX];
    size_t n = 0;
    for (size_t s = 0; s < samples; s++) {
        double speed = number(r->rows[problem * samples + s], "speedup");
        if (!isnan(speed))
            speeds[n++] = speed;
    }
    qsort(speeds, n, sizeof *speeds, by_value);
    return quantile(speeds, n, 0.5);
}

static void check_common(const json *root, const raw *rows, size_t samples)
{
    const json *entrants = json_get(root, "entrants");
    double speeds[ENTRANTS][TASKS_MAX];
    size_t n = 0, covered[ENTRANTS] = {0};
    for (size_t p = 0; p < rows[0].count / samples; p++) {
        bool all = true;
        if (is_gemm(rows[0].rows[p * samples]))
            continue;
        for (size_t e = 0; e < ENTRANTS; e++) {
            speeds[e][n] = speed_at(&rows[e], samples, p);
            covered[e] += isnan(speeds[e][n]) ? 0 : 1;
            all = all && !isnan(speeds[e][n]);
        }
        n += all;
    }
    expect(json_get(root, "ranking"), "common_problems", (double)n);
    for (size_t e = 0; e < ENTRANTS; e++) {
        expect(json_at(entrants, e), "common_geomean", geomean(speeds[e], n));
        expect(json_at(entrants, e), "covered_problems", (double)covered[e]);
    }
}

static json *results_of(const board *b)
{
    SCOPED(buf_fini) buf out = {0};
    err e = {0};
    buf_init(&out, MAX);
    SCOPED(figures_destroy) figures *all = figures_create(b);
    if (results_json(all, false, &out, &e) < 0)
        fail_msg("%s", e.text);
    json *root = json_parse_tree(buf_text(&out), out.size, "results.json", &e);
    if (root == NULL)
        fail_msg("%s", e.text);
    return root;
}

static void every_figure_follows_from_the_rows(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        made_ask ask = made_ask_of(seed, strengths, ENTRANTS);
        ask.samples = 1 + seed % 6;
        ask.problems = 10 + seed;
        SCOPED(made_destroy) made *m = made_create(&ask);
        SCOPED(json_destroy) json *root = results_of(&m->board);
        const json *entrants = json_get(root, "entrants");
        raw rows[ENTRANTS];
        assert_int_equal(json_size(entrants), ENTRANTS);
        for (size_t e = 0; e < ENTRANTS; e++) {
            const json *entrant = json_at(entrants, e);
            rows[e] = rows_of(root, text(entrant, "name"));
            assert_int_equal(rows[e].count, ask.problems * ask.samples);
            check_shares(entrant, &rows[e], ask.samples);
            check_speeds(entrant, &rows[e]);
            check_sums(entrant, &rows[e]);
        }
        check_common(root, rows, ask.samples);
    }
}

/* ---- ranks ---- */

static void ranks_of(const made_ask *ask, versus_rank *out)
{
    SCOPED(made_destroy) made *m = made_create(ask);
    SCOPED(figures_destroy) figures *all = figures_create(&m->board);
    const ranking *ranks = all->ranks;
    assert_int_equal(ranks->ranked, ask->entrants);
    for (size_t e = 0; e < ask->entrants; e++)
        out[e] = ranks->rows[ask->place[e]].place;
}

static void order_and_names_decide_no_rank(void **state)
{
    (void)state;
    static const size_t orders[][ENTRANTS] = {{3, 2, 1, 0}, {1, 3, 0, 2}, {2, 0, 3, 1}};
    static const char *const names[ENTRANTS] = {"~", "0", "\xC3\xA4", "B"};
    size_t distinct = 0;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        made_ask ask = made_ask_of(seed, strengths, ENTRANTS);
        versus_rank first[ENTRANTS], again[ENTRANTS];
        ranks_of(&ask, first);
        for (size_t o = 0; o < 3; o++) {
            memcpy(ask.place, orders[o], sizeof orders[o]);
            for (size_t e = 0; e < ENTRANTS; e++)
                ask.names[e] = names[(e + o) % ENTRANTS];
            ranks_of(&ask, again);
            assert_memory_equal(first, again, sizeof first);
        }
        for (size_t e = 0; e < ENTRANTS; e++)
            distinct += first[e].rank > 1;
    }
    assert_true(distinct > 0); /* or nothing was shown */
}

/* The best and the worst of them are told apart; ranks are those of competitions. */
static void ranks_are_competition_ranks(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        const made_ask ask = made_ask_of(seed, strengths, ENTRANTS);
        versus_rank ranks[ENTRANTS];
        ranks_of(&ask, ranks);
        assert_true(ranks[3].rank > ranks[0].rank);
        for (size_t e = 0; e < ENTRANTS; e++) {
            assert_in_range(ranks[e].rank, 1, ENTRANTS);
            assert_true(ranks[e].low <= ranks[e].high);
        }
    }
}

/* The same answers twice, beside a third who is much better. */
static void twins_share_a_rank_and_win_nothing(void **state)
{
    (void)state;
    static const double three[] = {0.4, 0.4, 0.8};
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        made_ask ask = made_ask_of(seed, three, 3);
        versus_rank ranks[3];
        ask.stream[1] = ask.stream[0];
        ranks_of(&ask, ranks);
        assert_memory_equal(&ranks[0], &ranks[1], sizeof ranks[0]);
        SCOPED(made_destroy) made *m = made_create(&ask);
        SCOPED(buf_fini) buf out = {0};
        buf_init(&out, MAX);
        assert_int_equal(compare_json(&m->board, &(claim_list){0}, &out, NULL), 0);
        SCOPED(json_destroy)
        json *root = json_parse_tree(buf_text(&out), out.size, "compare.json", NULL);
        const json *pair = json_at(json_get(root, "pairs"), 0);
        expect(pair, "first_wins", 0);
        expect(pair, "second_wins", 0);
        expect(pair, "mcnemar_holm", 1);
        expect(pair, "correct_difference", 0);
        expect(pair, "correct_low", 0);
        expect(pair, "correct_high", 0);
        expect(pair, "ratio", 1);
    }
}

/* Rows lie in the database in another order. */
static void the_order_of_rows_changes_no_byte(void **state)
{
    (void)state;
    SCOPED(fixture_destroy) fixture *f = fixture_create();
    static const char *const run = "run-cuda";
    SCOPED(buf_fini) buf before = {0};
    SCOPED(buf_fini) buf after = {0};
    buf_init(&before, MAX);
    buf_init(&after, MAX);
    filled_cuda(f);
    SCOPED(board_destroy)
    board *one = board_read(f->db, &(board_ask){.runs = &run, .run_count = 1}, NULL);
    SCOPED(figures_destroy) figures *of_one = figures_create(one);
    leaderboard_write(of_one, false, &before);
    fixture_exec(f, "UPDATE task SET rowid = -rowid; UPDATE comparison SET id = 1000 - id; "
                    "UPDATE measurement SET id = 1000 - id");
    SCOPED(board_destroy)
    board *other = board_read(f->db, &(board_ask){.runs = &run, .run_count = 1}, NULL);
    SCOPED(figures_destroy) figures *of_other = figures_create(other);
    leaderboard_write(of_other, false, &after);
    assert_string_equal(buf_text(&before), buf_text(&after));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_figure_follows_from_the_rows),
        cmocka_unit_test(order_and_names_decide_no_rank),
        cmocka_unit_test(ranks_are_competition_ranks),
        cmocka_unit_test(twins_share_a_rank_and_win_nothing),
        cmocka_unit_test(the_order_of_rows_changes_no_byte),
    };
    return cmocka_run_group_tests_name("properties", tests, NULL, NULL);
}
