/* test_calibration - the record of a self-test
 *
 * SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "common/scoped.h"
#include "wire/calibration.h"

static char text[] = "x";

static calibration_check row(void)
{
    return (calibration_check){.name = text,
                               .label = text,
                               .duration = text,
                               .decides = true,
                               .passed = true,
                               .verdict = text,
                               .theta = 0.01,
                               .ci_low = -0.01,
                               .ci_high = 0.02,
                               .candidate_ms = 0.5,
                               .pairs = 10,
                               .value = (double)NAN,
                               .limit = 3};
}

static calibration_record record(calibration_check *checks, size_t count)
{
    return (calibration_record){.device = text,
                                .device_kind = text,
                                .device_uuid = text,
                                .driver = text,
                                .torch = text,
                                .version = text,
                                .protocol = text,
                                .quick = true,
                                .passed = true,
                                .wall_s = 4.5,
                                .checks = checks,
                                .check_count = count};
}

static void what_is_written_is_read(void **state)
{
    (void)state;
    calibration_check rows[2] = {row(), row()};
    rows[1].text = text;
    rows[1].verdict = NULL;
    const calibration_record told = record(rows, 2);
    calibration_record got SCOPED(calibration_record_fini) = {.device = NULL};
    err e = {0};
    SCOPED(scoped_free) char *written = calibration_write(&told);
    assert_int_equal(calibration_read(written, strlen(written), &got, &e), 0);
    assert_int_equal(got.check_count, 2);
    assert_true(got.quick && got.passed && got.wall_s > 4.4 && got.wall_s < 4.6);
    assert_string_equal(got.checks[0].verdict, "x");
    assert_null(got.checks[0].text);
    assert_true(isnan(got.checks[0].value));
    assert_null(got.checks[1].verdict);
    assert_string_equal(got.checks[1].text, "x");
    assert_int_equal(got.checks[1].pairs, 10);
    SCOPED(scoped_free) char *again = calibration_write(&got);
    assert_string_equal(again, written);
}

static void what_is_not_whole_is_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {"", "{}", "[]", "{\"device\": 1}"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        calibration_record got = {.device = NULL};
        err e = {0};
        assert_int_equal(calibration_read(bad[i], strlen(bad[i]), &got, &e), -1);
        assert_int_equal(e.code, ERR_CONFIG);
        assert_null(got.device);
    }
}

static void a_time_has_one_of_three_classes(void **state)
{
    (void)state;
    static const struct {
        double ms;
        int number;
    } rows[] = {{0.001, 0}, {0.0199, 0}, {0.020, 1}, {0.199, 1}, {0.200, 2}, {100, 2}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_string_equal(calibration_class(rows[i].ms), calibration_class_name(rows[i].number));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_is_written_is_read),
                                       cmocka_unit_test(what_is_not_whole_is_refused),
                                       cmocka_unit_test(a_time_has_one_of_three_classes)};
    return cmocka_run_group_tests_name("calibration", tests, NULL, NULL);
}
