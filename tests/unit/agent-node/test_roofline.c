/* test_roofline - the time that nobody beats
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

#include "agent-node/roofline.h"
#include "common/scoped.h"

/* One tensor in, one out, 1 Mi elements each; `in` and `more` as JSON. */
static contract *terms_with(const char *in, const char *more, const char *operations)
{
    err e = {0};
    char text[1024];
    snprintf(text, sizeof text,
             "{\"problem\":\"p\",\"dims\":[{\"name\":\"n\",\"min\":0,\"max\":1048576}],\"inputs\":["
             "{\"name\":\"x\",\"dtype\":\"%s\",\"shape\":[\"n\"]}%s],\"scalars\":[],\"outputs\":["
             "{\"name\":\"y\",\"dtype\":\"f32\",\"shape\":[\"n\"]}],\"values\":[\"normal\"],"
             "\"shapes\":[{\"n\":1}],\"benchmark\":{\"n\":1048576},\"reduction\":\"1\","
             "\"order_free\":false%s}",
             in, more, operations);
    contract *terms = contract_parse(text, strlen(text), "test", &e);
    if (terms == NULL)
        fail_msg("%s", e.text);
    return terms;
}

static contract *terms_of(const char *in, const char *more)
{
    return terms_with(in, more, "");
}

static double floor_of(const contract *terms, int64_t l2, double rate)
{
    err e = {0};
    double ms = 0;
    assert_int_equal(roofline_floor_ms(terms, &(roofline_device){l2, rate, 90, 0}, &ms, &e), 0);
    return ms;
}

static bool near(double a, double b)
{
    return fabs(a - b) < 1e-12;
}

static void reads_count_whole_and_writes_beyond_l2(void **state)
{
    (void)state;
    SCOPED(contract_destroy) contract *terms = terms_of("f32", "");
    const double mib4 = 4194304;
    int64_t bytes = 0;
    err e = {0};
    assert_int_equal(roofline_bytes(terms, &terms->benchmark, &bytes, &e), 0);
    assert_int_equal(bytes, 2 * 4194304);
    assert_true(near(floor_of(terms, 60000000, 4e12), mib4 / 4e9)); /* writes stay in L2 */
    assert_true(near(floor_of(terms, 1048576, 4e12), (mib4 + mib4 - 1048576) / 4e9));
    assert_true(isnan(floor_of(terms, 60000000, 0)));
}

static void what_may_be_indexed_need_not_be_read(void **state)
{
    (void)state;
    SCOPED(contract_destroy)
    contract *terms = terms_of("f32", ",{\"name\":\"i\",\"dtype\":\"i64\",\"shape\":[\"16\"]}");
    assert_true(near(floor_of(terms, 60000000, 4e12), 16 * 8 / 4e9));
}

static void near_and_beaten_are_relative_to_the_floor(void **state)
{
    (void)state;
    assert_true(roofline_beats(0.94, 1.0));
    assert_false(roofline_beats(0.96, 1.0));
    assert_true(roofline_near(1.14, 1.0));
    assert_false(roofline_near(1.16, 1.0));
    assert_false(roofline_beats(0.1, (double)NAN));
    assert_false(roofline_near(0.1, (double)NAN));
}

#define OPS (2e5 * 1048576)
/* What the card's units need for them, against what its memory needs. */
static void operations_count_where_they_are_told(void **state)
{
    (void)state;
    static const struct {
        const char *in;
        int64_t cc;
        double baseline_ms, ms;
    } rows[] = {{"f16", 90, 0, OPS / 989.4e9},
                {"f16", 80, 0, OPS / 312e9},
                {"f32", 90, 0, 3 * OPS / 989.4e9},
                {"f16", 90, 0.1, 0.1}, /* the baseline is faster than the table says */
                {"f16", 90, 9e9, OPS / 989.4e9},
                {"f64", 90, 0, 8388608 / 4e9}, /* bytes alone */
                {"f16", 86, 0, 2097152 / 4e9}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        err e = {0};
        double ms = 0;
        SCOPED(contract_destroy)
        contract *terms = terms_with(rows[i].in, "", ",\"operations\":\"200000 * n\"");
        const roofline_device card = {60000000, 4e12, rows[i].cc, rows[i].baseline_ms};
        assert_int_equal(roofline_floor_ms(terms, &card, &ms, &e), 0);
        if (fabs(ms - rows[i].ms) > 1e-9 * rows[i].ms)
            fail_msg("row %zu: %g, not %g", i, ms, rows[i].ms);
        const roofline_device silent = {0, 0, rows[i].cc, 0};
        assert_int_equal(roofline_floor_ms(terms, &silent, &ms, &e), 0);
        assert_true(isnan(ms) == (rows[i].ms < 0.003));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_count_whole_and_writes_beyond_l2),
        cmocka_unit_test(what_may_be_indexed_need_not_be_read),
        cmocka_unit_test(near_and_beaten_are_relative_to_the_floor),
        cmocka_unit_test(operations_count_where_they_are_told),
    };
    return cmocka_run_group_tests_name("roofline", tests, NULL, NULL);
}
