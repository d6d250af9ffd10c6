/* cmd_report - ce-coord report: a run in one page, with its files
 *
 * SPDX-License-Identifier: MIT */
#include "coordinator/cmd.h"
#include "reports/report.h"

typedef struct options {
    const char *db, *out, *against;
    bool png;
} options;

static const cli_option table[] = {
    {.name = "out",
     .type = CLI_STR,
     .offset = offsetof(options, out),
     .value = "DIR",
     .help = "folder for report.md and the files it points to"},
    {.name = "against",
     .type = CLI_STR,
     .offset = offsetof(options, against),
     .value = "RUN",
     .help = "an earlier run: also say what changed, and what became worse"},
    {.name = "png",
     .type = CLI_FLAG,
     .offset = offsetof(options, png),
     .help = "write each plot as PNG too"},
    CMD_OPTION_DB(options),
    {.name = NULL}};

static const cli_command command = {
    .name = "report",
    .summary = "write a run as one page (report.md) with its board, results and plots",
    .arguments = "RUN",
    .arguments_min = 1,
    .arguments_max = 1,
    .examples = "ce-coord report latest --out ce-report --png\n"
                "ce-coord report 01je --against 01jd --out ce-report\n",
    .options = table};

static int run_report(const cmd_call *call, err *e)
{
    const options *o = call->options;
    const report_ask ask = {.run = call->arguments[0], .against = o->against, .png = o->png};
    if (o->out == NULL)
        return err_set(e, ERR_USAGE, "--out DIR is needed");
    return report_write_all(call->store, &ask, o->out, e) < 0 ? -1 : CMD_EXIT_COMPLETE;
}

const cmd_entry cmd_report = {.cli = &command,
                              .options_size = sizeof(options),
                              .db_offset = offsetof(options, db),
                              .flags = CMD_DB | CMD_STORE_READ,
                              .run = run_report};
