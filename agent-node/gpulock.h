/* gpulock - one ce-node a GPU
 *
 * Purpose:   a lock on a file that is named by the GPU's UUID, held as long as a node owns the GPU: two
 *            nodes on one card would time each other. Nodes in containers with a /tmp of their own do not
 *            see each other's locks.
 * Ownership: gpulock_take gives a descriptor; closing it gives the GPU back, as the end of the process does.
 * Threads:   safe.
 * Errors:    ERR_CONFLICT names the holder; ERR_SYSTEM.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_AGENT_NODE_GPULOCK_H
#define CE_AGENT_NODE_GPULOCK_H

#include <stdint.h>

#include "common/err.h"

#define GPULOCK_FOLDER "/tmp"
enum { GPULOCK_PATIENCE_MS = 5000 }; /* a node that was just told to end may still hold it */

/* gpulock_take: the descriptor, or -1. */
int gpulock_take(const char *folder, const char *uuid, int64_t patience_ms, err *e);

#endif
