/* cmd - finds the command, parses its options, prepares what it needs, prints what went wrong
 *
 * SPDX-License-Identifier: MIT */
#include "coordinator/cmd.h"

#include <stdlib.h>
#include <string.h>

#include "common/buf.h"
#include "common/file.h"
#include "common/json.h"
#include "common/scoped.h"
#include "common/str.h"
#include "common/xalloc.h"
#include "store/store.h"

enum { COMMAND_MAX = 64 * 1024, COMMANDS_MAX = 64, ARGUMENTS_MAX = 64 };

int cmd_exit_of(const err *e)
{
    static const err_code people[] = {ERR_USAGE, ERR_CONFIG, ERR_NOT_FOUND, ERR_CONFLICT,
                                      ERR_DENIED};
    for (size_t i = 0; i < sizeof people / sizeof people[0]; i++) {
        if (e->code == people[i])
            return CMD_EXIT_USAGE;
    }
    return CMD_EXIT_HARNESS;
}

const cmd_entry *cmd_find(const cmd_program *program, const char *name)
{
    for (const cmd_entry *const *at = program->commands; *at; at++) {
        if (strcmp((*at)->cli->name, name) == 0)
            return *at;
    }
    return NULL;
}

/* Where everything of this user is: $CE_HOME, else ce in the XDG data folder; NULL when there is neither. */
static char *data_folder(const cmd_program *program)
{
    if (program->ce_home && *program->ce_home)
        return xstrdup(program->ce_home);
    if (program->xdg_data_home && *program->xdg_data_home)
        return file_join(program->xdg_data_home, "ce");
    if (program->home && *program->home)
        return file_join(program->home, ".local/share/ce");
    return NULL;
}

char *cmd_db_path(const cmd_program *program, const char *given, err *e)
{
    if (given)
        return xstrdup(given);
    SCOPED(scoped_free) char *folder = data_folder(program);
    if (folder)
        return file_join(folder, "ce.db");
    err_set(e, ERR_USAGE, "no place for the database: give --db FILE, or set CE_HOME");
    return NULL;
}

char *cmd_keys_path(const cmd_program *program, const char *given, err *e)
{
    if (given)
        return xstrdup(given);
    SCOPED(scoped_free) char *folder = data_folder(program);
    if (folder)
        return file_join(folder, "keys");
    err_set(e, ERR_USAGE, "no place for keys: give --keys DIR, or set CE_HOME");
    return NULL;
}

int cmd_print_json(const json *document)
{
    SCOPED(scoped_free) char *text = json_dump_pretty(document);
    fputs(text, stdout);
    return CMD_EXIT_COMPLETE;
}

char *cmd_typed(const cmd_call *call)
{
    buf out;
    buf_init(&out, COMMAND_MAX);
    for (int i = 0; i < call->argc; i++) {
        const char *word = call->argv[i];
        bool plain = *word && !word[strcspn(word, " \t\n'\"\\$`*?[](){}<>|&;#~!")];
        buf_printf(&out, plain ? "%s%s" : "%s'%s'", i ? " " : "", word);
    }
    return buf_take(&out);
}

void cmd_print_help(const cmd_program *program, FILE *out)
{
    fprintf(out, "%s %s - %s\n\nusage: %s COMMAND [OPTIONS]\n\ncommands:\n", program->name,
            program->version, program->summary, program->name);
    for (const cmd_entry *const *at = program->commands; *at; at++) {
        if (!((*at)->flags & CMD_HIDDEN))
            fprintf(out, "  %-18s %s\n", (*at)->cli->name, (*at)->cli->summary);
    }
    fprintf(out, "  %-18s %s\n\n", "help COMMAND", "options and examples of a command");
    fprintf(out, "exit codes: 0 complete, 1 harness error, 2 usage, 3 a check said no,\n"
                 "            4 budget reached, 5 incomplete, 130 interrupted and resumable\n");
}

void cmd_print_reference(const cmd_program *program, FILE *out)
{
    fprintf(
        out,
        "# %s: command line\n\nPrinted by `%s docs cli` from the tables that parse the options.\n\n"
        "```\n",
        program->name, program->name);
    cmd_print_help(program, out);
    fprintf(out, "```\n");
    for (const cmd_entry *const *at = program->commands; *at; at++) {
        if ((*at)->flags & CMD_HIDDEN)
            continue;
        fprintf(out, "\n## %s %s\n\n```\n", program->name, (*at)->cli->name);
        cli_print_help((*at)->cli, program->name, out);
        fprintf(out, "```\n");
    }
}

static int usage(const cmd_program *program, const char *format, const char *name)
{
    fprintf(stderr, "%s: ", program->name);
    fprintf(stderr, "%s %s", format, name);
    const char *names[COMMANDS_MAX + 1] = {NULL};
    size_t count = 0;
    for (const cmd_entry *const *at = program->commands; *at && count < COMMANDS_MAX; at++) {
        if (!((*at)->flags & CMD_HIDDEN))
            names[count++] = (*at)->cli->name;
    }
    const char *near = str_nearest(name, names);
    if (near)
        fprintf(stderr, "; did you mean %s?", near);
    fprintf(stderr, " (%s --help lists the commands)\n", program->name);
    return CMD_EXIT_USAGE;
}

