/* cmd_compare_providers - ce-coord compare-providers: entrants over the problems they share
 *
 * SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/scoped.h"
#include "common/xalloc.h"
#include "coordinator/cmd.h"
#include "reports/board.h"
#include "reports/claimed.h"
#include "reports/claims.h"
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
    .summary =
        "compare entrants of stored runs over the problems they share; calls no model. A file "
        "or folder of another program (docs/import.md) is claimed, and placed apart",
    .arguments = "[RUN|DIR|FILE…]",
    .arguments_max = RUNS_MAX,
    .examples = "ce-coord compare-providers\n"
                "ce-coord compare-providers 01jd 01je --out compare.md\n"
                "ce-coord compare-providers 01jd old/results.csv runs/other-model\n",
    .options = table};

/* The arguments, told apart: what is a file or folder is one, everything else names a run. */
typedef struct wanted {
    const char *runs[RUNS_MAX];
    size_t run_count;
    claims *files;
} wanted;

static void wanted_fini(wanted *w)
{
    claims_destroy(&w->files);
}

static int tell_apart(const cmd_call *call, wanted *w, err *e)
{
    w->files = claims_create();
    for (size_t i = 0; i < call->argument_count; i++) {
        struct stat facts;
        if (stat(call->arguments[i], &facts) < 0)
            w->runs[w->run_count++] = call->arguments[i];
        else if (claims_load(w->files, call->arguments[i], NULL, e) < 0)
            return -1;
    }
    return 0;
}

static bool is_stored(const claim_list *stored, const claim_row *row)
{
    for (size_t i = 0; i < stored->count; i++)
        if (hash_equal(&stored->rows[i].content, &row->content))
            return true;
    return false;
}

/* Claims of files, and stored ones; a file that was imported counts once. */
static claim_list all_claims(const claim_list *stored, const claims *files)
{
    claim_list all = {xcalloc(stored->count + files->count + 1, sizeof *all.rows), 0};
    for (size_t i = 0; i < stored->count; i++)
        all.rows[all.count++] = stored->rows[i];
    for (size_t i = 0; i < files->count; i++)
        if (!is_stored(stored, &files->rows[i]))
            all.rows[all.count++] = files->rows[i];
    return all;
}

static void write_claims_only(const claim_list *all, bool as_json, buf *out)
{
    if (!as_json) {
        buf_puts(out, "# Comparison: claimed results\n");
        claimed_markdown(all->rows, all->count, out);
        return;
    }
    SCOPED(json_destroy) json *root = json_new_object();
    json *claimed = claimed_json(all->rows, all->count);
    json_set(root, "claimed", &claimed);
    SCOPED(scoped_free) char *text = json_dump_pretty(root);
    buf_puts(out, text);
}

static int compare_files(const options *o, const wanted *w, err *e)
{
    const claim_list all = {w->files->rows, w->files->count};
    SCOPED(buf_fini) buf text = {0};
    buf_init(&text, TEXT_REPORT_MAX);
    write_claims_only(&all, o->json, &text);
    return report_print(&text, o->out, e) < 0 ? -1 : CMD_EXIT_COMPLETE;
}

static int read_fn(store_tx *tx, void *arg, err *e)
{
    return claim_list_read(tx, arg, e);
}

/* No run, but claims: they are all there is to show. */
static int compare_stored(store *db, const options *o, const err *why, err *e)
{
    SCOPED(claim_list_fini) claim_list stored = {0};
    if (store_run(db, read_fn, &stored, e) < 0)
        return -1;
    if (stored.count == 0) {
        *e = *why;
        return -1;
    }
    SCOPED(buf_fini) buf text = {0};
    buf_init(&text, TEXT_REPORT_MAX);
    write_claims_only(&stored, o->json, &text);
    return report_print(&text, o->out, e) < 0 ? -1 : CMD_EXIT_COMPLETE;
}

static int compare_runs(const cmd_call *call, const options *o, const wanted *w, err *e)
{
    const board_ask ask = {
        .runs = w->runs, .run_count = w->run_count, .suite = o->suite, .claims = true};
    err why = {0};
    SCOPED(store_destroy) store *db = store_open(call->db, STORE_READ, e);
    if (db == NULL)
        return -1;
    SCOPED(board_destroy) board *b = board_read(db, &ask, &why);
    if (b == NULL && why.code == ERR_NOT_FOUND && w->run_count == 0 && o->suite == NULL)
        return compare_stored(db, o, &why, e);
    if (b == NULL) {
        *e = why;
        return -1;
    }
    claim_list all = all_claims(&b->claims, w->files); /* borrows */
    SCOPED(scoped_free) claim_row *kept = all.rows;
    SCOPED(buf_fini) buf text = {0};
    buf_init(&text, TEXT_REPORT_MAX);
    if (b->entrant_count < 2 && kept != NULL && all.count > 0)
        write_claims_only(&all, o->json, &text);
    else if ((o->json ? compare_json : compare_markdown)(b, &all, &text, e) < 0)
        return -1;
    return report_print(&text, o->out, e) < 0 ? -1 : CMD_EXIT_COMPLETE;
}

static int run_compare(const cmd_call *call, err *e)
{
    const options *o = call->options;
    SCOPED(wanted_fini) wanted w = {.run_count = 0};
    if (tell_apart(call, &w, e) < 0)
        return -1;
    if (o->suite != NULL && w.run_count > 0)
        return err_set(e, ERR_USAGE, "--suite chooses runs; name RUNs or a suite, not both");
    if (call->argument_count > 0 && w.run_count == 0 && o->suite == NULL)
        return compare_files(o, &w, e);
    return compare_runs(call, o, &w, e);
}

const cmd_entry cmd_compare_providers = {.cli = &command,
                                         .options_size = sizeof(options),
                                         .db_offset = offsetof(options, db),
                                         .flags = CMD_DB,
                                         .run = run_compare};
