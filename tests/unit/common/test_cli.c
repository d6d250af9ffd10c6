/* test_cli - options of a sub-command
 *
 * SPDX-License-Identifier: MIT */
/* cmocka wants these first. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/cli.h"
#include "common/scoped.h"

typedef struct target {
    bool yes;
    const char *suite;
    int64_t samples;
    double budget, watch;
    cli_list models;
} target;

static const cli_option options[] = {
    {"yes", CLI_FLAG, offsetof(target, yes), NULL, "do not ask", 0, 0, NULL},
    {"suite", CLI_STR, offsetof(target, suite), "S", "what to run", 0, 0, NULL},
    {"samples", CLI_INT, offsetof(target, samples), "N", "attempts a problem", 1, 100, NULL},
    {"budget-usd", CLI_REAL, offsetof(target, budget), "X", "stop before spending more", 0, 1000,
     NULL},
    {"model-id-with-a-long-name", CLI_LIST, offsetof(target, models), "P:M", "who competes", 0, 0,
     NULL},
    {"model-id", CLI_LIST, offsetof(target, models), "P:M", "who competes", 0, 0, NULL},
    {"watch", CLI_REAL, offsetof(target, watch), "SECONDS", "again and again", 0.1, 60, "1"},
    {NULL, CLI_FLAG, 0, NULL, NULL, 0, 0, NULL},
};

static const cli_command command = {
    "eval", "Run suites.", "[RUN…]", 0, 2, "ce eval --suite internal\nce eval latest", options};
static const cli_command one_needed = {"show", "Show a suite.", "SUITE", 1, 1, "", options};
static const cli_command bare = {"doctor", "Look around.", "", 0, 0, NULL, NULL};

typedef struct answer {
    target t;
    const char *arguments[2];
    size_t count;
    bool help;
    err e;
} answer;

/* parse splits `line` at spaces; the words live until the next call. */
static int parse(const cli_command *c, const char *line, answer *a)
{
    static char words[512];
    static char name[] = "cmd";
    char *argv[80] = {name};
    int argc = 1;
    *a = (answer){.t = {.samples = 1, .suite = "default"}};
    snprintf(words, sizeof words, "%s", line);
    for (char *at = words; *at != '\0' && argc < 80;) {
        argv[argc++] = at;
        at += strcspn(at, " ");
        if (*at != '\0')
            *at++ = '\0';
    }
    return cli_parse(c, argc, argv, &a->t, a->arguments, &a->count, &a->help, &a->e);
}

static void every_type_is_stored_in_both_spellings(void **state)
{
    (void)state;
    answer a;
    assert_int_equal(parse(&command,
                           "--yes --suite internal r1 --samples=100 --budget-usd 2.5 "
                           "--model-id a:b --model-id=c=d r2",
                           &a),
                     0);
    assert_true(a.t.yes);
    assert_string_equal(a.t.suite, "internal");
    assert_int_equal(a.t.samples, 100);
    assert_true(a.t.budget == 2.5);
    assert_int_equal(a.t.models.count, 2);
    assert_string_equal(a.t.models.items[0], "a:b");
    assert_string_equal(a.t.models.items[1], "c=d");
    assert_int_equal(a.count, 2);
    assert_string_equal(a.arguments[0], "r1");
    assert_string_equal(a.arguments[1], "r2");
    assert_false(a.help);
}

static void absent_options_keep_their_defaults(void **state)
{
    (void)state;
    answer a;
    assert_int_equal(parse(&command, "", &a), 0);
    assert_int_equal(a.t.samples, 1);
    assert_string_equal(a.t.suite, "default");
    assert_int_equal(a.count, 0);
    assert_int_equal(parse(&bare, "", &a), 0);
}

static void double_dash_ends_the_options(void **state)
{
    (void)state;
    answer a;
    assert_int_equal(parse(&command, "--yes -- --suite --help", &a), 0);
    assert_int_equal(a.count, 2);
    assert_string_equal(a.arguments[0], "--suite");
    assert_string_equal(a.arguments[1], "--help");
    assert_int_equal(parse(&command, "-", &a), 0); /* the usual name of stdin */
    assert_string_equal(a.arguments[0], "-");
    assert_int_equal(parse(&command, "--suite --yes", &a), 0); /* a value may look like anything */
    assert_string_equal(a.t.suite, "--yes");
    assert_int_equal(parse(&command, "--suite=", &a), 0);
    assert_string_equal(a.t.suite, "");
}

static void a_value_may_be_left_out_where_the_table_has_one(void **state)
{
    (void)state;
    answer a;
    assert_int_equal(parse(&command, "", &a), 0);
    assert_true(a.t.watch == 0);
    assert_int_equal(parse(&command, "--watch 5", &a), 0); /* 5 is an argument */
    assert_true(a.t.watch == 1 && a.count == 1);
    assert_string_equal(a.arguments[0], "5");
    assert_int_equal(parse(&command, "--watch=5", &a), 0);
    assert_true(a.t.watch == 5 && a.count == 0);
    assert_int_equal(parse(&command, "--watch=0", &a), -1);
    assert_string_equal(a.e.text, "--watch 0 is outside 0.1..60");
}

