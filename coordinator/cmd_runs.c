/* cmd_runs - ce-coord runs: what runs there are
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

static const cli_option table[] = {{.name = "json",
                                    .type = CLI_FLAG,
                                    .offset = offsetof(options, json),
                                    .help = "print an object with `runs`"},
                                   CMD_OPTION_DB(options),
                                   {.name = NULL}};

static const cli_command command = {.name = "runs",
                                    .summary = "list stored runs, newest first",
                                    .arguments = "",
                                    .examples = "ce-coord runs\nce-coord runs --json\n",
                                    .options = table};

static int run_runs(const cmd_call *call, err *e)
{
    const options *o = call->options;
    SCOPED(buf_fini) buf text = {0};
    buf_init(&text, TEXT_REPORT_MAX);
    int rc = o->json ? runs_json(call->store, &text, e) : runs_text(call->store, &text, e);
    return rc < 0 || report_print(&text, NULL, e) < 0 ? -1 : CMD_EXIT_COMPLETE;
}

const cmd_entry cmd_runs = {.cli = &command,
                            .options_size = sizeof(options),
                            .db_offset = offsetof(options, db),
                            .flags = CMD_DB | CMD_STORE_READ,
                            .run = run_runs};
