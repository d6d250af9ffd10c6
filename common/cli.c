/* cli - options of a sub-command as one table
 *
 * SPDX-License-Identifier: MIT */
#include "common/cli.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "common/str.h"

enum { TABLE_MAX = 96, NAME_ROOM = 64, HELP_COLUMN = 26 };

/* One walk over argv. */
typedef struct walk {
    const cli_command *command;
    int argc;
    char **argv;
    int at;
    char *target;
} walk;

static const cli_option *find(const cli_command *command, const char *name, size_t size)
{
    for (const cli_option *o = command->options; o != NULL && o->name != NULL; o++)
        if (strlen(o->name) == size && memcmp(o->name, name, size) == 0)
            return o;
    return NULL;
}

static int unknown(const cli_command *command, const char *name, size_t size, err *e)
{
    const char *names[TABLE_MAX];
    size_t count = 0;
    for (const cli_option *o = command->options; o != NULL && o->name != NULL; o++)
        if (count < TABLE_MAX - 2)
            names[count++] = o->name;
    names[count++] = "help";
    names[count] = NULL;
    char word[NAME_ROOM];
    snprintf(word, sizeof word, "%.*s", (int)(size < sizeof word ? size : sizeof word - 1), name);
    const char *near = str_nearest(word, names);
    if (near != NULL)
        return err_set(e, ERR_USAGE, "%s: unknown option --%s (did you mean --%s?)", command->name,
                       word, near);
    return err_set(e, ERR_USAGE, "%s: unknown option --%s (see %s --help)", command->name, word,
                   command->name);
}

static bool bounded(const cli_option *o)
{
    return o->min != 0 || o->max != 0;
}

static int out_of_range(const cli_option *o, const char *text, err *e)
{
    return err_set(e, ERR_USAGE, "--%s %s is outside %.15g..%.15g", o->name, text, o->min, o->max);
}

static int set_int(const cli_option *o, void *place, const char *text, err *e)
{
    int64_t value;
    if (!str_to_i64(text, &value))
        return err_set(e, ERR_USAGE, "--%s needs a whole number, not \"%s\"", o->name, text);
    if (bounded(o) && ((double)value < o->min || (double)value > o->max))
        return out_of_range(o, text, e);
    memcpy(place, &value, sizeof value);
    return 0;
}

static int set_real(const cli_option *o, void *place, const char *text, err *e)
{
    double value;
    if (!str_to_f64(text, &value))
        return err_set(e, ERR_USAGE, "--%s needs a number, not \"%s\"", o->name, text);
    if (bounded(o) && (value < o->min || value > o->max))
        return out_of_range(o, text, e);
    memcpy(place, &value, sizeof value);
    return 0;
}

static int add_item(const cli_option *o, cli_list *list, const char *text, err *e)
{
    if (list->count == CLI_LIST_MAX)
        return err_set(e, ERR_USAGE, "--%s is given more than %d times", o->name, CLI_LIST_MAX);
    list->items[list->count++] = text;
    return 0;
}

static int store(const cli_option *o, char *target, const char *text, err *e)
{
    void *place = target + o->offset;
    switch (o->type) {
    case CLI_FLAG:
        *(bool *)place = true;
        return 0;
    case CLI_STR:
        memcpy(place, &text, sizeof text);
        return 0;
    case CLI_INT:
        return set_int(o, place, text, e);
    case CLI_REAL:
        return set_real(o, place, text, e);
    case CLI_LIST:
        return add_item(o, place, text, e);
    }
    return err_set(e, ERR_INTERNAL, "--%s has no type", o->name);
}

static int take_option(walk *w, const char *name, err *e)
{
    const char *equals = strchr(name, '=');
    size_t size = equals == NULL ? strlen(name) : (size_t)(equals - name);
    const cli_option *o = find(w->command, name, size);
    if (o == NULL)
        return unknown(w->command, name, size, e);
    if (o->type == CLI_FLAG && equals != NULL)
        return err_set(e, ERR_USAGE, "--%s takes no value", o->name);
    const char *value = equals == NULL ? o->bare : equals + 1;
    if (o->type != CLI_FLAG && value == NULL) {
        if (w->at + 1 >= w->argc)
            return err_set(e, ERR_USAGE, "--%s needs a value (%s)", o->name,
                           o->value == NULL ? "text" : o->value);
        value = w->argv[++w->at];
    }
    return store(o, w->target, value, e);
}

