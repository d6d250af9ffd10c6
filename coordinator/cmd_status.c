/* cmd_status - ce-coord status: how a run is going
 *
 * SPDX-License-Identifier: MIT */
#include <unistd.h>

#include "common/scoped.h"
#include "coordinator/cmd.h"
#include "coordinator/watch.h"
#include "reports/report.h"
#include "reports/runs.h"
#include "reports/text.h"

typedef struct options {
    const char *db;
    bool json;
    double watch_s; /* 0: once */
} options;

static const cli_option table[] = {
    {.name = "json",
     .type = CLI_FLAG,
     .offset = offsetof(options, json),
     .help = "print an object with `run`, `open` (tasks that are not done), `waits` (for a "
             "device), `stragglers` and `nodes`"},
    {.name = "watch",
     .type = CLI_REAL,
     .offset = offsetof(options, watch_s),
     .value = "SECONDS",
     .help =
         "show it every second or so: in place on a terminal (q quits), else a line a change; ends "
         "with RUN, or stays at the run at work",
     .min = 0.1,
     .max = 3600,
     .bare = "1"},
    CMD_OPTION_DB(options),
    {.name = NULL}};

static const cli_command command = {.name = "status",
                                    .summary = "show how far a run is, and what went wrong",
                                    .arguments = "[RUN]",
                                    .arguments_max = 1,
                                    .examples = "ce-coord status\nce-coord status 01jd --json\n"
                                                "ce-coord status --watch\n"
                                                "ce-coord status 01jd --watch=10 | tee log\n",
                                    .options = table};

static int watch(const cmd_call *call, const char *run, err *e)
{
    const options *o = call->options;
    if (o->json)
        return err_set(e, ERR_USAGE, "--watch is for people: leave --json out");
    const watch_request request = {.db = call->store,
                                   .run = run,
                                   .every_ms = (int64_t)(o->watch_s * 1000),
                                   .env = call->program->term,
                                   .in = STDIN_FILENO,
                                   .out = STDOUT_FILENO};
    return watch_run(&request, e);
}

static int run_status(const cmd_call *call, err *e)
{
    const options *o = call->options;
    const char *run = call->argument_count > 0 ? call->arguments[0] : NULL;
    if (o->watch_s > 0)
        return watch(call, run, e);
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
