/* calibrate - self-tests of nodes: asked for at join, stored, and what leases tell of them
 *
 * Purpose:   reads what is stored of a node's cards when it joins, asks for a self-test where the run wants
 *            one, takes the records, and keeps with each node the margins of its verdicts.
 * Ownership: works on the coordinator; jobs own what they carry.
 * Threads:   the loop thread.
 * Errors:    answered to the node, or they stop the coordinator.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_COORDINATOR_CALIBRATE_H
#define CE_COORDINATOR_CALIBRATE_H

#include "coordinator/coord.h"
#include "coordinator/handout.h"

/* calibrate_joined: a node is registered. */
void calibrate_joined(coord *c, size_t number, const struct msg_hello *hello);
/* calibrate_tick asks for the self-tests that are due: hourly and after a candidate crashed or hung where the
 * run wants them, and of cards that failed. */
void calibrate_tick(coord *c, int64_t now_ms);
/* calibrate_take stores a node's self-test and answers with MSG_CALIBRATED or an ack. */
void calibrate_take(coord *c, size_t number, const handout_ack *ack, const char *record);

/* calibrate_copy_fits: a time against the stored median (NaN: nothing is stored). */
bool calibrate_copy_fits(double ms, double stored_ms);

#endif
