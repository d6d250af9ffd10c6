/* test_rules - thresholds from a file
 *
 * SPDX-License-Identifier: MIT */
/* cmocka wants these first. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/file.h"
#include "reports/rules.h"

static int load(const char *text, gate_rules *out, err *e)
{
    char path[] = "/tmp/ce-rules-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    assert_int_equal(file_write(path, text, strlen(text), NULL), 0);
    int rc = rules_load(path, out, e);
    unlink(path);
    return rc;
}

static void what_is_not_told_keeps_its_default(void **state)
{
    (void)state;
    gate_rules got;
    assert_int_equal(load("relative: 0.1\nnoise_factor: 4\n", &got, NULL), 0);
    assert_true(got.relative == 0.1 && got.noise_factor == 4);
    assert_true(got.floor_ms == gate_defaults.floor_ms && got.shift == gate_defaults.shift);
}

static void mistakes_are_told(void **state)
{
    (void)state;
    static const char *const cases[][2] = {{"relatve: 0.1\n", "relatve"},
                                           {"shift: many\n", "/shift"},
                                           {"floor_ms: -1\n", "/floor_ms"},
                                           {"[1]\n", "object"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        gate_rules got;
        err e = {0};
        assert_int_equal(load(cases[i][0], &got, &e), -1);
        if (e.code != ERR_CONFIG || strstr(e.text, cases[i][1]) == NULL)
            fail_msg("%s: %s", cases[i][0], e.text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_not_told_keeps_its_default),
        cmocka_unit_test(mistakes_are_told),
    };
    return cmocka_run_group_tests_name("rules", tests, NULL, NULL);
}
