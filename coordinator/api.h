/* api - what nodes may say, and what the coordinator does about it
 *
 * Purpose:   one table {message, handler, who may send it}. Everything that tells a fact is
 *            acknowledged only after the store has committed it.
 * Ownership: handlers act on the coord that is the loop's arg.
 * Threads:   the loop's.
 * Errors:    none: a peer's fault is answered to that peer (an ack with a code, or refused).
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_COORDINATOR_API_H
#define CE_COORDINATOR_API_H

#include "wire/loop.h"

/* api_routes is the loop's view of the table; the loop's arg must be the coord. */
const loop_routes *api_routes(void);

#endif