static bool asks_help(int argc, char **argv)
{
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)
            return true;
    return false;
}

static int check_count(const cli_command *command, size_t count, err *e)
{
    if (count < command->arguments_min)
        return err_set(e, ERR_USAGE, "%s needs %s%s", command->name,
                       command->arguments_min == 1 ? "" : "more arguments: ", command->arguments);
    return 0;
}

static int take_argument(walk *w, const char **arguments, size_t *count, err *e)
{
    const char *text = w->argv[w->at];
    if (*count == w->command->arguments_max)
        return w->command->arguments_max == 0
                   ? err_set(e, ERR_USAGE, "%s takes no argument, found \"%s\"", w->command->name,
                             text)
                   : err_set(e, ERR_USAGE, "%s takes at most %zu argument%s, found \"%s\"",
                             w->command->name, *count, *count == 1 ? "" : "s", text);
    arguments[(*count)++] = text;
    return 0;
}

/* NOLINTNEXTLINE(readability-function-size): argc and argv are one thing */
int cli_parse(const cli_command *command, int argc, char **argv, void *target,
              const char **arguments, size_t *argument_count, bool *help, err *e)
{
    *argument_count = 0;
    *help = asks_help(argc, argv);
    if (*help)
        return 0;
    bool options = true;
    walk w = {command, argc, argv, 1, target};
    for (; w.at < argc; w.at++) {
        const char *text = argv[w.at];
        int rc;
        if (options && strcmp(text, "--") == 0) {
            options = false;
            continue;
        }
        if (options && str_starts(text, "--"))
            rc = take_option(&w, text + 2, e);
        else if (options && text[0] == '-' && text[1] != '\0')
            rc = err_set(e, ERR_USAGE, "%s: unknown option %s (options start with --)",
                         command->name, text);
        else
            rc = take_argument(&w, arguments, argument_count, e);
        if (rc < 0)
            return -1;
    }
    return check_count(command, *argument_count, e);
}

static void print_option(const cli_option *o, FILE *out)
{
    char left[NAME_ROOM];
    const char *value = o->value == NULL ? "TEXT" : o->value;
    int size = o->type == CLI_FLAG ? snprintf(left, sizeof left, "--%s", o->name)
               : o->bare != NULL   ? snprintf(left, sizeof left, "--%s[=%s]", o->name, value)
                                   : snprintf(left, sizeof left, "--%s %s", o->name, value);
    if (size > HELP_COLUMN - 4)
        fprintf(out, "  %s\n%*s%s", left, HELP_COLUMN, "", o->help);
    else
        fprintf(out, "  %-*s%s", HELP_COLUMN - 2, left, o->help);
    if ((o->type == CLI_INT || o->type == CLI_REAL) && bounded(o))
        fprintf(out, " (%.15g..%.15g)", o->min, o->max);
    fprintf(out, "%s\n", o->type == CLI_LIST ? " (repeatable)" : "");
}

static void print_examples(const char *text, FILE *out)
{
    str rest = str_of(text);
    fprintf(out, "\nExamples:\n");
    for (str line; str_line(&rest, &line);)
        fprintf(out, "  %.*s\n", (int)line.size, line.data);
}

void cli_print_help(const cli_command *command, const char *program, FILE *out)
{
    const char *arguments = command->arguments == NULL ? "" : command->arguments;
    fprintf(out, "Usage: %s %s [options]%s%s\n\n%s\n\nOptions:\n", program, command->name,
            arguments[0] == '\0' ? "" : " ", arguments, command->summary);
    for (const cli_option *o = command->options; o != NULL && o->name != NULL; o++)
        if (o->help != NULL)
            print_option(o, out);
    fprintf(out, "  %-*sshow this help\n", HELP_COLUMN - 2, "--help");
    if (command->examples != NULL && command->examples[0] != '\0')
        print_examples(command->examples, out);
}
