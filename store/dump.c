/* dump - a run as lines of text, and back: what an evidence pack is made of
 *
 * SPDX-License-Identifier: MIT */
#include "store/dump.h"

#include <stdlib.h>
#include <string.h>

#include "common/json.h"
#include "common/scoped.h"
#include "common/str.h"
#include "common/xalloc.h"
#include "store/db.h"

enum { SQL_MAX = 4096, COLUMNS_MAX = 128, ROW_MAX = 64 * 1024 * 1024 };

/* Which rows are a run's (?1), their order, and what is told of them (NULL: every column). */
typedef struct dump_table {
    const char *name, *rows, *order, *columns;
} dump_table;

#define OF_TASKS "task IN (SELECT id FROM task WHERE run = ?1)"

/* A node has one row, which later runs replace: only what it told before the run ended is of the run, and
 * when it was last seen is not. */
#define AT_WORK                                                             \
    "name IN (SELECT node FROM lease WHERE " OF_TASKS ") AND joined_ms <= " \
    "(SELECT coalesce(finished_ms, joined_ms) FROM run WHERE id = ?1)"

/* Not here: `artifact` (blobs go as files of their own) and `baseline`, `claim`, `selftest`, `calibration`,
 * `night` (which belong to no run), `late` (which decides nothing; `event` tells of it). A row stands after
 * those that it refers to. */
static const dump_table tables[] = {
    {"run", "id = ?1", "id", NULL},
    {"entrant", "run = ?1", "id", NULL},
    {"problem", "run = ?1", "position, id", NULL},
    {"task", "run = ?1", "id", NULL},
    {"lease", OF_TASKS, "task, token", NULL},
    {"stage_result", OF_TASKS, "task, position, stage", NULL},
    {"model_call", OF_TASKS, "task, stage, number", NULL},
    {"charge", OF_TASKS, "task, stage, number, token", NULL},
    {"attempt", OF_TASKS, "task, number", NULL},
    {"measurement", OF_TASKS, "id", NULL},
    {"comparison", OF_TASKS, "id", NULL},
    {"node", AT_WORK, "name",
     "name, instance, devices, software, joined_ms, joined_ms AS seen_ms, 'left' AS state"},
    {"event", "run = ?1 OR task IN (SELECT id FROM task WHERE run = ?1)", "id", NULL},
};
enum { TABLES = sizeof tables / sizeof tables[0] };

const char *dump_name(size_t table)
{
    return table < TABLES ? tables[table].name : NULL;
}

/* ---- writing ---- */

static json *value_of(sqlite3_stmt *s, int column)
{
    switch (sqlite3_column_type(s, column)) {
    case SQLITE_INTEGER:
        return json_new_int(sqlite3_column_int64(s, column));
    case SQLITE_FLOAT:
        return json_new_real(sqlite3_column_double(s, column));
    default:
        return json_new_strn((const char *)sqlite3_column_text(s, column),
                             (size_t)sqlite3_column_bytes(s, column));
    }
}

/* A column without a value is left out. */
static void write_row(sqlite3_stmt *s, buf *out)
{
    SCOPED(json_destroy) json *row = json_new_object();
    for (int i = 0; i < sqlite3_column_count(s); i++) {
        if (sqlite3_column_type(s, i) == SQLITE_NULL)
            continue;
        json *value = value_of(s, i);
        json_set(row, sqlite3_column_name(s, i), &value);
    }
    SCOPED(scoped_free) char *line = json_dump(row);
    SCOPED(scoped_free) char *whole = xasprintf("%s\n", line);
    buf_puts(out, whole); /* at once: a buffer that is drained is drained between lines */
}

static sqlite3_stmt *prepare(store_tx *tx, const char *sql, const char *run, err *e)
{
    sqlite3_stmt *s = db_prepare(tx, sql, e);
    if (s != NULL && sqlite3_bind_parameter_count(s) > 0)
        db_text(s, 1, run);
    return s;
}

void dump_csv_text(buf *out, const char *text)
{
    if (text[strcspn(text, ",\"\r\n")] == '\0') {
        buf_puts(out, text);
        return;
    }
    buf_puts(out, "\"");
    for (const char *p = text; *p != '\0'; p++)
        buf_add(out, *p == '"' ? "\"\"" : p, *p == '"' ? 2 : 1);
    buf_puts(out, "\"");
}

static void csv_value(sqlite3_stmt *s, int column, buf *line)
{
    if (sqlite3_column_type(s, column) == SQLITE_FLOAT)
        json_number(line, sqlite3_column_double(s, column));
    else if (sqlite3_column_type(s, column) != SQLITE_NULL)
        dump_csv_text(line, (const char *)sqlite3_column_text(s, column));
}

