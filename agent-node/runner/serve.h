/* serve - the runner's side of the protocol
 *
 * Purpose:   says hello, answers runner_load, runner_check and runner_time, tells runner_launching before
 *            the candidate's code meets the driver.
 * Ownership: borrows descriptor and device.
 * Threads:   one.
 * Errors:    a failure is told as runner_failed and ends the service.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_AGENT_NODE_RUNNER_SERVE_H
#define CE_AGENT_NODE_RUNNER_SERVE_H

#include "agent-node/runner/gpu.h"
#include "common/err.h"

/* serve_run returns 0 when the peer closed or a verdict other than ok was told (the device may be
 * broken then: leave by _exit), -1 after a failure was told. */
int serve_run(int fd, gpu *device, err *e);
/* serve_failed tells the peer that there is no runner. */
void serve_failed(int fd, const err *e);

#endif
