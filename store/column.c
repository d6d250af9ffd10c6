/* column - which struct field is which database column (inside store/ only)
 *
 * SPDX-License-Identifier: MIT */
#include "store/column.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/outcome.h"
#include "common/scoped.h"
#include "common/xalloc.h"

int column_count(const column *columns)
{
    int n = 0;
    while (columns[n].name != NULL)
        n++;
    return n;
}

void column_names(buf *out, const column *columns, const char *prefix)
{
    for (const column *c = columns; c->name != NULL; c++)
        buf_printf(out, "%s%s%s", c == columns ? "" : ", ", prefix, c->name);
}

/* Fields are copied out and in by memcpy: the table knows offsets, not types. */
static int64_t int_at(const char *at)
{
    int64_t value;
    memcpy(&value, at, sizeof value);
    return value;
}

static void bind_int_unless(sqlite3_stmt *s, int index, int64_t value, int64_t null)
{
    if (value == null)
        sqlite3_bind_null(s, index);
    else
        sqlite3_bind_int64(s, index, value);
}

static void bind_text_at(sqlite3_stmt *s, int index, const char *at)
{
    const char *text;
    memcpy(&text, at, sizeof text);
    db_text(s, index, text);
}

static void bind_real_at(sqlite3_stmt *s, int index, const char *at)
{
    double value;
    memcpy(&value, at, sizeof value);
    db_real(s, index, value);
}

static void bind_amount_at(sqlite3_stmt *s, int index, const char *at)
{
    double value;
    memcpy(&value, at, sizeof value);
    db_real(s, index, value > 0 ? value : (double)NAN);
}

static void bind_hash_at(sqlite3_stmt *s, int index, const char *at)
{
    hash value;
    memcpy(&value, at, sizeof value);
    db_hash(s, index, &value);
}

static int enum_at(const char *at)
{
    int value;
    memcpy(&value, at, sizeof value);
    return value;
}

static void bind_bool_at(sqlite3_stmt *s, int index, const char *at)
{
    bool value;
    memcpy(&value, at, sizeof value);
    sqlite3_bind_int(s, index, value ? 1 : 0);
}

static void bind_one(sqlite3_stmt *s, int index, const column *c, const char *at)
{
    switch (c->type) {
    case COLUMN_TEXT:
        bind_text_at(s, index, at);
        return;
    case COLUMN_INT:
        db_int(s, index, int_at(at));
        return;
    case COLUMN_COUNT:
        bind_int_unless(s, index, int_at(at), -1);
        return;
    case COLUMN_ID:
        bind_int_unless(s, index, int_at(at), 0);
        return;
    case COLUMN_REAL:
        bind_real_at(s, index, at);
        return;
    case COLUMN_AMOUNT:
        bind_amount_at(s, index, at);
        return;
    case COLUMN_HASH:
        bind_hash_at(s, index, at);
        return;
    case COLUMN_BOOL:
        bind_bool_at(s, index, at);
        return;
    case COLUMN_OUTCOME:
        db_text(s, index, outcome_name((outcome)enum_at(at)));
        return;
    case COLUMN_CHOICE:
        db_text(s, index, c->names[enum_at(at)]);
        return;
    }
}

void column_bind(sqlite3_stmt *s, int first, const column *columns, const void *row)
{
    for (const column *c = columns; c->name != NULL; c++)
        bind_one(s, first++, c, (const char *)row + c->offset);
}

typedef struct insertion {
    const char *table, *key_name;
    const column *columns;
} insertion;

static void write_insert(buf *out, const void *arg)
{
    const insertion *into = arg;
    int n = column_count(into->columns) + (into->key_name != NULL ? 1 : 0);
    buf_printf(out, "INSERT INTO %s (", into->table);
    column_names(out, into->columns, "");
    buf_printf(out, "%s%s) VALUES (", into->key_name != NULL ? ", " : "",
               into->key_name != NULL ? into->key_name : "");
    for (int i = 1; i <= n; i++)
        buf_printf(out, "%s?%d", i == 1 ? "" : ", ", i);
    buf_puts(out, ")");
}

int column_insert(store_tx *tx, const char *table, const column *columns, const void *row,
                  const char *key_name, const char *key, err *e)
{
    const insertion into = {table, key_name, columns};
    SCOPED(db_reset)
    sqlite3_stmt *s = db_prepare_built(tx, columns, write_insert, &into, e);
    if (s == NULL)
        return -1;
    column_bind(s, 1, columns, row);
    if (key_name != NULL)
        db_text(s, sqlite3_bind_parameter_count(s), key);
    return db_write(tx, s, e);
}

