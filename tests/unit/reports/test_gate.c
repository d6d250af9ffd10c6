/* test_gate - simulated nights: few false alarms, real slowdowns found
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

#include "common/rng.h"
#include "common/scoped.h"
#include "common/xalloc.h"
#include "reports/gate.h"

enum { TASKS = 200, NIGHTS = 30, HISTORY = 7 };

/* Standard normal (Box and Muller 1958). */
static double normal(rng *r)
{
    return sqrt(-2 * log(1 - rng_unit(r))) * cos(2 * M_PI * rng_unit(r));
}

/* Tasks of 20 us to 2 ms with a noise of 0.3 to 1.5 % from night to night. */
typedef struct world {
    rng r;
    double true_ms[TASKS], noise[TASKS];
    double before[TASKS][HISTORY], now[TASKS], again[TASKS];
} world;

static double sample(world *w, size_t task, double factor)
{
    return w->true_ms[task] * factor * exp(w->noise[task] * normal(&w->r));
}

static world *world_create(uint64_t seed)
{
    world *w = xcalloc(1, sizeof *w);
    rng_init(&w->r, seed);
    for (size_t i = 0; i < TASKS; i++) {
        w->true_ms[i] = 0.02 * exp(log(100) * rng_unit(&w->r));
        w->noise[i] = 0.003 + 0.012 * rng_unit(&w->r);
        for (size_t k = 0; k < HISTORY; k++)
            w->before[i][k] = sample(w, i, 1);
    }
    return w;
}

/* One night in which task `slow` takes `factor` times as long, and all take `all` times as long. */
static gate_sum night(world *w, size_t slow, double factor, double all, gate_task *out)
{
    gate_times inputs[TASKS];
    for (size_t i = 0; i < TASKS; i++) {
        double f = all * (i == slow ? factor : 1);
        w->now[i] = sample(w, i, f);
        w->again[i] = sample(w, i, f);
        inputs[i] =
            (gate_times){w->before[i], &w->now[i], &w->again[i], HISTORY, 1, 1, (double)NAN};
    }
    return gate_judge(&gate_defaults, inputs, TASKS, (double)NAN, out);
}

static void quiet_nights_give_at_most_one_alarm(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 5; seed++) {
        SCOPED(scoped_free) world *w = world_create(seed);
        gate_task out[TASKS];
        size_t alarms = 0;
        for (int i = 0; i < NIGHTS; i++) {
            const gate_sum sum = night(w, TASKS, 1, 1, out);
            assert_int_equal(sum.judged, TASKS);
            assert_false(sum.is_shifted);
            alarms += sum.slower + sum.drifting > 0 ? 1 : 0;
        }
        assert_true(alarms <= 1);
    }
}

static void a_slowdown_of_ten_percent_is_found_in_one_night(void **state)
{
    (void)state;
    size_t found = 0;
    for (uint64_t seed = 1; seed <= 5; seed++) {
        SCOPED(scoped_free) world *w = world_create(seed);
        gate_task out[TASKS];
        for (size_t task = 0; task < TASKS; task++) {
            night(w, task, 1.1, 1, out);
            found += out[task].verdict == GATE_SLOWER && out[task].confirmed ? 1 : 0;
        }
    }
    assert_true(found >= 950); /* of 1,000 */
}

/* One task, held against its last ten nights, of which the first ten were quiet. */
static int nights_until_found(world *w, size_t task)
{
    enum { WINDOW = 10, MOST = 30 };
    double series[WINDOW + MOST];
    for (int i = 0; i < WINDOW; i++)
        series[i] = sample(w, task, 1);
    for (int i = 1; i <= MOST; i++) {
        double factor = pow(1.01, i);
        double again = sample(w, task, factor);
        series[WINDOW + i - 1] = sample(w, task, factor);
        const gate_times input = {&series[i - 1], &series[WINDOW + i - 1], &again, WINDOW, 1, 1,
                                  (double)NAN};
        gate_task out;
        const gate_sum sum = gate_judge(&gate_defaults, &input, 1, (double)NAN, &out);
        if (sum.slower + sum.drifting > 0)
            return i;
    }
    return MOST + 1;
}

