/* test_cmd_selftest - the command's exit codes
 *
 * SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent-node/cmd_selftest.h"
#include "common/file.h"

static const char well[] =
    "{\"default\": {\"candidate_ms\": [0.150], \"warm_ms\": 0.09, \"baselines\": {\"eager\": "
    "[0.150]}}, \"problems\": {\"selftest_slower_3\": {\"candidate_ms\": [0.1546]}, "
    "\"selftest_slower_10\": {\"candidate_ms\": [0.165]}, "
    "\"selftest_launch\": {\"warm_ms\": 0.01}, \"selftest_noop\": {\"check\": {\"outcome\": "
    "\"wrong\"}}, "
    "\"selftest_sleeper\": {\"check\": {\"outcome\": \"hung\"}}, "
    "\"selftest_cached\": {\"check\": {\"outcome\": \"uninitialised\"}}, "
    "\"selftest_beyond\": {\"check\": {\"outcome\": \"out_of_bounds\"}}}}";

static int call(int count, const char *const *words)
{
    char *argv[8] = {NULL};
    for (int i = 0; i < count; i++)
        argv[i] = (char *)(uintptr_t)words[i];
    return cmd_selftest(count, argv);
}

static void the_exit_code_says_what_came_of_it(void **state)
{
    (void)state;
    static const struct {
        const char *script;
        int code;
    } rows[] = {{well, 0}, {"{}", 3}, {"{\"no\": 1}", 1}};
    char path[] = "/tmp/ce-selftest-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *argv[] = {"selftest", "--quick", "--device", "fake", "--fake", path};
        assert_int_equal(file_write(path, rows[i].script, strlen(rows[i].script), NULL), 0);
        assert_int_equal(call(6, argv), rows[i].code);
    }
    unlink(path);
}

static void what_is_typed_wrong_is_usage(void **state)
{
    (void)state;
    const char *odd[] = {"selftest", "--quickly"};
    const char *emu[] = {"selftest", "--device", "emu"};
    const char *help[] = {"selftest", "--help"};
    assert_int_equal(call(2, odd), 2);
    assert_int_equal(call(3, emu), 2);
    assert_int_equal(call(2, help), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_exit_code_says_what_came_of_it),
                                       cmocka_unit_test(what_is_typed_wrong_is_usage)};
    return cmocka_run_group_tests_name("cmd_selftest", tests, NULL, NULL);
}
