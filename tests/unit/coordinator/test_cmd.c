/* test_cmd - the dispatcher: finding, helping, refusing
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

#include "common/scoped.h"
#include "coordinator/cmd.h"

typedef struct options {
    const char *db;
    int64_t number;
} options;

static const cli_option table[] = {{.name = "db",
                                    .type = CLI_STR,
                                    .offset = offsetof(options, db),
                                    .value = "F",
                                    .help = "database"},
                                   {.name = "number",
                                    .type = CLI_INT,
                                    .offset = offsetof(options, number),
                                    .value = "N",
                                    .help = "a number"},
                                   {.name = NULL}};
static const cli_command say = {.name = "say",
                                .summary = "says",
                                .arguments = "[WORD]",
                                .arguments_max = 1,
                                .examples = "",
                                .options = table};
static const cli_command look = {
    .name = "look", .summary = "looks", .arguments = "", .examples = "", .options = table};

static int64_t seen;
static char seen_word[16];
static err_code wanted;

static void five(void *target)
{
    ((options *)target)->number = 5;
}

static int run_say(const cmd_call *call, err *e)
{
    seen = ((options *)call->options)->number;
    snprintf(seen_word, sizeof seen_word, "%s", call->argument_count ? call->arguments[0] : "");
    return wanted ? err_set(e, wanted, "it went wrong") : CMD_EXIT_NO;
}

static const cmd_entry entry_say = {
    .cli = &say, .options_size = sizeof(options), .defaults = five, .run = run_say};
static const cmd_entry entry_look = {.cli = &look,
                                     .options_size = sizeof(options),
                                     .db_offset = offsetof(options, db),
                                     .flags = CMD_DB | CMD_STORE_READ,
                                     .run = run_say};
static const cmd_entry *const entries[] = {&entry_say, &entry_look, NULL};
static const cmd_program program = {.name = "ce-test",
                                    .summary = "tests",
                                    .version = "9.9",
                                    .commands = entries,
                                    .home = "/home/x"};

/* Runs the words after the program's name with stdout and stderr in files; gives the exit code. */
static int dispatch(const char *words, char *text, size_t size)
{
    char line[256], *argv[16] = {(char[]){"ce-test"}};
    int argc = 1;
    snprintf(line, sizeof line, "%s", words);
    for (char *save = NULL, *w = strtok_r(line, " ", &save); w; w = strtok_r(NULL, " ", &save))
        argv[argc++] = w;
    FILE *sink = tmpfile();
    assert_non_null(sink);
    fflush(stdout);
    fflush(stderr);
    int out = dup(1), error = dup(2);
    dup2(fileno(sink), 1);
    dup2(fileno(sink), 2);
    int code = cmd_dispatch(&program, argc, argv);
    fflush(stdout);
    fflush(stderr);
    dup2(out, 1);
    dup2(error, 2);
    close(out);
    close(error);
    rewind(sink);
    size_t got = fread(text, 1, size - 1, sink);
    text[got] = '\0';
    fclose(sink);
    return code;
}

static void the_command_line_decides_what_runs(void **state)
{
    (void)state;
    static const struct {
        const char *words;
        int code;
        const char *text; /* somewhere in what is printed */
    } rows[] = {
        {"", CMD_EXIT_USAGE, "usage: ce-test COMMAND"},
        {"--help", CMD_EXIT_COMPLETE, "look"},
        {"help", CMD_EXIT_COMPLETE, "exit codes"},
        {"help say", CMD_EXIT_COMPLETE, "--number"},
        {"say --help", CMD_EXIT_COMPLETE, "--number"},
        {"--version", CMD_EXIT_COMPLETE, "ce-test 9.9"},
        {"sya", CMD_EXIT_USAGE, "did you mean say?"},
        {"help sya", CMD_EXIT_USAGE, "there is no command sya"},
        {"say --numbr 3", CMD_EXIT_USAGE, "--number"},
        {"say a b", CMD_EXIT_USAGE, "ce-test say: "},
        {"say", CMD_EXIT_NO, ""},
        {"look --db /nowhere/x.db", CMD_EXIT_USAGE, "/nowhere/x.db"},
    };
    char text[8192];
    wanted = ERR_NONE;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        assert_int_equal(dispatch(rows[i].words, text, sizeof text), rows[i].code);
        assert_non_null(strstr(text, rows[i].text));
    }
}

static void options_reach_the_command_over_its_defaults(void **state)
{
    (void)state;
    char text[256];
    wanted = ERR_NONE;
    dispatch("say", text, sizeof text);
    assert_int_equal(seen, 5);
    dispatch("say --number 8 word", text, sizeof text);
    assert_int_equal(seen, 8);
    assert_string_equal(seen_word, "word");
}

static void an_error_is_printed_once_with_its_exit_code(void **state)
{
    (void)state;
    static const struct {
        err_code code;
        int exit;
    } rows[] = {
        {ERR_USAGE, 2},    {ERR_CONFIG, 2},  {ERR_NOT_FOUND, 2}, {ERR_CONFLICT, 2}, {ERR_DENIED, 2},
        {ERR_PROTOCOL, 1}, {ERR_TIMEOUT, 1}, {ERR_SYSTEM, 1},    {ERR_INTERNAL, 1}, {ERR_GPU, 1},
    };
    char text[256];
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        wanted = rows[i].code;
        assert_int_equal(dispatch("say", text, sizeof text), rows[i].exit);
        assert_string_equal(text, "ce-test say: it went wrong\n");
    }
    wanted = ERR_NONE;
}

static void the_database_has_a_default_place(void **state)
{
    (void)state;
    cmd_program p = program;
    SCOPED(scoped_free) char *given = cmd_db_path(&p, "a.db", NULL);
    SCOPED(scoped_free) char *home = cmd_db_path(&p, NULL, NULL);
    p.xdg_data_home = "/xdg";
    SCOPED(scoped_free) char *xdg = cmd_db_path(&p, NULL, NULL);
    p.ce_home = "/ce";
    SCOPED(scoped_free) char *ce = cmd_db_path(&p, NULL, NULL);
    assert_string_equal(given, "a.db");
    assert_string_equal(home, "/home/x/.local/share/ce/ce.db");
    assert_string_equal(xdg, "/xdg/ce/ce.db");
    assert_string_equal(ce, "/ce/ce.db");
    err e = {0};
    p = (cmd_program){.name = "ce-test"};
    assert_null(cmd_db_path(&p, NULL, &e));
    assert_int_equal(e.code, ERR_USAGE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_command_line_decides_what_runs),
        cmocka_unit_test(options_reach_the_command_over_its_defaults),
        cmocka_unit_test(an_error_is_printed_once_with_its_exit_code),
        cmocka_unit_test(the_database_has_a_default_place),
    };
    return cmocka_run_group_tests_name("coordinator/cmd", tests, NULL, NULL);
}
