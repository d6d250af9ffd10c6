/* test_clock - time as a value
 *
 * SPDX-License-Identifier: MIT */
/* cmocka wants these first. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>
#include <time.h>

#include "common/clock.h"

static void times_are_written_in_utc(void **state)
{
    (void)state;
    static const struct {
        int64_t ms;
        const char *text;
    } rows[] = {{0, "1970-01-01T00:00:00Z"},
                {999, "1970-01-01T00:00:00Z"},
                {-1, "1969-12-31T23:59:59Z"},
                {-1000, "1969-12-31T23:59:59Z"},
                {951782400000, "2000-02-29T00:00:00Z"},
                {1796056122123, "2026-11-30T16:28:42Z"}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char out[CLOCK_TEXT];
        clock_text(rows[i].ms, out);
        assert_string_equal(out, rows[i].text);
    }
}

static void absurd_times_do_not_overrun(void **state)
{
    (void)state;
    char out[CLOCK_TEXT];
    clock_text(INT64_MAX, out);
    assert_true(strlen(out) < CLOCK_TEXT);
    clock_text(INT64_MIN, out);
    assert_true(strlen(out) < CLOCK_TEXT);
}

static void the_monotonic_clock_never_goes_back(void **state)
{
    (void)state;
    int64_t last = clock_mono_us();
    for (int i = 0; i < 10000; i++) {
        int64_t now = clock_mono_us();
        assert_true(now >= last);
        last = now;
    }
    int64_t ms = clock_mono_ms();
    assert_true(ms >= last / 1000 && ms < last / 1000 + 10000);
}

static void the_wall_clock_is_unix_time(void **state)
{
    (void)state;
    time_t before = time(NULL);
    int64_t now = clock_wall_ms() / 1000;
    assert_true(now >= before - 1 && now <= time(NULL) + 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(times_are_written_in_utc),
        cmocka_unit_test(absurd_times_do_not_overrun),
        cmocka_unit_test(the_monotonic_clock_never_goes_back),
        cmocka_unit_test(the_wall_clock_is_unix_time),
    };
    return cmocka_run_group_tests_name("clock", tests, NULL, NULL);
}
