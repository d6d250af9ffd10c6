/* cmd_suite_list - ce-coord suite list: what can be run
 *
 * SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "common/scoped.h"
#include "coordinator/survey.h"
#include "coordinator/cmd.h"
#include "coordinator/shelf.h"

typedef struct options {
    const char *suites, *root, *level, *python, *db;
    bool json;
} options;

static const cli_option table[] = {CMD_OPTION_SUITES(options),
                                   {.name = "root",
                                    .type = CLI_STR,
                                    .offset = offsetof(options, root),
                                    .value = "DIR",
                                    .help = "with kernelbench: the checkout"},
                                   {.name = "level",
                                    .type = CLI_STR,
                                    .offset = offsetof(options, level),
                                    .value = "1,2,3",
                                    .help = "with kernelbench: levels to list (default 1,2,3)"},
                                   {.name = "python",
                                    .type = CLI_STR,
                                    .offset = offsetof(options, python),
                                    .value = "FILE",
                                    .help = "with kernelbench: interpreter with PyTorch"},
                                   CMD_OPTION_DB(options),
                                   {.name = "json",
                                    .type = CLI_FLAG,
                                    .offset = offsetof(options, json),
                                    .help = "print an object with `suites` and `problems`"},
                                   {.name = NULL}};

static const cli_command command = {.name = "suite list",
                                    .summary = "list suites and their problems",
                                    .arguments = "[kernelbench]",
                                    .arguments_max = 1,
                                    .examples =
                                        "ce-coord suite list\nce-coord suite list --json\n"
                                        "ce-coord suite list kernelbench --root ~/KernelBench\n",
                                    .options = table};

static void print(const suite *s)
{
    printf("%s %s - %s\n", s->id, s->version, s->title);
    for (size_t i = 0; i < s->problem_count; i++)
        printf("  %-28s %-14s %s\n", s->problems[i].id, s->problems[i].category,
               s->problems[i].title);
}

/* Every file of a checkout: what it needs, or why it is left out. */
static int list_checkout(const cmd_call *call, err *e)
{
    const options *o = call->options;
    if (strcmp(call->arguments[0], KERNELBENCH_SUITE) != 0)
        return err_set(e, ERR_USAGE, "suite list takes no name but %s", KERNELBENCH_SUITE);
    if (!o->root)
        return err_set(e, ERR_USAGE, "suite list %s needs --root DIR, a KernelBench checkout",
                       KERNELBENCH_SUITE);
    SCOPED(scoped_free) char *db = cmd_db_path(call->program, o->db, e);
    if (!db)
        return -1;
    SCOPED(scoped_free) char *found = survey_found(db);
    const survey_request request = {.root = o->root,
                                    .level = o->level,
                                    .found = found,
                                    .suites = o->suites,
                                    .python = o->python};
    SCOPED(kernelbench_destroy) kernelbench *all = survey_read(&request, e);
    if (!all)
        return -1;
    if (o->json) {
        SCOPED(json_destroy) json *root = survey_json(all);
        return cmd_print_json(root);
    }
    survey_print(all, stdout);
    return CMD_EXIT_COMPLETE;
}

static int run_list(const cmd_call *call, err *e)
{
    const options *o = call->options;
    if (call->argument_count > 0)
        return list_checkout(call, e);
    SCOPED(shelf_destroy) shelf *all = shelf_load(o->suites, e);
    if (!all)
        return -1;
    if (o->json) {
        SCOPED(json_destroy) json *root = shelf_json(all->suites, all->count);
        return cmd_print_json(root);
    }
    for (size_t i = 0; i < all->count; i++)
        print(all->suites[i]);
    return CMD_EXIT_COMPLETE;
}

const cmd_entry cmd_suite_list = {
    .cli = &command, .options_size = sizeof(options), .run = run_list};
