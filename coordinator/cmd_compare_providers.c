/* cmd_compare_providers - ce-coord compare-providers: entrants over the problems they share
 *
 * SPDX-License-Identifier: MIT */
#include "common/scoped.h"
#include "coordinator/cmd.h"
#include "reports/board.h"
#include "reports/compare.h"
#include "reports/report.h"
#include "reports/text.h"

enum { RUNS_MAX = 32 };

typedef struct options {
    const char *db, *suite, *out;
    bool json;
} options;

static const cli_option table[] = {
    {.name = "suite",
     .type = CLI_STR,
     .offset = offsetof(options, suite),
     .value = "S",
     .help = "without RUN: the newest complete run of each entrant on this suite"},
    {.name = "out",
     .type = CLI_STR,
     .offset = offsetof(options, out),
     .value = "F",
     .help = "write to a file (default: standard output)"},
    {.name = "json", .type = CLI_FLAG, .offset = offsetof(options, json), .help = "print JSON"},
    CMD_OPTION_DB(options),
    {.name = NULL}};

static const cli_command command = {
    .name = "compare-providers",
    .summary = "compare entrants of stored runs over the problems they share; calls no model",
    .arguments = "[RUN…]",
    .arguments_max = RUNS_MAX,
    .examples = "ce-coord compare-providers\n"
                "ce-coord compare-providers 01jd 01je --out compare.md\n",
    .options = table};

static int run_compare(const cmd_call *call, err *e)
{
    const options *o = call->options;
    if (o->suite != NULL && call->argument_count > 0)
        return err_set(e, ERR_USAGE, "--suite chooses runs; name RUNs or a suite, not both");
    const board_ask ask = {call->arguments, call->argument_count, o->suite};
    SCOPED(board_destroy) board *b = board_read(call->store, &ask, e);
    if (b == NULL)
        return -1;
    SCOPED(buf_fini) buf text = {0};
    buf_init(&text, TEXT_REPORT_MAX);
    if ((o->json ? compare_json(b, &text, e) : compare_markdown(b, &text, e)) < 0)
        return -1;
    return report_print(&text, o->out, e) < 0 ? -1 : CMD_EXIT_COMPLETE;
}

const cmd_entry cmd_compare_providers = {.cli = &command,
                                         .options_size = sizeof(options),
                                         .db_offset = offsetof(options, db),
                                         .flags = CMD_DB | CMD_STORE_READ,
                                         .run = run_compare};
