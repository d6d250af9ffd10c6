/* limits - what a runner process may not do
 *
 * Purpose:   no core files, no inherited descriptors, no life after its parent.
 * Ownership: none.
 * Threads:   called once, before the driver is opened.
 * Errors:    ERR_SYSTEM.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_AGENT_NODE_RUNNER_LIMITS_H
#define CE_AGENT_NODE_RUNNER_LIMITS_H

#include "common/err.h"

/* limits_apply keeps descriptors 0, 1, 2 and `fd`, closes the rest, and asks for SIGKILL when the
 * parent dies. Address space is not limited: the driver reserves terabytes of it. */
int limits_apply(int fd, err *e);

#endif
