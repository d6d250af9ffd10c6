/* cmd_status - ce-coord status: how a run is going
 *
 * SPDX-License-Identifier: MIT */
#include "common/scoped.h"
#include "coordinator/cmd.h"
#include "reports/report.h"
#include "reports/runs.h"
#include "reports/text.h"

typedef struct options {
    const char *db;
    bool json;
} options;

static const cli_option table[] = {
    {.name = "json",
     .type = CLI_FLAG,
     .offset = offsetof(options, json),
     .help = "print an object with `run`, `open` (tasks that are not done) and `nodes`"},
    CMD_OPTION_DB(options),
    {.name = NULL}};

static const cli_command command = {.name = "status",
                                    .summary = "show how far a run is, and what went wrong",
                                    .arguments = "[RUN]",
                                    .arguments_max = 1,
                                    .examples = "ce-coord status\nce-coord status 01jd --json\n",
                                    .options = table};

static int run_status(const cmd_call *call, err *e)
{
    const options *o = call->options;
    const char *run = call->argument_count > 0 ? call->arguments[0] : NULL;
    SCOPED(buf_fini) buf text = {0};
    buf_init(&text, TEXT_REPORT_MAX);
    int rc =
        o->json ? status_json(call->store, run, &text, e) : status_text(call->store, run, &text, e);
    return rc < 0 || report_print(&text, NULL, e) < 0 ? -1 : CMD_EXIT_COMPLETE;
}

const cmd_entry cmd_status = {.cli = &command,
                              .options_size = sizeof(options),
                              .db_offset = offsetof(options, db),
                              .flags = CMD_DB | CMD_STORE_READ,
                              .run = run_status};
