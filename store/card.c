/* card - see card.h.
 *
 * SPDX-License-Identifier: MIT */
#include "store/card.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/scoped.h"
#include "common/stats.h"
#include "common/xalloc.h"
#include "store/column.h"

enum { COPIES_MAX = 1024 };

static const column test_columns[] = {
    {"at_ms", COLUMN_INT, offsetof(card_test, at_ms), NULL},
    {"node", COLUMN_TEXT, offsetof(card_test, node), NULL},
    {"device_uuid", COLUMN_TEXT, offsetof(card_test, device_uuid), NULL},
    {"device", COLUMN_TEXT, offsetof(card_test, device), NULL},
    {"device_kind", COLUMN_TEXT, offsetof(card_test, device_kind), NULL},
    {"driver", COLUMN_TEXT, offsetof(card_test, driver), NULL},
    {"torch", COLUMN_TEXT, offsetof(card_test, torch), NULL},
    {"version", COLUMN_TEXT, offsetof(card_test, version), NULL},
    {"protocol", COLUMN_TEXT, offsetof(card_test, protocol), NULL},
    {"quick", COLUMN_BOOL, offsetof(card_test, quick), NULL},
    {"passed", COLUMN_BOOL, offsetof(card_test, passed), NULL},
    {"failure", COLUMN_TEXT, offsetof(card_test, failure), NULL},
    {"wall_s", COLUMN_REAL, offsetof(card_test, wall_s), NULL},
    {0},
};

/* A row as it is stored: the foreign key in front. */
typedef struct stored_row {
    int64_t selftest;
    card_check row;
} stored_row;

#define AT(member) offsetof(stored_row, row.member)
static const column row_columns[] = {
    {"selftest", COLUMN_INT, offsetof(stored_row, selftest), NULL},
    {"name", COLUMN_TEXT, AT(name), NULL},
    {"label", COLUMN_TEXT, AT(label), NULL},
    {"duration", COLUMN_TEXT, AT(duration), NULL},
    {"decides", COLUMN_BOOL, AT(decides), NULL},
    {"passed", COLUMN_BOOL, AT(passed), NULL},
    {"verdict", COLUMN_TEXT, AT(verdict), NULL},
    {"reason", COLUMN_TEXT, AT(reason), NULL},
    {"theta", COLUMN_REAL, AT(theta), NULL},
    {"ci_low", COLUMN_REAL, AT(ci_low), NULL},
    {"ci_high", COLUMN_REAL, AT(ci_high), NULL},
    {"candidate_ms", COLUMN_REAL, AT(candidate_ms), NULL},
    {"pairs", COLUMN_INT, AT(pairs), NULL},
    {"value", COLUMN_REAL, AT(value), NULL},
    {"bound", COLUMN_REAL, AT(bound), NULL},
    {"text", COLUMN_TEXT, AT(text), NULL},
    {"raw", COLUMN_HASH, AT(raw), NULL},
    {0},
};

/* ---- writing ---- */

static int newest_id(store_tx *tx, int64_t *out, err *e)
{
    SCOPED(db_reset) sqlite3_stmt *s = db_prepare(tx, "SELECT max(id) FROM selftest", e);
    if (s == NULL || db_step(tx, s, e) < 0)
        return -1;
    *out = sqlite3_column_int64(s, 0);
    return 0;
}

static int has_artifact(store_tx *tx, const hash *name, bool *out, err *e)
{
    char hex[HASH_HEX];
    SCOPED(db_reset) sqlite3_stmt *s = db_prepare(tx, "SELECT 1 FROM artifact WHERE hash = ?1", e);
    if (s == NULL)
        return -1;
    hash_hex(name, hex);
    db_text(s, 1, hex);
    int got = db_step(tx, s, e);
    *out = got > 0;
    return got < 0 ? -1 : 0;
}