static const char *text_of(sqlite3_stmt *s, int index)
{
    const unsigned char *text = sqlite3_column_text(s, index);
    return (const char *)text;
}

static int read_choice(const column *c, const char *text, int *out, err *e)
{
    for (int i = 0; text != NULL && c->names[i] != NULL; i++)
        if (strcmp(c->names[i], text) == 0) {
            *out = i;
            return 0;
        }
    return err_set(e, ERR_CONFIG, "the database holds the unknown %s '%s': use a newer ce", c->name,
                   text != NULL ? text : "NULL");
}

static int read_outcome(const char *text, int *out, err *e)
{
    outcome value = OUTCOME_NOT_RUN;
    if (text != NULL && !outcome_parse(text, &value))
        return err_set(e, ERR_CONFIG, "the database holds the unknown outcome '%s': use a newer ce",
                       text);
    *out = (int)value;
    return 0;
}

static int read_hash(const char *text, hash *out, err *e)
{
    memset(out, 0, sizeof *out);
    if (text != NULL && !hash_parse(text, out))
        return err_set(e, ERR_CONFIG, "the database holds '%s' where a hash belongs", text);
    return 0;
}

static int64_t read_int_or(sqlite3_stmt *s, int index, int64_t null)
{
    return sqlite3_column_type(s, index) == SQLITE_NULL ? null : sqlite3_column_int64(s, index);
}

static void keep_int(char *at, int64_t value)
{
    memcpy(at, &value, sizeof value);
}

static void keep_text(char *at, const char *text)
{
    char *copy = text != NULL ? xstrdup(text) : NULL;
    memcpy(at, &copy, sizeof copy);
}

static void keep_real(sqlite3_stmt *s, int index, char *at)
{
    bool null = sqlite3_column_type(s, index) == SQLITE_NULL;
    double value = null ? (double)NAN : sqlite3_column_double(s, index);
    memcpy(at, &value, sizeof value);
}

static int keep_named(sqlite3_stmt *s, int index, const column *c, char *at, err *e)
{
    int value = 0;
    const char *text = text_of(s, index);
    int rc =
        c->type == COLUMN_OUTCOME ? read_outcome(text, &value, e) : read_choice(c, text, &value, e);
    memcpy(at, &value, sizeof value);
    return rc;
}

static int keep_hash(sqlite3_stmt *s, int index, char *at, err *e)
{
    hash value;
    int rc = read_hash(text_of(s, index), &value, e);
    memcpy(at, &value, sizeof value);
    return rc;
}

static void keep_amount(sqlite3_stmt *s, int index, char *at)
{
    double value = sqlite3_column_double(s, index); /* NULL reads as 0 */
    memcpy(at, &value, sizeof value);
}

static void keep_bool(sqlite3_stmt *s, int index, char *at)
{
    bool value = sqlite3_column_int(s, index) != 0;
    memcpy(at, &value, sizeof value);
}

static char *text_at(const char *at)
{
    char *text;
    memcpy(&text, at, sizeof text);
    return text;
}

/* Rows of a list are alike: the text of the row before is used again where it is the same. */
static void keep_text_like(char *at, const char *before, const char *text)
{
    char *earlier = before != NULL ? text_at(before) : NULL;
    if (text != NULL && earlier != NULL && strcmp(text, earlier) == 0)
        memcpy(at, &earlier, sizeof earlier);
    else
        keep_text(at, text);
}

/* before: the same member of the row before, or NULL. */
static int read_one(sqlite3_stmt *s, int index, const column *c, char *at, const char *before,
                    err *e)
{
    switch (c->type) {
    case COLUMN_TEXT:
        keep_text_like(at, before, text_of(s, index));
        return 0;
    case COLUMN_INT:
    case COLUMN_ID:
        keep_int(at, read_int_or(s, index, 0));
        return 0;
    case COLUMN_COUNT:
        keep_int(at, read_int_or(s, index, -1));
        return 0;
    case COLUMN_REAL:
        keep_real(s, index, at);
        return 0;
    case COLUMN_AMOUNT:
        keep_amount(s, index, at);
        return 0;
    case COLUMN_HASH:
        return keep_hash(s, index, at, e);
    case COLUMN_BOOL:
        keep_bool(s, index, at);
        return 0;
    case COLUMN_OUTCOME:
    case COLUMN_CHOICE:
        return keep_named(s, index, c, at, e);
    }
    return 0;
}

