/* cmd_export - ce-coord export: what is stored, as files for others
 *
 * SPDX-License-Identifier: MIT */
#include <string.h>

#include "common/file.h"
#include "common/scoped.h"
#include "store/store.h"
#include "coordinator/cmd.h"
#include "coordinator/keys.h"
#include "reports/export.h"
#include "reports/kernelbench_runs.h"
#include "reports/report.h"
#include "reports/site.h"
#include "reports/text.h"

typedef struct options {
    const char *db, *jsonl, *csv, *site, *badge, *kernelbench, *out;
} options;

static const cli_option table[] = {
    {.name = "jsonl",
     .type = CLI_STR,
     .offset = offsetof(options, jsonl),
     .value = "DIR",
     .help = "every table of the run and every raw sample, as JSON lines"},
    {.name = "csv",
     .type = CLI_STR,
     .offset = offsetof(options, csv),
     .value = "DIR",
     .help = "the same as CSV"},
    {.name = "site",
     .type = CLI_STR,
     .offset = offsetof(options, site),
     .value = "DIR",
     .help =
         "pages from the board down to each candidate: plain files, no script. Here RUN may be the "
         "folder of an evidence pack"},
    {.name = "badge",
     .type = CLI_STR,
     .offset = offsetof(options, badge),
     .value = "FILE",
     .help = "JSON of a shields.io endpoint: who stands first"},
    {.name = "kernelbench",
     .type = CLI_STR,
     .offset = offsetof(options, kernelbench),
     .value = "DIR",
     .help =
         "of a run of suite kernelbench: runs/ and results/timing/, as KernelBench's scripts read "
         "them"},
    {.name = "out",
     .type = CLI_STR,
     .offset = offsetof(options, out),
     .value = "DIR",
     .help = "for a TASK: its kernel, plan, prompts, answers, logs, findings, samples, and how to "
             "do it "
             "again"},
    CMD_OPTION_DB(options),
    {.name = NULL}};

static const cli_command command = {.name = "export",
                                    .summary = "write a run as JSON lines, CSV, a static site, a "
                                               "badge or KernelBench's files; a task as a folder",
                                    .arguments = "RUN|TASK|PACK",
                                    .arguments_min = 1,
                                    .arguments_max = 1,
                                    .examples =
                                        "ce-coord export latest --site site --badge badge.json\n"
                                        "ce-coord export 01jd --jsonl data\n"
                                        "ce-coord export pack --site site\n"
                                        "ce-coord export latest --kernelbench kb\n"
                                        "ce-coord export 01jdx7 --out candidate\n",
                                    .options = table};

/* What is asked of a run. */
static bool any_of_run(const options *o)
{
    return o->jsonl != NULL || o->csv != NULL || o->badge != NULL || o->kernelbench != NULL ||
           o->site != NULL;
}

static bool is_pack(const char *name)
{
    SCOPED(scoped_free) char *manifest = file_join(name, "manifest.json");
    return file_exists(manifest);
}

static int write_badge(const cmd_call *call, const options *o, err *e)
{
    const board_ask ask = {.runs = call->arguments, .run_count = 1};
    SCOPED(board_destroy) board *b = board_read(call->store, &ask, e);
    SCOPED(buf_fini) buf text = {0};
    buf_init(&text, TEXT_REPORT_MAX);
    if (b == NULL)
        return -1;
    export_badge(b, &text);
    return report_print(&text, o->badge, e);
}

static int write_pack(const cmd_call *call, const options *o, err *e)
{
    options rest = *o;
    rest.site = NULL;
    if (o->site == NULL || o->out != NULL || any_of_run(&rest))
        return err_set(e, ERR_USAGE, "%s is a pack: of that, only --site can be made",
                       call->arguments[0]);
    return site_write_pack(call->arguments[0], o->site, e);
}

static int write_stored(const cmd_call *call, const options *o, keyscan_list known, err *e)
{
    const char *name = call->arguments[0];
    export_ask ask = {.name = name, .folder = o->jsonl, .known = known};
    if (o->jsonl != NULL && export_tables(call->store, &ask, false, e) < 0)
        return -1;
    ask.folder = o->csv;
    if (o->csv != NULL && export_tables(call->store, &ask, true, e) < 0)
        return -1;
    if (o->badge != NULL && write_badge(call, o, e) < 0)
        return -1;
    if (o->kernelbench != NULL && kernelbench_runs_write(call->store, name, o->kernelbench, e) < 0)
        return -1;
    if (o->site != NULL && site_write(call->store, name, known, o->site, e) < 0)
        return -1;
    ask.folder = o->out;
    return o->out != NULL ? export_task(call->store, &ask, e) : 0;
}

static int run_export(const cmd_call *call, err *e)
{
    const options *o = call->options;
    SCOPED(store_destroy) store *opened = NULL;
    if (o->out == NULL && !any_of_run(o))
        return err_set(e, ERR_USAGE,
                       "say what to write: --jsonl, --csv, --site, --badge or --kernelbench of a "
                       "RUN, --out of a TASK");
    if (o->out != NULL && any_of_run(o))
        return err_set(e, ERR_USAGE, "--out is of a TASK, the others are of a RUN");
    if (is_pack(call->arguments[0]))
        return write_pack(call, o, e) < 0 ? -1 : CMD_EXIT_COMPLETE;
    opened = store_open(call->db, STORE_READ, e);
    if (opened == NULL)
        return -1;
    cmd_call with = *call;
    with.store = opened;
    SCOPED(keys_destroy) keys *known = keys_create(call->program->environment);
    return write_stored(&with, o, keys_values(known), e) < 0 ? -1 : CMD_EXIT_COMPLETE;
}

const cmd_entry cmd_export = {.cli = &command,
                              .options_size = sizeof(options),
                              .db_offset = offsetof(options, db),
                              .flags = CMD_DB,
                              .run = run_export};
