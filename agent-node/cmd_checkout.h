/* cmd_checkout - ce-node checkout: what a KernelBench checkout holds, one JSON object a line
 *
 * Purpose:   finds an interpreter with PyTorch and becomes agent-node/judge/checkout.py, which describes
 *            every problem without computing anything and, with --admit, tries the null candidates on a
 *            device.
 * Ownership: the process is replaced; nothing returns but a failure to begin.
 * Threads:   one.
 * Errors:    printed once on stderr; exit 1 harness, 2 usage.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_AGENT_NODE_CMD_CHECKOUT_H
#define CE_AGENT_NODE_CMD_CHECKOUT_H

#include <stddef.h>

#include "common/err.h"

/* cmd_checkout runs `ce-node checkout …`; argv[0] is "checkout". */
int cmd_checkout(int argc, char **argv);

/* cmd_checkout_request is what the script is asked, as JSON; caller frees. NULL: ERR_USAGE. */
char *cmd_checkout_request(int argc, char **argv, err *e);

#endif
