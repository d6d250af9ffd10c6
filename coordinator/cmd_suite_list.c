/* cmd_suite_list - ce-coord suite list: what can be run
 *
 * SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "common/scoped.h"
#include "coordinator/cmd.h"
#include "coordinator/shelf.h"

typedef struct options {
    const char *suites;
    bool json;
} options;

static const cli_option table[] = {CMD_OPTION_SUITES(options),
                                   {.name = "json",
                                    .type = CLI_FLAG,
                                    .offset = offsetof(options, json),
                                    .help = "print an object with `suites` and `problems`"},
                                   {.name = NULL}};

static const cli_command command = {.name = "suite list",
                                    .summary = "list suites and their problems",
                                    .arguments = "",
                                    .examples = "ce-coord suite list\nce-coord suite list --json\n",
                                    .options = table};

static void print(const suite *s)
{
    printf("%s %s - %s\n", s->id, s->version, s->title);
    for (size_t i = 0; i < s->problem_count; i++)
        printf("  %-28s %-14s %s\n", s->problems[i].id, s->problems[i].category,
               s->problems[i].title);
}

static int run_list(const cmd_call *call, err *e)
{
    const options *o = call->options;
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
