/* test_settings - the command line of ce-node
 *
 * SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "agent-node/settings.h"

enum { ARGUMENTS_MAX = 32 };

/* Splits a line at blanks and parses it. */
static int parse(const char *line, settings *out, bool *help, err *e)
{
    static char copy[512];
    char *argv[ARGUMENTS_MAX + 1] = {NULL};
    int argc = 0;
    char *rest = copy;
    snprintf(copy, sizeof(copy), "%s", line);
    for (char *word; (word = strsep(&rest, " ")) != NULL && argc < ARGUMENTS_MAX;) {
        argv[argc++] = word;
    }
    *help = false;
    return settings_parse(argc, argv, out, help, e);
}

static void a_coordinator_is_enough(void **state)
{
    (void)state;
    settings s;
    bool help;
    err e = {0};
    if (parse("ce-node --coordinator ipc:///tmp/x", &s, &help, &e) != 0) {
        fail_msg("%s", e.text);
    }
    assert_false(help);
    assert_string_equal(s.coordinator, "ipc:///tmp/x");
    assert_string_equal(s.device, "auto");
    assert_int_equal(s.slots, 0); /* by the devices that are found */
    assert_int_equal(s.compilers, 2);
    assert_null(s.fake);
    assert_null(s.cache);
    assert_null(s.python);
    assert_null(s.name);
    assert_false(s.local || s.unsafe_compile || s.verbose);
}

static void every_option_is_taken(void **state)
{
    (void)state;
    settings s;
    bool help;
    err e = {0};
    assert_int_equal(parse("ce-node --coordinator=tcp://127.0.0.1:1 --device fake --slots 3 "
                           "--name n --python p --fake f.json --cache c --compilers 1 --nvrtc l",
                           &s, &help, &e),
                     0);
    assert_string_equal(s.coordinator, "tcp://127.0.0.1:1");
    assert_string_equal(s.device, "fake");
    assert_int_equal(s.slots, 3);
    assert_string_equal(s.name, "n");
    assert_string_equal(s.python, "p");
    assert_string_equal(s.fake, "f.json");
    assert_string_equal(s.cache, "c");
    assert_int_equal(s.compilers, 1);
    assert_string_equal(s.nvrtc, "l");
    assert_int_equal(
        parse("ce-node --coordinator x --local --unsafe-compile --verbose", &s, &help, &e), 0);
    assert_true(s.local && s.unsafe_compile && s.verbose);
}

static void what_is_wrong_is_said(void **state)
{
    (void)state;
    static const struct {
        const char *line, *says;
    } cases[] = {{"ce-node", "--coordinator URI is required"},
                 {"ce-node --device fake", "--coordinator"},
                 {"ce-node --coordinator x --device tpu", "tpu"},
                 {"ce-node --coordinator x --slots 0", "slots"},
                 {"ce-node --coordinator x --slots 1025", "slots"},
                 {"ce-node --coordinator x --slots many", "slots"},
                 {"ce-node --coordinator x --compilers 65", "compilers"},
                 {"ce-node --coordinator", "coordinator"},
                 {"ce-node --coordinater x", "--coordinator"},
                 {"ce-node --coordinator x surplus", "surplus"}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        settings s;
        bool help;
        err e = {0};
        assert_int_equal(parse(cases[i].line, &s, &help, &e), -1);
        assert_int_equal(e.code, ERR_USAGE);
        if (strstr(e.text, cases[i].says) == NULL) {
            fail_msg("case %zu says: %s", i, e.text);
        }
    }
}

static void help_needs_no_coordinator(void **state)
{
    (void)state;
    settings s;
    bool help;
    err e = {0};
    assert_int_equal(parse("ce-node --help", &s, &help, &e), 0);
    assert_true(help);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_coordinator_is_enough), cmocka_unit_test(every_option_is_taken),
        cmocka_unit_test(what_is_wrong_is_said), cmocka_unit_test(help_needs_no_coordinator)};
    return cmocka_run_group_tests_name("settings", tests, NULL, NULL);
}
