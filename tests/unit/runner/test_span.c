/* test_span - how long calls took, from lists of records
 *
 * SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "agent-node/runner/timing/span.h"

enum { MOST = 64 };

typedef struct list {
    span_record records[MOST];
    size_t count;
} list;

static void add(list *l, uint32_t correlation, uint32_t graph, const char *name, uint64_t start,
                uint64_t end)
{
    span_record *r = &l->records[l->count++];
    *r = (span_record){.kind = name == NULL ? SPAN_FILL : SPAN_KERNEL,
                       .correlation = correlation,
                       .graph = graph,
                       .start = start,
                       .end = end,
                       .grid = {8, 1, 1},
                       .block = {256, 1, 1},
                       .registers = 40};
    snprintf(r->name, sizeof r->name, "%s", name != NULL ? name : "");
}

/* Two calls of a plan that clears memory and runs `one` and `two`, each after poison and flush; records
 * come in any order. */
static void fill(list *l)
{
    *l = (list){.count = 0};
    add(l, 14, 7, "two", 5000, 9000);
    add(l, 14, 7, "one", 2000, 4000);
    add(l, 14, 7, NULL, 1000, 1500);
    add(l, 13, 0, "flush", 500, 900);
    add(l, 12, 6, NULL, 100, 400);
    add(l, 24, 7, NULL, 11000, 11500);
    add(l, 24, 7, "one", 12000, 14000);
    add(l, 24, 7, "two", 13000, 19000); /* beside `one` */
    add(l, 23, 0, "flush", 10000, 10500);
    add(l, 22, 6, NULL, 9500, 9900);
    add(l, 11, 0, "spin", 1, 90);
}

static const char *const plan[] = {"two", "one"};
static const span_want wanted = {
    .marker = "flush", .samples = 2, .kernels = plan, .kernel_count = 2, .calls = 1};

static bool near(double a, double b)
{
    return fabs(a - b) < 1e-9;
}

static void a_span_is_from_the_first_start_to_the_last_end(void **state)
{
    (void)state;
    char why[200] = "";
    list l;
    span_result r;
    fill(&l);
    assert_true(span_of(l.records, l.count, &wanted, &r, why, sizeof why));
    assert_int_equal(r.samples, 2);
    assert_true(near(r.span_ms[0], 0.008) && near(r.span_ms[1], 0.008));
    assert_true(near(r.busy_ms[0], 0.0065) && near(r.busy_ms[1], 0.0075));
    assert_true(near(r.nodes, 3));
    assert_int_equal(r.kernel_count, 2);
    assert_string_equal(r.kernels[0].name, "two"); /* longest together */
    assert_true(near(r.kernels[0].ms, 0.005) && near(r.kernels[0].launches, 1));
    assert_int_equal(r.kernels[0].registers, 40);
    assert_int_equal(r.kernels[0].block[0], 256);
}

static void a_chain_is_one_sample_of_many_calls(void **state)
{
    (void)state;
    static const char *const one[] = {"k"};
    const span_want want = {
        .marker = "flush", .samples = 1, .kernels = one, .kernel_count = 1, .calls = 3};
    char why[200] = "";
    list l = {.count = 0};
    span_result r;
    add(&l, 1, 0, "flush", 10, 20);
    add(&l, 2, 5, "k", 1000, 2000);
    add(&l, 2, 5, "k", 3000, 4000);
    add(&l, 2, 5, "k", 5000, 6000);
    assert_true(span_of(l.records, l.count, &want, &r, why, sizeof why));
    assert_true(near(r.span_ms[0], 0.005) && near(r.busy_ms[0], 0.003));
    assert_true(near(r.kernels[0].launches, 1) && near(r.nodes, 1));
}

/* Each row spoils the good list in its own way. */
typedef void spoil_fn(list *l);

static void no_end(list *l)
{
    l->records[0].end = 0;
}

static void no_start(list *l)
{
    l->records[4].start = 0;
}

static void lost_kernel(list *l)
{
    l->records[1] = l->records[--l->count];
}