static void mistakes_are_explained(void **state)
{
    (void)state;
    static const struct {
        const cli_command *command;
        const char *line;
        const char *text;
    } rows[] = {
        {&command, "--siute x", "eval: unknown option --siute (did you mean --suite?)"},
        {&command, "--sample 3", "eval: unknown option --sample (did you mean --samples?)"},
        {&command, "--quack=1", "eval: unknown option --quack (see eval --help)"},
        {&command, "-s x", "eval: unknown option -s (options start with --)"},
        {&command, "--suite", "--suite needs a value (S)"},
        {&command, "--yes=1", "--yes takes no value"},
        {&command, "--samples many", "--samples needs a whole number, not \"many\""},
        {&command, "--samples 1.5", "--samples needs a whole number, not \"1.5\""},
        {&command, "--samples=", "--samples needs a whole number, not \"\""},
        {&command, "--samples 0", "--samples 0 is outside 1..100"},
        {&command, "--samples 101", "--samples 101 is outside 1..100"},
        {&command, "--samples 9223372036854775808",
         "--samples needs a whole number, not \"9223372036854775808\""},
        {&command, "--budget-usd -0.5", "--budget-usd -0.5 is outside 0..1000"},
        {&command, "--budget-usd nan", "--budget-usd needs a number, not \"nan\""},
        {&command, "a b c", "eval takes at most 2 arguments, found \"c\""},
        {&one_needed, "", "show needs SUITE"},
        {&one_needed, "a b", "show takes at most 1 argument, found \"b\""},
        {&bare, "x", "doctor takes no argument, found \"x\""},
        {&bare, "--yes", "doctor: unknown option --yes (see doctor --help)"},
        {&bare, "--hlep", "doctor: unknown option --hlep (did you mean --help?)"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        answer a;
        assert_int_equal(parse(rows[i].command, rows[i].line, &a), -1);
        assert_int_equal(a.e.code, ERR_USAGE);
        assert_string_equal(a.e.text, rows[i].text);
    }
}

static void a_list_has_an_end(void **state)
{
    (void)state;
    static char name[] = "cmd";
    static char option[] = "--model-id";
    char *argv[2 * CLI_LIST_MAX + 3] = {name};
    int argc = 1;
    for (int i = 0; i <= CLI_LIST_MAX; i++) {
        argv[argc++] = option;
        argv[argc++] = name;
    }
    target t = {0};
    const char *arguments[2];
    size_t count;
    bool help;
    err e = {0};
    assert_int_equal(cli_parse(&command, argc - 2, argv, &t, arguments, &count, &help, &e), 0);
    t = (target){0};
    assert_int_equal(cli_parse(&command, argc, argv, &t, arguments, &count, &help, &e), -1);
    assert_string_equal(e.text, "--model-id is given more than 64 times");
}

static void help_wins_over_every_mistake(void **state)
{
    (void)state;
    answer a;
    assert_int_equal(parse(&one_needed, "--nonsense --help", &a), 0);
    assert_true(a.help);
    assert_int_equal(parse(&one_needed, "-h", &a), 0);
    assert_true(a.help);
}

static void help_shows_the_whole_table(void **state)
{
    (void)state;
    SCOPED(scoped_free) char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    cli_print_help(&command, "ce-coord", out);
    fclose(out);
    assert_string_equal(text, "Usage: ce-coord eval [options] [RUN…]\n\nRun suites.\n\nOptions:\n"
                              "  --yes                   do not ask\n"
                              "  --suite S               what to run\n"
                              "  --samples N             attempts a problem (1..100)\n"
                              "  --budget-usd X          stop before spending more (0..1000)\n"
                              "  --model-id-with-a-long-name P:M\n"
                              "                          who competes (repeatable)\n"
                              "  --model-id P:M          who competes (repeatable)\n"
                              "  --watch[=SECONDS]       again and again (0.1..60)\n"
                              "  --help                  show this help\n"
                              "\nExamples:\n  ce eval --suite internal\n  ce eval latest\n");
}

static void a_command_without_options_has_help_too(void **state)
{
    (void)state;
    SCOPED(scoped_free) char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    cli_print_help(&bare, "ce-coord", out);
    fclose(out);
    assert_string_equal(text, "Usage: ce-coord doctor [options]\n\nLook around.\n\nOptions:\n"
                              "  --help                  show this help\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_type_is_stored_in_both_spellings),
        cmocka_unit_test(absent_options_keep_their_defaults),
        cmocka_unit_test(double_dash_ends_the_options),
        cmocka_unit_test(a_value_may_be_left_out_where_the_table_has_one),
        cmocka_unit_test(mistakes_are_explained),
        cmocka_unit_test(a_list_has_an_end),
        cmocka_unit_test(help_wins_over_every_mistake),
        cmocka_unit_test(help_shows_the_whole_table),
        cmocka_unit_test(a_command_without_options_has_help_too),
    };
    return cmocka_run_group_tests_name("cli", tests, NULL, NULL);
}
