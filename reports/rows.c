/* rows - a dumped table in memory, found by task and stage
 *
 * SPDX-License-Identifier: MIT */
#include "reports/rows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/scoped.h"
#include "common/str.h"
#include "common/xalloc.h"

typedef struct rows_key {
    const char *task, *stage; /* "" without one */
    size_t position;
} rows_key;

static int compare(const rows_key *a, const rows_key *b)
{
    int by_task = strcmp(a->task, b->task);
    return by_task != 0 ? by_task : strcmp(a->stage, b->stage);
}

static int in_order(const void *a, const void *b)
{
    const rows_key *x = a, *y = b;
    int by_key = compare(x, y);
    if (by_key != 0)
        return by_key;
    return x->position < y->position ? -1 : x->position > y->position;
}

static const char *text_or_empty(const json *row, const char *column)
{
    const char *text = rows_text(row, column);
    return text != NULL ? text : "";
}

/* A row of table task is found by its own id. */
static const char *task_of(const json *row)
{
    const char *task = rows_text(row, "task");
    return task != NULL ? task : text_or_empty(row, "id");
}

static int add_line(rows *self, str line, size_t number, err *e)
{
    json *row = json_parse_tree(line.data, line.size, "row", e);
    if (row == NULL)
        return err_wrap(e, "line %zu", number);
    self->all = xreallocarray(self->all, self->count + 1, sizeof *self->all);
    self->sorted = xreallocarray(self->sorted, self->count + 1, sizeof *self->sorted);
    self->all[self->count] = row;
    self->sorted[self->count] = (rows_key){task_of(row), text_or_empty(row, "stage"), self->count};
    self->count++;
    return 0;
}

rows *rows_create(const char *text, err *e)
{
    SCOPED(rows_destroy) rows *self = xcalloc(1, sizeof *self);
    str rest = str_of(text), line;
    for (size_t number = 1; str_line(&rest, &line); number++)
        if (line.size > 0 && add_line(self, line, number, e) < 0)
            return NULL;
    if (self->count > 1)
        qsort(self->sorted, self->count, sizeof *self->sorted, in_order);
    return TAKE(self);
}

void rows_destroy(rows **self)
{
    rows *r = *self;
    if (r == NULL)
        return;
    for (size_t i = 0; i < r->count; i++)
        json_destroy(&r->all[i]);
    free(r->all);
    free(r->sorted);
    free(r);
    *self = NULL;
}

/* The first row whose key is not below. */
static size_t lower_bound(const rows *self, const rows_key *key)
{
    size_t low = 0, high = self->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (compare(&self->sorted[middle], key) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

size_t rows_find(const rows *self, const char *task, const char *stage, size_t *first)
{
    const rows_key key = {task, stage != NULL ? stage : "", 0};
    *first = lower_bound(self, &key);
    size_t n = 0;
    for (size_t i = *first; i < self->count; i++, n++) {
        const rows_key *at = &self->sorted[i];
        if (strcmp(at->task, task) != 0 || (stage != NULL && strcmp(at->stage, stage) != 0))
            break;
    }
    return n;
}

const json *rows_at(const rows *self, size_t i)
{
    return self->all[self->sorted[i].position];
}

const char *rows_text(const json *row, const char *column)
{
    return json_str(json_get(row, column), NULL);
}

int64_t rows_int(const json *row, const char *column)
{
    return json_int(json_get(row, column), -1);
}

double rows_real(const json *row, const char *column)
{
    return json_real(json_get(row, column), (double)NAN);
}