/* A line at a time, so that a buffer that is drained is drained between lines. */
static void csv_row(sqlite3_stmt *s, buf *out)
{
    SCOPED(buf_fini) buf line = {0};
    buf_init(&line, ROW_MAX);
    for (int i = 0; i < sqlite3_column_count(s); i++) {
        buf_puts(&line, i > 0 ? "," : "");
        csv_value(s, i, &line);
    }
    buf_puts(&line, "\r\n");
    out->overflow |= line.overflow;
    buf_add(out, buf_text(&line), line.size);
}

static void csv_names(sqlite3_stmt *s, buf *out)
{
    for (int i = 0; i < sqlite3_column_count(s); i++)
        buf_printf(out, "%s%s", i > 0 ? "," : "", sqlite3_column_name(s, i));
    buf_puts(out, "\r\n");
}

static int each_row(store_tx *tx, size_t table, const char *run, bool csv, buf *out, err *e)
{
    const dump_table *t = &tables[table];
    SCOPED(scoped_free)
    char *sql = xasprintf("SELECT %s FROM %s WHERE %s ORDER BY %s",
                          t->columns != NULL ? t->columns : "*", t->name, t->rows, t->order);
    SCOPED(db_reset) sqlite3_stmt *s = prepare(tx, sql, run, e);
    if (s == NULL)
        return -1;
    if (csv)
        csv_names(s, out);
    int got;
    while ((got = db_step(tx, s, e)) == 1)
        (csv ? csv_row : write_row)(s, out);
    if (got == 0 && out->overflow)
        return err_set(e, ERR_LIMIT, "table %s of run %s is larger than %zu bytes", t->name, run,
                       out->max);
    return got;
}

int dump_write(store_tx *tx, size_t table, const char *run, buf *out, err *e)
{
    return each_row(tx, table, run, false, out, e);
}

int dump_csv(store_tx *tx, size_t table, const char *run, buf *out, err *e)
{
    return each_row(tx, table, run, true, out, e);
}

/* ---- reading ---- */

/* Names come from a file: only identifiers get into the statement, and SQLite knows the columns. */
static int insert_sql(const char *table, const json *row, buf *out, err *e)
{
    size_t n = 0;
    buf_printf(out, "INSERT INTO %s (", table);
    for (json_iter it = {0}; json_next(row, &it); n++) {
        if (!str_is_name(it.key, 64) || n == COLUMNS_MAX)
            return err_set(e, ERR_CONFIG, "\"%.64s\" is no column", it.key);
        buf_printf(out, "%s\"%s\"", n > 0 ? ", " : "", it.key);
    }
    buf_puts(out, ") VALUES (");
    for (size_t i = 0; i < n; i++)
        buf_printf(out, "%s?%zu", i > 0 ? ", " : "", i + 1);
    buf_puts(out, ")");
    return n > 0 ? 0 : err_set(e, ERR_CONFIG, "a row without columns");
}

static int bind(sqlite3_stmt *s, int index, const json_iter *at, err *e)
{
    switch (json_typeof(at->value)) {
    case JSON_TYPE_INT:
        db_int(s, index, json_int(at->value, 0));
        return 0;
    case JSON_TYPE_REAL:
        db_real(s, index, json_real(at->value, 0));
        return 0;
    case JSON_TYPE_STRING:
        db_text(s, index, json_str(at->value, ""));
        return 0;
    case JSON_TYPE_NULL:
    case JSON_TYPE_BOOL:
    case JSON_TYPE_ARRAY:
    case JSON_TYPE_OBJECT:
        break;
    }
    return err_set(e, ERR_CONFIG, "%.64s: want a number or a text", at->key);
}

static int insert(store_tx *tx, const char *table, const json *row, err *e)
{
    SCOPED(buf_fini) buf sql = {0};
    buf_init(&sql, SQL_MAX);
    if (json_typeof(row) != JSON_TYPE_OBJECT)
        return err_set(e, ERR_CONFIG, "want an object");
    if (insert_sql(table, row, &sql, e) < 0)
        return -1;
    sqlite3_stmt *s = NULL; /* not cached: the text is not ours */
    if (sqlite3_prepare_v2(tx->db, buf_text(&sql), -1, &s, NULL) != SQLITE_OK)
        return err_set(e, ERR_CONFIG, "%s", sqlite3_errmsg(tx->db));
    int index = 1, rc = 0;
    for (json_iter it = {0}; rc == 0 && json_next(row, &it); index++)
        rc = bind(s, index, &it, e);
    if (rc == 0)
        rc = db_write(tx, s, e);
    sqlite3_finalize(s);
    return rc;
}