static void other_kernel(list *l)
{
    snprintf(l->records[1].name, sizeof l->records[1].name, "three");
}

static void one_more(list *l)
{
    add(l, 24, 7, "one", 15000, 16000);
}

static void lost_call(list *l)
{
    l->count = 5;
}

static void lost_clear(list *l)
{
    l->records[2] = l->records[--l->count];
}

static void nothing_at_all(list *l)
{
    l->count = 0;
}

static void what_is_incomplete_is_no_span(void **state)
{
    (void)state;
    static const struct {
        spoil_fn *spoil;
        const char *why;
    } rows[] = {{no_end, "no timestamps of two"},
                {no_start, "no timestamps of a copy or fill"},
                {lost_kernel, "0 launches of one were seen in a sample, not 1"},
                {other_kernel, "0 launches of one"},
                {one_more, "2 launches of one were seen in a sample, not 1"},
                {lost_call, "1 of 2 timed launches"},
                {lost_clear, "one sample has 2 records, another 3"},
                {nothing_at_all, "0 of 2 timed launches among 0 records"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char why[200] = "";
        list l;
        span_result r;
        fill(&l);
        rows[i].spoil(&l);
        assert_false(span_of(l.records, l.count, &wanted, &r, why, sizeof why));
        if (strstr(why, rows[i].why) == NULL || strncmp(why, "incomplete: ", 12) != 0)
            fail_msg("row %zu: %s", i, why);
    }
}

static void without_a_plan_samples_must_be_alike(void **state)
{
    (void)state;
    span_want want = wanted;
    char why[200] = "";
    list l;
    span_result r;
    want.kernels = NULL;
    want.kernel_count = 0;
    fill(&l);
    assert_true(span_of(l.records, l.count, &want, &r, why, sizeof why));
    one_more(&l);
    assert_false(span_of(l.records, l.count, &want, &r, why, sizeof why));
}

static void a_kernel_named_as_the_marker_is_none_in_a_graph(void **state)
{
    (void)state;
    static const char *const one[] = {"flush"};
    const span_want want = {
        .marker = "flush", .samples = 1, .kernels = one, .kernel_count = 1, .calls = 1};
    char why[200] = "";
    list l = {.count = 0};
    span_result r;
    add(&l, 1, 0, "flush", 10, 20);
    add(&l, 2, 5, "flush", 1000, 2000);
    assert_true(span_of(l.records, l.count, &want, &r, why, sizeof why));
    assert_true(near(r.span_ms[0], 0.001));
}

static void the_gate_is_five_percent_or_a_microsecond_and_a_half(void **state)
{
    (void)state;
    static const struct {
        double event, floor, busy, span;
        bool agrees;
    } rows[] = {{0.105, 0.004, 0.100, 0.100, true},
                {0.110, 0.004, 0.100, 0.100, false},
                {0.0974, 0.002, 0.100, 0.100, true},
                {0.0960, 0.002, 0.100, 0.100, false},
                {0.0054, 0.002, 0.002, 0.002, true},
                {0.0056, 0.002, 0.002, 0.002, false},
                /* a chain on an H200: CUPTI's 0.12 µs a kernel are in the span */
                {0.1085, 0.0039, 0.0800, 0.1144, true},
                {0.0750, 0.0039, 0.0800, 0.1144, false},
                {0.1250, 0.0039, 0.0800, 0.1144, false}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_int_equal(span_agrees(rows[i].event, rows[i].floor, rows[i].busy, rows[i].span),
                         rows[i].agrees);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_span_is_from_the_first_start_to_the_last_end),
        cmocka_unit_test(a_chain_is_one_sample_of_many_calls),
        cmocka_unit_test(what_is_incomplete_is_no_span),
        cmocka_unit_test(without_a_plan_samples_must_be_alike),
        cmocka_unit_test(a_kernel_named_as_the_marker_is_none_in_a_graph),
        cmocka_unit_test(the_gate_is_five_percent_or_a_microsecond_and_a_half),
    };
    return cmocka_run_group_tests_name("span", tests, NULL, NULL);
}
