/* cmd_suite_import - ce-coord suite import: admission of somebody else's problems
 *
 * SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "common/scoped.h"
#include "coordinator/survey.h"
#include "coordinator/cmd.h"

typedef struct options {
    const char *level, *only, *device, *python, *suites, *db;
    bool json;
} options;

#define AT(member) offsetof(options, member)

static const cli_option table[] = {
    {.name = "level",
     .type = CLI_STR,
     .offset = AT(level),
     .value = "1,2,3",
     .help = "levels to import (default 1,2,3)"},
    {.name = "only",
     .type = CLI_STR,
     .offset = AT(only),
     .value = "1/19,…",
     .help = "only these problems: level and number"},
    {.name = "device",
     .type = CLI_STR,
     .offset = AT(device),
     .value = "KIND",
     .help = "where the references run: cpu (default: only problems of at most 64 Ki elements a "
             "tensor) or cuda:N"},
    {.name = "python",
     .type = CLI_STR,
     .offset = AT(python),
     .value = "FILE",
     .help = "interpreter with PyTorch"},
    CMD_OPTION_SUITES(options),
    CMD_OPTION_DB(options),
    {.name = "json", .type = CLI_FLAG, .offset = AT(json), .help = "print an object"},
    {.name = NULL}};

static const cli_command command = {
    .name = "suite import",
    .summary = "admit the problems of a KernelBench checkout: run references, try null candidates",
    .arguments = "kernelbench DIR",
    .arguments_min = 2,
    .arguments_max = 2,
    .examples = "ce-coord suite import kernelbench ~/KernelBench --device cuda:0\n"
                "timeout -s INT 500 ce-coord suite import kernelbench ~/KernelBench --level 1 "
                "--device cuda:0\n",
    .options = table};

static int run_import(const cmd_call *call, err *e)
{
    const options *o = call->options;
    if (strcmp(call->arguments[0], KERNELBENCH_SUITE) != 0)
        return err_set(e, ERR_USAGE, "suite import knows %s, not %s", KERNELBENCH_SUITE,
                       call->arguments[0]);
    SCOPED(scoped_free) char *found = survey_found(call->db);
    const survey_request request = {.root = call->arguments[1],
                                    .level = o->level,
                                    .only = o->only,
                                    .found = found,
                                    .suites = o->suites,
                                    .python = o->python,
                                    .device = o->device,
                                    .admit = true};
    SCOPED(kernelbench_destroy) kernelbench *all = survey_read(&request, e);
    if (all == NULL)
        return -1;
    if (o->json) {
        SCOPED(json_destroy) json *root = survey_json(all);
        return cmd_print_json(root);
    }
    survey_print(all, stdout);
    return CMD_EXIT_COMPLETE;
}

const cmd_entry cmd_suite_import = {.cli = &command,
                                    .options_size = sizeof(options),
                                    .db_offset = AT(db),
                                    .flags = CMD_DB,
                                    .run = run_import};
