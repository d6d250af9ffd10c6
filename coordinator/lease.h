/* lease - who holds which task, until when, under which fencing token
 *
 * Purpose:   a lease is renewed by its node's beats and ends when it is released, when its node goes
 *            or when nobody renewed it in time. Tokens only grow, so the store can refuse an older one.
 *            Time is a parameter: monotonic milliseconds.
 * Ownership: the table owns its rows; tasks and nodes are numbers of the caller.
 * Threads:   one owner (the coordinator's loop).
 * Errors:    lease_grant fails with ERR_CONFLICT when the task is held; lease_check with ERR_CONFLICT
 *            when the token is not the current one.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_COORDINATOR_LEASE_H
#define CE_COORDINATOR_LEASE_H

#include <stdbool.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/err.h"

typedef struct lease_table lease_table;

typedef struct lease {
    size_t task;
    size_t node;
    int64_t token;
    int64_t expires_ms;
    int64_t granted_ms;
    bool told; /* that it takes long */
} lease;

/* Called once for each lease that ended; it may release others, but grants none. */
typedef void lease_end_fn(void *arg, const lease *ended);

/* lease_table_create: the first token granted is last_token + 1; a lease lives ttl_ms after its grant or
 * its last renewal. */
lease_table *lease_table_create(int64_t last_token, int64_t ttl_ms);
void lease_table_destroy(lease_table **self);

int lease_grant(lease_table *self, size_t task, size_t node, int64_t now_ms, lease *out, err *e);
/* lease_resume is lease_grant under a token that was granted before. */
int lease_resume(lease_table *self, const lease *old, int64_t now_ms, err *e);
/* lease_check: *out is the current lease of the task if the token is its token. */
int lease_check(const lease_table *self, size_t task, int64_t token, lease *out, err *e);
/* lease_held: somebody has the task, under whatever token. */
bool lease_held(const lease_table *self, size_t task);
/* lease_release ends a lease by its holder's word; the same complaints as lease_check. */
int lease_release(lease_table *self, size_t task, int64_t token, err *e);
/* lease_renew keeps every lease of a node for another ttl. */
void lease_renew(lease_table *self, size_t node, int64_t now_ms);
/* lease_expire ends every lease whose time is over; the result is how many. */
size_t lease_expire(lease_table *self, int64_t now_ms, lease_end_fn *ended, void *arg);
/* lease_slow gives each lease that is older than age_ms, once. */
size_t lease_slow(lease_table *self, int64_t age_ms, int64_t now_ms, lease_end_fn *slow, void *arg);
/* lease_drop_node ends every lease of a node (it died, left or was lost). */
size_t lease_drop_node(lease_table *self, size_t node, lease_end_fn *ended, void *arg);
/* lease_drop_all ends every lease. */
size_t lease_drop_all(lease_table *self, lease_end_fn *ended, void *arg);
/* lease_last_token is the newest token granted (or what the table began with). */
int64_t lease_last_token(const lease_table *self);
/* lease_at is the i-th running lease, in no order that means anything; false past the last. */
bool lease_at(const lease_table *self, size_t i, lease *out);
/* lease_count is the number of running leases; of one node with lease_count_node. */
size_t lease_count(const lease_table *self);
size_t lease_count_node(const lease_table *self, size_t node);

#endif
