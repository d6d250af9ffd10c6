/* lease - a small array of running leases
 *
 * There are as many rows as tasks in flight (slots of all nodes together), so a scan is cheap next to
 * the commit that every grant and every end costs.
 *
 * SPDX-License-Identifier: MIT */
#include "coordinator/lease.h"

#include <assert.h>
#include <stdlib.h>

#include "common/xalloc.h"

struct lease_table {
    lease *rows;
    size_t count, cap;
    int64_t last_token; /* newest token given */
    int64_t ttl_ms;
};

lease_table *lease_table_create(int64_t last_token, int64_t ttl_ms)
{
    lease_table *self = xcalloc(1, sizeof *self);
    self->last_token = last_token;
    self->ttl_ms = ttl_ms;
    return self;
}

void lease_table_destroy(lease_table **self)
{
    if (!*self)
        return;
    free((*self)->rows);
    free(*self);
    *self = NULL;
}

static lease *find(const lease_table *self, size_t task)
{
    for (size_t i = 0; i < self->count; i++) {
        if (self->rows[i].task == task)
            return &self->rows[i];
    }
    return NULL;
}

bool lease_held(const lease_table *self, size_t task)
{
    return find(self, task) != NULL;
}

static lease remove_at(lease_table *self, size_t i)
{
    lease row = self->rows[i];
    self->rows[i] = self->rows[--self->count];
    return row;
}

static int add(lease_table *self, const lease *row, err *e)
{
    const lease *held = find(self, row->task);
    if (held)
        return err_set(e, ERR_CONFLICT, "task %zu is held under token %lld", row->task,
                       (long long)held->token);
    if (self->count == self->cap) {
        self->cap = self->cap ? self->cap * 2 : 16;
        self->rows = xreallocarray(self->rows, self->cap, sizeof *self->rows);
    }
    self->rows[self->count++] = *row;
    return 0;
}

int lease_grant(lease_table *self, size_t task, size_t node, int64_t now_ms, lease *out, err *e)
{
    const lease row = {.task = task,
                       .node = node,
                       .token = self->last_token + 1,
                       .granted_ms = now_ms,
                       .expires_ms = now_ms + self->ttl_ms};
    if (add(self, &row, e))
        return -1;
    self->last_token++;
    *out = row;
    return 0;
}

int lease_resume(lease_table *self, const lease *old, int64_t now_ms, err *e)
{
    lease row = *old;
    assert(old->token <= self->last_token);
    row.granted_ms = now_ms;
    row.expires_ms = now_ms + self->ttl_ms;
    return add(self, &row, e);
}

int lease_check(const lease_table *self, size_t task, int64_t token, lease *out, err *e)
{
    const lease *row = find(self, task);
    if (!row)
        return err_set(e, ERR_CONFLICT, "token %lld holds no lease", (long long)token);
    if (row->token != token)
        return err_set(e, ERR_CONFLICT, "token %lld is fenced off by token %lld", (long long)token,
                       (long long)row->token);
    *out = *row;
    return 0;
}

int lease_release(lease_table *self, size_t task, int64_t token, err *e)
{
    lease row;
    if (lease_check(self, task, token, &row, e))
        return -1;
    const lease *found = find(self, task);
    assert(found != NULL); /* as lease_check said */
    remove_at(self, (size_t)(found - self->rows));
    return 0;
}

void lease_renew(lease_table *self, size_t node, int64_t now_ms)
{
    for (size_t i = 0; i < self->count; i++) {
        if (self->rows[i].node == node)
            self->rows[i].expires_ms = now_ms + self->ttl_ms;
    }
}

/* Ends rows one by one: `ended` may change the table, so each search starts anew. */
typedef bool match_fn(const lease *row, int64_t key);

static size_t drop_matching(lease_table *self, match_fn *match, int64_t key, lease_end_fn *ended,
                            void *arg)
{
    size_t dropped = 0;
    size_t i = 0;
    while (i < self->count) {
        if (!match(&self->rows[i], key)) {
            i++;
            continue;
        }
        lease row = remove_at(self, i);
        dropped++;
        ended(arg, &row);
        i = 0;
    }
    return dropped;
}

static bool is_over(const lease *row, int64_t now_ms)
{
    return row->expires_ms <= now_ms;
}

static bool is_of_node(const lease *row, int64_t node)
{
    return row->node == (size_t)node;
}

static bool is_any(const lease *row, int64_t key)
{
    (void)row;
    (void)key;
    return true;
}

size_t lease_expire(lease_table *self, int64_t now_ms, lease_end_fn *ended, void *arg)
{
    return drop_matching(self, is_over, now_ms, ended, arg);
}

size_t lease_slow(lease_table *self, int64_t age_ms, int64_t now_ms, lease_end_fn *slow, void *arg)
{
    size_t count = 0;
    for (size_t i = 0; i < self->count; i++) {
        lease *row = &self->rows[i];
        if (row->told || now_ms - row->granted_ms < age_ms)
            continue;
        row->told = true;
        slow(arg, row);
        count++;
    }
    return count;
}

size_t lease_drop_node(lease_table *self, size_t node, lease_end_fn *ended, void *arg)
{
    return drop_matching(self, is_of_node, (int64_t)node, ended, arg);
}

size_t lease_drop_all(lease_table *self, lease_end_fn *ended, void *arg)
{
    return drop_matching(self, is_any, 0, ended, arg);
}

int64_t lease_last_token(const lease_table *self)
{
    return self->last_token;
}

bool lease_at(const lease_table *self, size_t i, lease *out)
{
    if (i >= self->count)
        return false;
    *out = self->rows[i];
    return true;
}

size_t lease_count(const lease_table *self)
{
    return self->count;
}

size_t lease_count_node(const lease_table *self, size_t node)
{
    size_t count = 0;
    for (size_t i = 0; i < self->count; i++)
        count += self->rows[i].node == node;
    return count;
}
