/* operate - what operators may say to a coordinator
 *
 * Purpose:   submit and follow runs, read their reports, see the fleet, cancel, drain. A coordinator of one
 *            run (eval) shows its fleet and drains, and has no other runs.
 * Ownership: acts on a coord.
 * Threads:   the loop's.
 * Errors:    answered to who asked, as an ack with a code.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_COORDINATOR_OPERATE_H
#define CE_COORDINATOR_OPERATE_H

#include "coordinator/coord.h"

/* operate_handle answers one of submit, run_get, file_get, fleet_get, cancel_run, drain. */
void operate_handle(coord *c, const peer_id *from, const message *m);

#endif
