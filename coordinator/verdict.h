/* verdict - how a run ended, for its row, for the exit code and for people
 *
 * Purpose:   complete only when all that was planned is scored; everything else says why.
 * Ownership: plain values.
 * Threads:   one; verdict_explain not from the store's own thread.
 * Errors:    verdict_explain: what the store says.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_COORDINATOR_VERDICT_H
#define CE_COORDINATOR_VERDICT_H

#include <stdio.h>

#include "coordinator/sched.h"
#include "store/run.h"

enum { VERDICT_REASONS = 5 /* sentences at most */ };

/* verdict_of gives the run's state and the exit code (cmd.h). */
run_state verdict_of(const sched *tasks, int *exit_code);
/* verdict_explain writes one line for each distinct reason why tasks are not scored, with a count. */
int verdict_explain(store *s, const char *run, FILE *out, err *e);

#endif
