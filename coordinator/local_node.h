/* local_node - the ce-node that ce-coord starts beside itself
 *
 * Purpose:   one command, no set-up: all devices of this host work for the run. Its death is noticed at
 *            once (pidfd), told in a sentence, and it is started again a few times.
 * Ownership: borrows the loop and the options' texts until local_node_stop.
 * Threads:   the loop's.
 * Errors:    local_node_start: ERR_NOT_FOUND when ce-node is not beside this program.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_COORDINATOR_LOCAL_NODE_H
#define CE_COORDINATOR_LOCAL_NODE_H

#include <stdbool.h>
#include <stdint.h>

#include "common/err.h"
#include "wire/loop.h"

#define LOCAL_NODE_NAME "local"
enum { LOCAL_NODE_RESTARTS = 3, LOCAL_NODE_GRACE_MS = 5000 };

typedef struct local_node local_node;

/* Called on the loop when the process has exited. given_up: it will not be started again. */
typedef void local_node_exit_fn(void *arg, const char *how, bool given_up);

typedef struct local_node_options {
    const char *binary;   /* NULL: ce-node beside this program */
    const char *endpoint; /* of the coordinator */
    const char *device;
    const char *python; /* NULL: it searches */
    const char *fake;   /* NULL: defaults of the fake device */
    int64_t slots;      /* 0: its default */
    local_node_exit_fn *exited;
    void *arg;
} local_node_options;

local_node *local_node_start(const local_node_options *options, loop *events, err *e);
/* local_node_stop waits up to grace_ms for the process to leave, then kills it. NULL-safe. */
void local_node_stop(local_node **self, int64_t grace_ms);

#endif
