/* cmd_export - ce-coord export: a run in another harness's files
 *
 * SPDX-License-Identifier: MIT */
#include "coordinator/cmd.h"
#include "reports/kernelbench_runs.h"

typedef struct options {
    const char *db, *out;
} options;

static const cli_option table[] = {{.name = "out",
                                    .type = CLI_STR,
                                    .offset = offsetof(options, out),
                                    .value = "DIR",
                                    .help = "folder for runs/ and results/timing/ (required)"},
                                   CMD_OPTION_DB(options),
                                   {.name = NULL}};

static const cli_command command = {
    .name = "export",
    .summary = "write a run of suite kernelbench in the files that KernelBench's scripts read",
    .arguments = "RUN",
    .arguments_min = 1,
    .arguments_max = 1,
    .examples = "ce-coord export latest --out kb-export\n",
    .options = table};

static int run_export(const cmd_call *call, err *e)
{
    const options *o = call->options;
    if (o->out == NULL)
        return err_set(e, ERR_USAGE, "--out DIR is needed");
    if (kernelbench_runs_write(call->store, call->arguments[0], o->out, e) < 0)
        return -1;
    printf("%s/runs and %s/results/timing\n", o->out, o->out);
    return CMD_EXIT_COMPLETE;
}

const cmd_entry cmd_export = {.cli = &command,
                              .options_size = sizeof(options),
                              .db_offset = offsetof(options, db),
                              .flags = CMD_DB | CMD_STORE_READ,
                              .run = run_export};
