/* test_start - the options of what starts a run, and what a resumed one refuses
 *
 * SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "common/scoped.h"
#include "coordinator/start.h"

typedef struct options {
    const char *own;
    start_options start;
} options;

static const cli_option table[] = {START_OPTIONS(options, start), {.name = NULL}};
static const cli_command command = {
    .name = "x", .summary = "", .arguments = "", .examples = "", .options = table};

static int parse(const char *const *words, int count, options *out, err *e)
{
    const char *arguments[1];
    size_t given = 0;
    bool help = false;
    *out = (options){.own = NULL};
    start_defaults(&out->start);
    return cli_parse(&command, count, (char **)(uintptr_t)words, out, arguments, &given, &help, e);
}

static void what_is_typed_goes_into_the_settings(void **state)
{
    (void)state;
    static const char *const words[] = {"x",       "--device", "emu",  "--seed",   "7", "--out",
                                        "folder",  "--slots",  "3",    "--python", "p", "--suites",
                                        "suites/", "--json",   "--db", "f.db"};
    options o;
    err e = {0};
    SCOPED(settings_fini) settings s = {.suites = NULL};
    if (parse(words, 16, &o, &e) != 0)
        fail_msg("%s", e.text);
    assert_int_equal(start_fill(&o.start, &s, &e), 0);
    assert_int_equal(start_fill_new(&o.start, &s, &e), 0);
    assert_string_equal(s.device, "emu");
    assert_string_equal(s.out, "folder");
    assert_string_equal(s.python, "p");
    assert_string_equal(s.suites_dir, "suites/");
    assert_true(s.seed == 7 && s.slots == 3 && s.node_timeout_ms == SETTINGS_NODE_TIMEOUT_MS);
    char program[] = "ce-coord";
    char *argv[] = {program, NULL};
    const cmd_program of = {.version = "1.2"};
    const cmd_call call = {.program = &of, .db = "/x/f.db", .argv = argv};
    eval_request r = start_request(&call, &o.start, &s, "ce-coord x");
    assert_true(r.wanted == &s && r.json && r.resume == NULL && !r.yes && !r.dry_run);
    assert_string_equal(r.db, "/x/f.db");
    assert_string_equal(r.db_given, "f.db");
    assert_string_equal(r.version, "1.2");
    assert_string_equal(r.command, "ce-coord x");
}

static void nothing_typed_is_auto_and_a_random_seed(void **state)
{
    (void)state;
    static const char *const words[] = {"x"};
    options o;
    err e = {0};
    SCOPED(settings_fini) settings s = {.suites = NULL};
    assert_int_equal(parse(words, 1, &o, &e), 0);
    assert_int_equal(start_fill(&o.start, &s, &e), 0);
    assert_int_equal(start_fill_new(&o.start, &s, &e), 0);
    assert_string_equal(s.device, "auto");
    assert_true(s.seed >= 0 && s.slots == 0 && s.out == NULL);
}

static void what_cannot_be_is_refused(void **state)
{
    (void)state;
    options o;
    err e = {0};
    SCOPED(settings_fini) settings s = {.suites = NULL}, t = {.suites = NULL};
    static const char *const fake[] = {"x", "--fake", "/nowhere/fake.json"};
    assert_int_equal(parse(fake, 3, &o, &e), 0);
    assert_int_equal(start_fill(&o.start, &s, &e), -1);
    assert_non_null(strstr(e.text, "--fake /nowhere/fake.json"));
    static const char *const device[] = {"x", "--device", "tpu"};
    assert_int_equal(parse(device, 3, &o, &e), 0);
    assert_int_equal(start_fill_new(&o.start, &t, &e), -1);
    assert_int_equal(e.code, ERR_USAGE);
}

static void a_resumed_run_is_what_it_was(void **state)
{
    (void)state;
    static const struct {
        const char *words[3];
        bool own;
        const char *named; /* NULL: fine */
    } rows[] = {{{"x", "--out", "f"}, false, NULL},
                {{"x", "--device", "emu"}, false, "--device"},
                {{"x", "--seed", "0"}, false, "--seed"},
                {{"x", "--suites", "s"}, false, "--suites"},
                {{"x", "--slots", "2"}, true, "a PROBLEM"}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        options o;
        err e = {0};
        const start_fixed own[] = {{"a PROBLEM", rows[i].own}};
        assert_int_equal(parse(rows[i].words, 3, &o, &e), 0);
        int rc = start_check_resume(&o.start, own, 1, &e);
        assert_int_equal(rc, rows[i].named != NULL ? -1 : 0);
        if (rows[i].named != NULL && strstr(e.text, rows[i].named) == NULL)
            fail_msg("%s", e.text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_typed_goes_into_the_settings),
        cmocka_unit_test(nothing_typed_is_auto_and_a_random_seed),
        cmocka_unit_test(what_cannot_be_is_refused),
        cmocka_unit_test(a_resumed_run_is_what_it_was),
    };
    return cmocka_run_group_tests_name("coordinator/start", tests, NULL, NULL);
}