/* A failure leaves a row that can be freed. */
static int read_row(sqlite3_stmt *s, int first, const column *columns, char *row,
                    const char *before, err *e)
{
    int rc = 0;
    for (const column *c = columns; c->name != NULL; c++)
        if (read_one(s, first++, c, row + c->offset, before != NULL ? before + c->offset : NULL,
                     e) < 0)
            rc = -1;
    return rc;
}

int column_read(sqlite3_stmt *s, int first, const column *columns, void *row, err *e)
{
    int rc = read_row(s, first, columns, row, NULL, e);
    if (rc < 0)
        column_free(columns, row);
    return rc;
}

int column_peek(sqlite3_stmt *s, int first, const column *columns, void *row, err *e)
{
    int rc = 0;
    for (const column *c = columns; c->name != NULL; c++, first++) {
        char *at = (char *)row + c->offset;
        const char *text = c->type == COLUMN_TEXT ? text_of(s, first) : NULL;
        if (c->type == COLUMN_TEXT)
            memcpy(at, &text, sizeof text);
        else if (read_one(s, first, c, at, NULL, e) < 0)
            rc = -1;
    }
    return rc;
}

void column_free(const column *columns, void *row)
{
    for (const column *c = columns; c->name != NULL; c++) {
        if (c->type != COLUMN_TEXT)
            continue;
        char *at = (char *)row + c->offset;
        free(text_at(at));
        keep_text(at, NULL);
    }
}

static sqlite3_stmt *select_statement(store_tx *tx, const column_query *query, err *e)
{
    SCOPED(buf_fini) buf sql = {0};
    buf_init(&sql, DB_SQL_MAX);
    buf_puts(&sql, "SELECT ");
    column_names(&sql, query->columns, "");
    buf_printf(&sql, " FROM %s", query->from);
    sqlite3_stmt *s = db_prepare(tx, buf_text(&sql), e);
    for (int i = 0; s != NULL && i < sqlite3_bind_parameter_count(s); i++)
        db_text(s, i + 1, query->parameters[i]);
    return s;
}

static int append_row(sqlite3_stmt *s, const column_query *query, size_t *room, column_rows *out,
                      err *e)
{
    if (out->count == *room) {
        *room = *room == 0 ? 16 : *room * 2;
        out->rows = xreallocarray(out->rows, *room, query->size);
    }
    char *row = (char *)out->rows + out->count * query->size;
    memset(row, 0, query->size);
    const char *before = out->count > 0 ? row - query->size : NULL;
    out->count++; /* also a row that could not be read is freed with the others */
    return read_row(s, 0, query->columns, row, before, e);
}

int column_select(store_tx *tx, const column_query *query, column_rows *out, err *e)
{
    *out = (column_rows){0};
    SCOPED(db_reset) sqlite3_stmt *s = select_statement(tx, query, e);
    if (s == NULL)
        return -1;
    size_t room = 0;
    int got;
    while ((got = db_step(tx, s, e)) > 0)
        if ((got = append_row(s, query, &room, out, e)) < 0)
            break;
    if (got == 0)
        return 0;
    column_rows_free(query->columns, query->size, out->rows, out->count);
    *out = (column_rows){0};
    return -1;
}

int column_first(store_tx *tx, const column_query *query, void *row, const char *what, err *e)
{
    SCOPED(db_reset) sqlite3_stmt *s = select_statement(tx, query, e);
    if (s == NULL)
        return -1;
    int got = db_step(tx, s, e);
    if (got == 0)
        return err_set(e, ERR_NOT_FOUND, "there is no %s", what);
    return got < 0 ? -1 : column_read(s, 0, query->columns, row, e);
}

void column_rows_free(const column *columns, size_t size, void *rows, size_t count)
{
    for (const column *c = columns; c->name != NULL; c++) {
        const char *shared = NULL; /* with the row before: freed already */
        for (size_t i = 0; c->type == COLUMN_TEXT && i < count; i++) {
            char *text = text_at((const char *)rows + i * size + c->offset);
            if (text != shared)
                free(text);
            shared = text;
        }
    }
    free(rows);
}