static void a_drift_of_one_percent_a_night_is_found_in_ten(void **state)
{
    (void)state;
    size_t found = 0;
    for (uint64_t seed = 1; seed <= 5; seed++) {
        SCOPED(scoped_free) world *w = world_create(seed);
        for (size_t task = 0; task < TASKS; task++)
            found += nights_until_found(w, task) <= 10 ? 1 : 0;
    }
    assert_true(found >= 950); /* of 1,000 */
}

static void a_trend_is_the_slope_of_its_logarithms(void **state)
{
    (void)state;
    double ms[8], noise;
    for (int i = 0; i < 8; i++)
        ms[i] = exp(0.01 * i);
    ms[3] = 5; /* one night is no trend */
    assert_true(fabs(gate_trend(ms, 8, &noise) - 0.01) < 1e-3);
    assert_true(noise < 1e-3);
    assert_true(isnan(gate_trend(ms, 5, &noise)));
}

static void what_moves_everything_is_the_machine(void **state)
{
    (void)state;
    SCOPED(scoped_free) world *w = world_create(9);
    gate_task out[TASKS];
    const gate_sum sum = night(w, 3, 1.3, 1.08, out);
    assert_true(sum.is_shifted && sum.shift > 0.06 && sum.shift < 0.1);
    assert_int_equal(sum.slower, 0);
    assert_int_equal(out[3].verdict, GATE_SAME);
}

/* A kernel became slower, and so did what nobody changed. */
static void a_sick_canary_judges_nobody(void **state)
{
    (void)state;
    static const double well[] = {0.01, -0.01, 0.004, 0.3, -0.002},
                        sick[] = {0.03, 0.04, 0.021, 0.05, 0};
    const double before = 1, now = 1.3;
    const gate_times input = {&before, &now, &now, 1, 1, 1, 0.001};
    gate_task out;
    assert_true(isnan(gate_canary(well, 4)));
    assert_true(gate_canary(well, 5) == 0.004);
    gate_sum sum = gate_judge(&gate_defaults, &input, 1, gate_canary(well, 5), &out);
    assert_true(sum.slower == 1 && !sum.is_sick);
    sum = gate_judge(&gate_defaults, &input, 1, gate_canary(sick, 5), &out);
    assert_true(sum.slower == 0 && sum.is_sick);
    assert_int_equal(out.verdict, GATE_SAME);
}

/* Thirty nights in which nothing changes but by chance, each held against all before it: no drift is told. */
static void thirty_quiet_nights_are_no_drift(void **state)
{
    (void)state;
    enum { SERIES = 200 };
    size_t drifts = 0;
    SCOPED(scoped_free) world *w = world_create(21);
    for (size_t task = 0; task < SERIES; task++) {
        double series[NIGHTS];
        for (size_t i = 0; i < NIGHTS; i++)
            series[i] = sample(w, task, 1);
        double again = sample(w, task, 1);
        const gate_times input = {series, &series[NIGHTS - 1], &again, NIGHTS - 1, 1,
                                  1,      (double)NAN};
        gate_task out;
        drifts += gate_judge(&gate_defaults, &input, 1, (double)NAN, &out).drifting;
    }
    assert_true(drifts <= 1);
}

/* Thirty nights of 0.3 % each, seen by the whole window: 9 %. */
static void a_slow_drift_is_found_in_thirty_nights(void **state)
{
    (void)state;
    size_t found = 0;
    SCOPED(scoped_free) world *w = world_create(22);
    for (size_t task = 0; task < TASKS; task++) {
        double series[NIGHTS];
        for (size_t i = 0; i < NIGHTS; i++)
            series[i] = sample(w, task, pow(1.003, (double)i));
        double again = sample(w, task, pow(1.003, NIGHTS - 1));
        const gate_times input = {series, &series[NIGHTS - 1], &again, NIGHTS - 1, 1,
                                  1,      (double)NAN};
        gate_task out;
        const gate_sum sum = gate_judge(&gate_defaults, &input, 1, (double)NAN, &out);
        found += sum.drifting + sum.slower;
    }
    assert_true(found >= TASKS * 95 / 100);
}