static int put_row(store_tx *tx, int64_t test, const card_check *row, err *e)
{
    stored_row stored = {test, *row};
    bool there = false;
    if (!hash_is_zero(&row->raw) && has_artifact(tx, &row->raw, &there, e) < 0)
        return -1;
    if (!there)
        memset(&stored.row.raw, 0, sizeof stored.row.raw);
    return column_insert(tx, "calibration", row_columns, &stored, NULL, NULL, e);
}

int card_put(store_tx *tx, const card_test *test, const card_check *rows, size_t count, err *e)
{
    int64_t id = 0;
    if (column_insert(tx, "selftest", test_columns, test, NULL, NULL, e) < 0 ||
        newest_id(tx, &id, e) < 0)
        return err_wrap(e, "self-test of %s", test->device_uuid);
    for (size_t i = 0; i < count; i++)
        if (put_row(tx, id, &rows[i], e) < 0)
            return err_wrap(e, "self-test of %s, %s", test->device_uuid, rows[i].name);
    return 0;
}

/* ---- reading ---- */

/* read_reals reads the first column of every row, at most `max` of them. */
static int read_reals(store_tx *tx, sqlite3_stmt *s, double *out, size_t max, size_t *count, err *e)
{
    int got = 1;
    *count = 0;
    while (*count < max && (got = db_step(tx, s, e)) > 0)
        out[(*count)++] = sqlite3_column_double(s, 0);
    return got < 0 ? -1 : 0;
}

int card_thetas(store_tx *tx, const char *device_uuid, const char *duration, double *out,
                size_t max, size_t *count, err *e)
{
    SCOPED(db_reset)
    sqlite3_stmt *s =
        db_prepare(tx,
                   "SELECT c.theta FROM calibration c JOIN selftest t ON t.id = c.selftest WHERE "
                   "t.device_uuid = ?1 AND c.name = 'aa' AND c.duration = ?2 AND c.theta IS NOT "
                   "NULL ORDER BY c.id DESC",
                   e);
    if (s == NULL)
        return -1;
    db_text(s, 1, device_uuid);
    db_text(s, 2, duration);
    if (read_reals(tx, s, out, max, count, e) < 0)
        return -1;
    for (size_t i = 0; i < *count / 2; i++) {
        double swap = out[i];
        out[i] = out[*count - 1 - i];
        out[*count - 1 - i] = swap;
    }
    return 0;
}

int card_copy(store_tx *tx, const char *device_uuid, int64_t since_ms, double *out, err *e)
{
    SCOPED(scoped_free) double *all = xcalloc(COPIES_MAX, sizeof *all);
    size_t count = 0;
    SCOPED(db_reset)
    sqlite3_stmt *s =
        db_prepare(tx,
                   "SELECT c.value FROM calibration c JOIN selftest t ON t.id = c.selftest WHERE "
                   "t.device_uuid = ?1 AND t.at_ms >= ?2 AND c.name = 'copy' AND c.passed = 1 AND "
                   "c.value IS NOT NULL ORDER BY c.id DESC",
                   e);
    if (s == NULL)
        return -1;
    db_text(s, 1, device_uuid);
    db_int(s, 2, since_ms);
    if (read_reals(tx, s, all, COPIES_MAX, &count, e) < 0)
        return -1;
    *out = count > 0 ? stats_median(all, count) : (double)NAN;
    return 0;
}

int card_failure(store_tx *tx, const char *device_uuid, char **out, err *e)
{
    SCOPED(db_reset)
    sqlite3_stmt *s = db_prepare(tx,
                                 "SELECT failure FROM selftest WHERE device_uuid = ?1 "
                                 "ORDER BY id DESC LIMIT 1",
                                 e);
    if (s == NULL)
        return -1;
    db_text(s, 1, device_uuid);
    int got = db_step(tx, s, e);
    if (got < 0)
        return -1;
    const unsigned char *text = got > 0 ? sqlite3_column_text(s, 0) : NULL;
    *out = text != NULL ? xstrdup((const char *)text) : NULL;
    return 0;
}
