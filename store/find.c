/* find - from what a person types to an id (inside store/ only)
 *
 * SPDX-License-Identifier: MIT */
#include "store/find.h"

#include <stdlib.h>
#include <string.h>

#include "common/scoped.h"
#include "common/xalloc.h"

enum { SHOWN_MAX = 4 };

/* Ids sort by time of making, so the newest is the largest. */
static int newest(store_tx *tx, const char *table, char **out, err *e)
{
    SCOPED(scoped_free)
    char *sql = xasprintf("SELECT id FROM %s ORDER BY id DESC LIMIT 1", table);
    SCOPED(db_reset) sqlite3_stmt *s = db_prepare(tx, sql, e);
    if (s == NULL)
        return -1;
    int got = db_step(tx, s, e);
    if (got == 0)
        return err_set(e, ERR_NOT_FOUND, "there is no %s yet", table);
    if (got < 0)
        return -1;
    *out = xstrdup((const char *)sqlite3_column_text(s, 0));
    return 0;
}

static void keep(const char *id, char **first, size_t *count, buf *shown)
{
    if ((*count)++ == 0)
        *first = xstrdup(id);
    if (*count <= SHOWN_MAX)
        buf_printf(shown, "%s%s", *count == 1 ? "" : ", ", id);
}

/* An exact id is found first and wins over longer ones. */
static int by_prefix(store_tx *tx, const char *table, const char *text, char **out, err *e)
{
    SCOPED(scoped_free)
    char *sql = xasprintf("SELECT id FROM %s WHERE substr(id, 1, length(?1)) = ?1 "
                          "ORDER BY length(id), id LIMIT 5",
                          table);
    SCOPED(db_reset) sqlite3_stmt *s = db_prepare(tx, sql, e);
    if (s == NULL)
        return -1;
    db_text(s, 1, text);
    SCOPED(scoped_free) char *first = NULL;
    SCOPED(buf_fini) buf shown = {0};
    buf_init(&shown, 1024);
    size_t count = 0;
    int got;
    while ((got = db_step(tx, s, e)) > 0)
        keep((const char *)sqlite3_column_text(s, 0), &first, &count, &shown);
    if (got < 0)
        return -1;
    if (count == 0)
        return err_set(e, ERR_NOT_FOUND, "there is no %s %s", table, text);
    if (count > 1 && strcmp(first, text) != 0)
        return err_set(e, ERR_CONFLICT, "'%s' fits more than one %s: %s%s", text, table,
                       buf_text(&shown), count > SHOWN_MAX ? ", …" : "");
    *out = TAKE(first);
    return 0;
}

int find_id(store_tx *tx, const char *table, const char *text, char **out, err *e)
{
    if (text == NULL || strcmp(text, "latest") == 0)
        return newest(tx, table, out, e);
    return by_prefix(tx, table, text, out, e);
}
