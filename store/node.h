/* node - which machines have worked here
 *
 * Purpose:   rows of table node; arrivals and departures are events too.
 * Ownership: writing borrows; reading gives text that the list owns.
 * Threads:   inside a job (store.h).
 * Errors:    ERR_NOT_FOUND for an unknown node.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_STORE_NODE_H
#define CE_STORE_NODE_H

#include <stddef.h>
#include <stdint.h>

#include "store/store.h"

typedef enum node_state { NODE_UP, NODE_LOST, NODE_LEFT } node_state;
const char *node_state_name(node_state state);

typedef struct node_row {
    const char *name;
    const char *instance; /* fresh per process */
    const char *devices;  /* JSON */
    const char *software; /* JSON */
    int64_t joined_ms, seen_ms;
    node_state state;
} node_row;
typedef struct node_list {
    node_row *rows;
    size_t count;
} node_list;

/* node_put inserts or replaces by name; event `node_up`. */
int node_put(store_tx *tx, const node_row *row, err *e);
/* node_set_state also moves seen_ms; event `node_up`, `node_lost` or `node_left`. */
int node_set_state(store_tx *tx, const char *name, node_state state, int64_t now_ms, err *e);
int node_list_read(store_tx *tx, node_list *out, err *e); /* by name */
void node_list_fini(node_list *self);

#endif
