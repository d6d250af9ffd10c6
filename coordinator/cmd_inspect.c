/* cmd_inspect - ce-coord inspect: everything stored of a run or a task
 *
 * SPDX-License-Identifier: MIT */
#include <string.h>

#include "common/scoped.h"
#include "coordinator/cmd.h"
#include "reports/inspect.h"
#include "reports/report.h"
#include "reports/text.h"

typedef struct options {
    const char *db, *show;
    bool json;
} options;

static const cli_option table[] = {
    {.name = "show",
     .type = CLI_STR,
     .offset = offsetof(options, show),
     .value = "source|plan|log|report|answers",
     .help = "print this stored text of a TASK, and nothing else"},
    {.name = "json", .type = CLI_FLAG, .offset = offsetof(options, json), .help = "print JSON"},
    CMD_OPTION_DB(options),
    {.name = NULL}};

static const cli_command command = {.name = "inspect",
                                    .summary = "show everything stored of a run or a task",
                                    .arguments = "RUN|TASK",
                                    .arguments_min = 1,
                                    .arguments_max = 1,
                                    .examples =
                                        "ce-coord inspect latest\n"
                                        "ce-coord inspect 01jdq --json\n"
                                        "ce-coord inspect 01jdq --show source > kernel.cu\n",
                                    .options = table};

static int part_of(const char *name, err *e)
{
    for (int i = 0; inspect_parts[i] != NULL; i++)
        if (strcmp(inspect_parts[i], name) == 0)
            return i;
    return err_set(e, ERR_USAGE, "--show %s: source, plan, log, report or answers", name);
}

static int show(const cmd_call *call, const options *o, buf *text, err *e)
{
    int part = part_of(o->show, e);
    if (part < 0)
        return -1;
    return inspect_show(call->store, call->arguments[0], (inspect_part)part, text, e);
}

static int run_inspect(const cmd_call *call, err *e)
{
    const options *o = call->options;
    SCOPED(buf_fini) buf text = {0};
    buf_init(&text, TEXT_REPORT_MAX);
    int rc = o->show != NULL ? show(call, o, &text, e)
                             : inspect_write(call->store, call->arguments[0], o->json, &text, e);
    return rc < 0 || report_print(&text, NULL, e) < 0 ? -1 : CMD_EXIT_COMPLETE;
}

const cmd_entry cmd_inspect = {.cli = &command,
                               .options_size = sizeof(options),
                               .db_offset = offsetof(options, db),
                               .flags = CMD_DB | CMD_STORE_READ,
                               .run = run_inspect};
