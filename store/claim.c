/* claim - what other programs say they measured
 *
 * SPDX-License-Identifier: MIT */
#include "store/claim.h"

#include "common/scoped.h"
#include "store/column.h"

static const column columns[] = {
    {"file", COLUMN_TEXT, offsetof(claim_row, file), NULL},
    {"content", COLUMN_HASH, offsetof(claim_row, content), NULL},
    {"format", COLUMN_TEXT, offsetof(claim_row, format), NULL},
    {"imported_ms", COLUMN_INT, offsetof(claim_row, imported_ms), NULL},
    {"entrant", COLUMN_TEXT, offsetof(claim_row, entrant), NULL},
    {"problem", COLUMN_TEXT, offsetof(claim_row, problem), NULL},
    {"sample", COLUMN_INT, offsetof(claim_row, sample), NULL},
    {"correct", COLUMN_BOOL, offsetof(claim_row, correct), NULL},
    {"detail", COLUMN_TEXT, offsetof(claim_row, detail), NULL},
    {"speedup", COLUMN_REAL, offsetof(claim_row, speedup), NULL},
    {"reason", COLUMN_TEXT, offsetof(claim_row, reason), NULL},
    {"candidate_ms", COLUMN_REAL, offsetof(claim_row, candidate_ms), NULL},
    {"baseline_ms", COLUMN_REAL, offsetof(claim_row, baseline_ms), NULL},
    {"baseline", COLUMN_TEXT, offsetof(claim_row, baseline), NULL},
    {"device", COLUMN_TEXT, offsetof(claim_row, device), NULL},
    {0},
};

int claim_insert(store_tx *tx, const claim_row *row, err *e)
{
    if (column_insert(tx, "claim", columns, row, NULL, NULL, e) < 0)
        return err_wrap(e, "%s: %s at %s, sample %lld", row->file, row->entrant, row->problem,
                        (long long)row->sample);
    return 0;
}

int claim_count(store_tx *tx, const hash *content, int64_t *count, err *e)
{
    SCOPED(db_reset)
    sqlite3_stmt *s = db_prepare(tx, "SELECT count(*) FROM claim WHERE content = ?1", e);
    if (s == NULL)
        return -1;
    db_hash(s, 1, content);
    if (db_step(tx, s, e) < 0)
        return -1;
    *count = sqlite3_column_int64(s, 0);
    return 0;
}

int claim_list_read(store_tx *tx, claim_list *out, err *e)
{
    column_query query = {.columns = columns,
                          .size = sizeof(claim_row),
                          .from =
                              "claim ORDER BY format, entrant, problem, imported_ms, sample, id"};
    column_rows got;
    if (column_select(tx, &query, &got, e) < 0)
        return -1;
    *out = (claim_list){got.rows, got.count};
    return 0;
}

void claim_list_fini(claim_list *self)
{
    column_rows_free(columns, sizeof(claim_row), self->rows, self->count);
    *self = (claim_list){0};
}
