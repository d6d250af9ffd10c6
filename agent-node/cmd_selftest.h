/* cmd_selftest - ce-node selftest: every card of this host against kernels whose speed is known
 *
 * Purpose:   runs the self-tests (selftest.h) on each device and prints what they said: JSON on stdout, one
 *            line a check on stderr.
 * Ownership: everything ends with the call.
 * Threads:   one.
 * Errors:    printed once on stderr; the exit code says what kind (0 all well, 1 harness, 2 usage, 3 a check
 *            said no, 5 there is no device).
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_AGENT_NODE_CMD_SELFTEST_H
#define CE_AGENT_NODE_CMD_SELFTEST_H

/* cmd_selftest runs `ce-node selftest …`; argv[0] is "selftest". */
int cmd_selftest(int argc, char **argv);

#endif
