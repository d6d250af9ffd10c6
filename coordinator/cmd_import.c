/* cmd_import - ce-coord import: results of other programs, kept as claims
 *
 * SPDX-License-Identifier: MIT */
#include <stdio.h>

#include "common/clock.h"
#include "common/scoped.h"
#include "coordinator/cmd.h"
#include "reports/claims.h"
#include "store/claim.h"

enum { FILES_MAX = 256 };

typedef struct options {
    const char *db, *entrant;
} options;

static const cli_option table[] = {
    {.name = "entrant",
     .type = CLI_STR,
     .offset = offsetof(options, entrant),
     .value = "NAME",
     .help = "whose results they are, where the file does not say (default: the folder's name)"},
    CMD_OPTION_DB(options),
    {.name = NULL}};

static const cli_command command = {
    .name = "import",
    .summary = "keep results of other programs as claims, which no board mixes with what was "
               "measured (docs/import.md)",
    .arguments = "FILE|DIR…",
    .arguments_min = 1,
    .arguments_max = FILES_MAX,
    .examples = "ce-coord import old/results.csv\n"
                "ce-coord import runs/some-model --entrant openai:some-model\n",
    .options = table};

typedef struct storing {
    const claims *from;
    size_t stored, known;
} storing;

/* A file whose content is there is left alone; its rows stand together. */
static int keep_fn(store_tx *tx, void *arg, err *e)
{
    storing *s = arg;
    const hash *before = NULL;
    int64_t count = 0;
    for (size_t i = 0; i < s->from->count; i++) {
        claim_row row = s->from->rows[i];
        if (before == NULL || !hash_equal(before, &row.content))
            if (claim_count(tx, &row.content, &count, e) < 0)
                return -1;
        before = &s->from->rows[i].content;
        row.imported_ms = clock_wall_ms();
        s->known += count > 0 ? 1 : 0;
        s->stored += count > 0 ? 0 : 1;
        if (count == 0 && claim_insert(tx, &row, e) < 0)
            return -1;
    }
    return 0;
}

static int run_import(const cmd_call *call, err *e)
{
    const options *o = call->options;
    SCOPED(claims_destroy) claims *found = claims_create();
    for (size_t i = 0; i < call->argument_count; i++)
        if (claims_load(found, call->arguments[i], o->entrant, e) < 0)
            return -1;
    SCOPED(store_destroy) store *db = store_open(call->db, STORE_OWN, e);
    storing s = {.from = found};
    if (db == NULL || store_run(db, keep_fn, &s, e) < 0)
        return -1;
    printf("%zu claims are stored, %zu were there before\n", s.stored, s.known);
    return CMD_EXIT_COMPLETE;
}

const cmd_entry cmd_import = {.cli = &command,
                              .options_size = sizeof(options),
                              .db_offset = offsetof(options, db),
                              .flags = CMD_DB,
                              .run = run_import};