int dump_read(store_tx *tx, size_t table, const char *text, err *e)
{
    str rest = str_of(text), line;
    for (size_t number = 1; str_line(&rest, &line); number++) {
        SCOPED(json_destroy) json *row = json_parse_tree(line.data, line.size, "row", e);
        if (row == NULL || insert(tx, tables[table].name, row, e) < 0)
            return err_wrap(e, "line %zu", number);
    }
    return 0;
}

/* ---- blobs ---- */

static int by_name(const void *a, const void *b)
{
    const dump_blob *x = a, *y = b;
    return memcmp(x->name.bytes, y->name.bytes, HASH_SIZE);
}

static void sort_once(dump_blob_list *list)
{
    if (list->count > 1)
        qsort(list->rows, list->count, sizeof *list->rows, by_name);
    size_t kept = 0;
    for (size_t i = 0; i < list->count; i++) {
        if (kept > 0 && by_name(&list->rows[kept - 1], &list->rows[i]) == 0)
            list->rows[kept - 1].links |= list->rows[i].links;
        else
            list->rows[kept++] = list->rows[i];
    }
    list->count = kept;
}

static int add_column(store_tx *tx, const dump_table *t, const char *column, const char *run,
                      dump_blob_list *out, err *e)
{
    const bool links = strcmp(column, "record") == 0 || strcmp(column, "spec") == 0;
    SCOPED(scoped_free)
    char *sql = xasprintf("SELECT DISTINCT \"%s\" FROM %s WHERE (%s) AND \"%s\" IS NOT NULL",
                          column, t->name, t->rows, column);
    SCOPED(db_reset) sqlite3_stmt *s = prepare(tx, sql, run, e);
    if (s == NULL)
        return -1;
    int got;
    while ((got = db_step(tx, s, e)) == 1) {
        out->rows = xreallocarray(out->rows, out->count + 1, sizeof *out->rows);
        dump_blob *blob = &out->rows[out->count++];
        blob->links = links;
        if (!hash_parse((const char *)sqlite3_column_text(s, 0), &blob->name))
            return err_set(e, ERR_CONFIG, "%s.%s is no hash", t->name, column);
    }
    return got;
}

/* Every column that refers to an artifact. */
static int add_table(store_tx *tx, const dump_table *t, const char *run, dump_blob_list *out,
                     err *e)
{
    SCOPED(db_reset)
    sqlite3_stmt *s = db_prepare(tx,
                                 "SELECT \"from\" FROM pragma_foreign_key_list(?1) "
                                 "WHERE \"table\" = 'artifact' ORDER BY 1",
                                 e);
    if (s == NULL)
        return -1;
    db_text(s, 1, t->name);
    int got;
    while ((got = db_step(tx, s, e)) == 1)
        if (add_column(tx, t, (const char *)sqlite3_column_text(s, 0), run, out, e) < 0)
            return -1;
    return got;
}

int dump_blobs(store_tx *tx, const char *run, dump_blob_list *out, err *e)
{
    for (size_t i = 0; i < TABLES; i++)
        if (add_table(tx, &tables[i], run, out, e) < 0)
            return -1;
    sort_once(out);
    return 0;
}

void dump_blob_list_fini(dump_blob_list *self)
{
    free(self->rows);
    *self = (dump_blob_list){0};
}

int dump_blob_size(store_tx *tx, const hash *name, int64_t *size, bool *here, err *e)
{
    SCOPED(db_reset)
    sqlite3_stmt *s =
        db_prepare(tx, "SELECT size, length(data) > 0 FROM artifact WHERE hash = ?1", e);
    if (s == NULL)
        return -1;
    db_hash(s, 1, name);
    int got = db_step(tx, s, e);
    *size = got == 1 ? sqlite3_column_int64(s, 0) : -1;
    *here = got == 1 && sqlite3_column_int(s, 1) != 0;
    return got < 0 ? -1 : 0;
}

int dump_blob_absent(store_tx *tx, const hash *name, int64_t size, err *e)
{
    SCOPED(db_reset)
    sqlite3_stmt *s =
        db_prepare(tx, "INSERT INTO artifact (hash, size, data) VALUES (?1, ?2, x'')", e);
    if (s == NULL)
        return -1;
    db_hash(s, 1, name);
    db_int(s, 2, size);
    return db_write(tx, s, e);
}