/* find_words: a command is named by one word or by two; *words says how many of argv it took. */
static const cmd_entry *find_words(const cmd_program *program, int argc, char **argv, int *words)
{
    *words = 1;
    const cmd_entry *entry = cmd_find(program, argv[0]);
    if (entry || argc < 2)
        return entry;
    SCOPED(scoped_free) char *both = xasprintf("%s %s", argv[0], argv[1]);
    *words = 2;
    return cmd_find(program, both);
}

/* unknown names what begins with the same word, where there is such. */
static int unknown(const cmd_program *program, int argc, char **argv)
{
    SCOPED(buf_fini) buf verbs;
    buf_init(&verbs, COMMAND_MAX);
    SCOPED(scoped_free) char *prefix = xasprintf("%s ", argv[0]);
    for (const cmd_entry *const *at = program->commands; *at; at++) {
        if (str_starts((*at)->cli->name, prefix))
            buf_printf(&verbs, "%s%s", verbs.size ? ", " : "", (*at)->cli->name + strlen(prefix));
    }
    if (!verbs.size)
        return usage(program, "there is no command", argv[0]);
    fprintf(stderr, "%s %s: %s%s%s: want one of %s\n", program->name, argv[0],
            argc > 1 ? "there is no `" : "what to do", argc > 1 ? argv[1] : "",
            argc > 1 ? "`" : " is missing", buf_text(&verbs));
    return CMD_EXIT_USAGE;
}

static int help(const cmd_program *program, int argc, char **argv)
{
    if (argc == 0) {
        cmd_print_help(program, stdout);
        return CMD_EXIT_COMPLETE;
    }
    int words;
    const cmd_entry *entry = find_words(program, argc, argv, &words);
    if (!entry)
        return unknown(program, argc, argv);
    cli_print_help(entry->cli, program->name, stdout);
    return CMD_EXIT_COMPLETE;
}

static int fail(const cmd_program *program, const cmd_entry *entry, const err *e)
{
    const char *text = e->text;
    size_t size = strlen(entry->cli->name);
    if (str_starts(text, entry->cli->name) && str_starts(text + size, ": "))
        text += size + 2; /* the option parser has named the command already */
    fprintf(stderr, "%s %s: %s\n", program->name, entry->cli->name, text);
    return cmd_exit_of(e);
}

/* Opens what the flags ask for, runs the command, closes. */
static int run_prepared(const cmd_program *program, const cmd_entry *entry, cmd_call *call)
{
    err e = {0};
    SCOPED(scoped_free) char *db = NULL;
    SCOPED(store_destroy) store *opened = NULL;
    if (entry->flags & CMD_DB) {
        const char *given;
        memcpy(&given, (const char *)call->options + entry->db_offset, sizeof given);
        db = cmd_db_path(program, given, &e);
        if (!db)
            return fail(program, entry, &e);
        call->db = db;
    }
    if (entry->flags & CMD_STORE_READ) {
        opened = store_open(db, STORE_READ, &e);
        if (!opened)
            return fail(program, entry, &e);
        call->store = opened;
    }
    int code = entry->run(call, &e);
    return code < 0 ? fail(program, entry, &e) : code;
}

/* argv[words] is the first option or argument. */
static int run_entry(const cmd_program *program, const cmd_entry *entry, int words, int argc,
                     char **argv)
{
    err e = {0};
    SCOPED(scoped_free) char *options = xcalloc(1, entry->options_size ? entry->options_size : 1);
    if (entry->defaults)
        entry->defaults(options);
    const char *arguments[ARGUMENTS_MAX] = {NULL};
    cmd_call call = {
        .program = program, .options = options, .arguments = arguments, .argc = argc, .argv = argv};
    bool asked = false;
    if (cli_parse(entry->cli, argc - words, argv + words, options, arguments, &call.argument_count,
                  &asked, &e))
        return fail(program, entry, &e);
    if (asked) {
        cli_print_help(entry->cli, program->name, stdout);
        return CMD_EXIT_COMPLETE;
    }
    return run_prepared(program, entry, &call);
}

int cmd_dispatch(const cmd_program *program, int argc, char **argv)
{
    if (argc < 2) {
        cmd_print_help(program, stderr);
        return CMD_EXIT_USAGE;
    }
    const char *name = argv[1];
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0 || strcmp(name, "help") == 0)
        return help(program, argc - 2, argv + 2);
    if (strcmp(name, "--version") == 0) {
        printf("%s %s\n", program->name, program->version);
        return CMD_EXIT_COMPLETE;
    }
    int words;
    const cmd_entry *entry = find_words(program, argc - 1, argv + 1, &words);
    return entry ? run_entry(program, entry, words, argc, argv)
                 : unknown(program, argc - 1, argv + 1);
}
