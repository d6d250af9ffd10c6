/* cmd_leaderboard - ce-coord leaderboard: the board of stored runs
 *
 * SPDX-License-Identifier: MIT */
#include <string.h>

#include "common/scoped.h"
#include "common/str.h"
#include "coordinator/cmd.h"
#include "reports/board.h"
#include "reports/board_html.h"
#include "reports/leaderboard.h"
#include "reports/report.h"
#include "reports/results.h"
#include "reports/text.h"

enum { RUNS_MAX = 32 };

typedef struct options {
    const char *db, *suite, *format, *out;
    bool stable, json, png;
} options;

static const cli_option table[] = {
    {.name = "suite",
     .type = CLI_STR,
     .offset = offsetof(options, suite),
     .value = "S",
     .help = "without RUN: the newest complete run of each entrant on this suite"},
    {.name = "format",
     .type = CLI_STR,
     .offset = offsetof(options, format),
     .value = "md|html|json|csv",
     .help = "what to print (default md, or what the name of --out ends in)"},
    {.name = "json", .type = CLI_FLAG, .offset = offsetof(options, json), .help = "--format json"},
    {.name = "stable",
     .type = CLI_FLAG,
     .offset = offsetof(options, stable),
     .help = "omit ids, seed, dates, durations and the command: equal outcomes, equal bytes"},
    {.name = "out",
     .type = CLI_STR,
     .offset = offsetof(options, out),
     .value = "F",
     .help = "a file (.md, .html, .json, .csv), or a folder: then one RUN, and all its files are "
             "redrawn"},
    {.name = "png",
     .type = CLI_FLAG,
     .offset = offsetof(options, png),
     .help = "in a folder: write each plot as PNG too"},
    CMD_OPTION_DB(options),
    {.name = NULL}};

static const cli_command command = {
    .name = "leaderboard",
    .summary = "print the board of stored runs, or redraw all files of one",
    .arguments = "[RUN…]",
    .arguments_max = RUNS_MAX,
    .examples = "ce-coord leaderboard\n"
                "ce-coord leaderboard latest --format csv\n"
                "ce-coord leaderboard latest --stable --out board.md\n"
                "ce-coord leaderboard 01jd --out ce-runs/01jd\n",
    .options = table};

typedef int render_fn(const figures *f, bool stable, buf *out, err *e);

static int write_markdown(const figures *f, bool stable, buf *out, err *e)
{
    (void)e;
    leaderboard_write(f, stable, out);
    return 0;
}

static int write_html(const figures *f, bool stable, buf *out, err *e)
{
    (void)e;
    board_html_write(f, stable, out);
    return 0;
}

static int write_csv(const figures *f, bool stable, buf *out, err *e)
{
    (void)e;
    results_entrants_csv(f, stable, out);
    return 0;
}

typedef struct format {
    const char *name;
    const char *ending;
    render_fn *render;
} format;

static const format formats[] = {{"md", ".md", write_markdown},
                                 {"json", ".json", results_json},
                                 {"csv", ".csv", write_csv},
                                 {"html", ".html", write_html}};

enum { FORMATS = sizeof formats / sizeof formats[0] };

static const format *by_name(const char *name)
{
    for (size_t i = 0; i < FORMATS; i++)
        if (strcmp(formats[i].name, name) == 0)
            return &formats[i];
    return NULL;
}

static const format *by_ending(const char *path)
{
    for (size_t i = 0; i < FORMATS; i++)
        if (str_ends(path, formats[i].ending))
            return &formats[i];
    return NULL;
}

static int write_folder(const cmd_call *call, const options *o, err *e)
{
    if (call->argument_count != 1)
        return err_set(e, ERR_USAGE, "--out %s is a folder, which takes exactly one RUN", o->out);
    if (o->stable)
        return err_set(e, ERR_USAGE, "--stable goes with a file or standard output, not a folder");
    const report_ask ask = {.run = call->arguments[0], .png = o->png};
    return report_write_all(call->store, &ask, o->out, e) < 0 ? -1 : CMD_EXIT_COMPLETE;
}

static int write_one(const cmd_call *call, const options *o, const format *f, err *e)
{
    const board_ask ask = {.runs = call->arguments,
                           .run_count = call->argument_count,
                           .suite = o->suite,
                           .claims = true};
    SCOPED(board_destroy) board *b = board_read(call->store, &ask, e);
    if (b == NULL)
        return -1;
    SCOPED(buf_fini) buf text = {0};
    buf_init(&text, TEXT_REPORT_MAX);
    SCOPED(figures_destroy) figures *all = figures_create(b);
    if (f->render(all, o->stable, &text, e) < 0)
        return -1;
    return report_print(&text, o->out, e) < 0 ? -1 : CMD_EXIT_COMPLETE;
}

static int run_leaderboard(const cmd_call *call, err *e)
{
    const options *o = call->options;
    if (o->suite != NULL && call->argument_count > 0)
        return err_set(e, ERR_USAGE, "--suite chooses runs; name RUNs or a suite, not both");
    if (o->format != NULL && by_name(o->format) == NULL)
        return err_set(e, ERR_USAGE, "--format %s: md, html, json or csv", o->format);
    const format *f = o->json ? by_name("json") : NULL;
    if (f == NULL && o->format != NULL)
        f = by_name(o->format);
    if (f == NULL && o->out != NULL && (f = by_ending(o->out)) == NULL)
        return write_folder(call, o, e);
    return write_one(call, o, f != NULL ? f : &formats[0], e);
}

const cmd_entry cmd_leaderboard = {.cli = &command,
                                   .options_size = sizeof(options),
                                   .db_offset = offsetof(options, db),
                                   .flags = CMD_DB | CMD_STORE_READ,
                                   .run = run_leaderboard};