static void thresholds_are_the_largest_of_all(void **state)
{
    (void)state;
    static const struct {
        double before, now, again, noise;
        size_t repetitions;
        gate_verdict verdict;
        bool confirmed;
    } cases[] = {
        {1, 1.04, 1.04, 0.001, 1, GATE_SAME, false},   /* below 5 % */
        {1, 1.06, 1.06, 0.001, 1, GATE_SLOWER, true},  /* above */
        {1, 1.06, 1.06, 0.001, 0, GATE_SLOWER, false}, /* nobody looked again */
        {1, 1.06, 1.01, 0.001, 1, GATE_SAME, false},   /* not seen again */
        {1, 1.06, 0.9, 0.001, 1, GATE_SAME, false},    /* the other way */
        {1, 1.06, 1.06, 0.03, 1, GATE_SAME, false},    /* within three times the noise */
        {1, 1.12, 1.12, 0.03, 1, GATE_SLOWER, true},
        {1, 0.9, 0.9, 0.01, 1, GATE_FASTER, true},
        {0.01, 0.0108, 0.0108, 0.001, 1, GATE_SAME, false}, /* 0.8 us */
        {1, 1.1, 1.1, (double)NAN, 1, GATE_SAME, false},    /* noise unknown: 15 % */
        {1, 1.2, 1.2, (double)NAN, 1, GATE_SLOWER, true},
        {(double)NAN, 1.2, 1.2, 0.001, 1, GATE_UNJUDGED, false},
        {1, (double)NAN, (double)NAN, 0.001, 1, GATE_UNJUDGED, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const gate_times input = {&cases[i].before,
                                  &cases[i].now,
                                  &cases[i].again,
                                  isnan(cases[i].before) ? 0U : 1U,
                                  isnan(cases[i].now) ? 0U : 1U,
                                  isnan(cases[i].now) ? 0 : cases[i].repetitions,
                                  cases[i].noise};
        gate_task out;
        gate_judge(&gate_defaults, &input, 1, (double)NAN, &out);
        if (out.verdict != cases[i].verdict || out.confirmed != cases[i].confirmed)
            fail_msg("case %zu: %s", i, gate_name(out.verdict));
    }
}

static void the_spread_is_that_of_a_normal_sample(void **state)
{
    (void)state;
    rng r;
    rng_init(&r, 4);
    double ms[1000];
    for (size_t i = 0; i < 1000; i++)
        ms[i] = exp(0.02 * normal(&r));
    assert_true(fabs(gate_spread(ms, 1000) - 0.02) < 0.002);
    assert_true(isnan(gate_spread(ms, 2)));
    /* MAD of ln {1, e, e²} is 1 */
    const double three[] = {1, exp(1), exp(2)};
    assert_true(fabs(gate_spread(three, 3) - 1.4826 * 1.495) < 1e-12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quiet_nights_give_at_most_one_alarm),
        cmocka_unit_test(a_slowdown_of_ten_percent_is_found_in_one_night),
        cmocka_unit_test(a_drift_of_one_percent_a_night_is_found_in_ten),
        cmocka_unit_test(a_trend_is_the_slope_of_its_logarithms),
        cmocka_unit_test(what_moves_everything_is_the_machine),
        cmocka_unit_test(a_sick_canary_judges_nobody),
        cmocka_unit_test(thirty_quiet_nights_are_no_drift),
        cmocka_unit_test(a_slow_drift_is_found_in_thirty_nights),
        cmocka_unit_test(thresholds_are_the_largest_of_all),
        cmocka_unit_test(the_spread_is_that_of_a_normal_sample),
    };
    return cmocka_run_group_tests_name("gate", tests, NULL, NULL);
}
