/* follow - a run that a serving coordinator works on, from here
 *
 * Purpose:   asks when money is at stake, submits, shows how it goes, brings the reports.
 * Ownership: borrows the request.
 * Threads:   one.
 * Errors:    -1 with the error. A coordinator that does not answer is waited for: the run is written down
 *            there, and who stops following loses nothing.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_COORDINATOR_FOLLOW_H
#define CE_COORDINATOR_FOLLOW_H

#include "coordinator/eval.h"

typedef struct follow_request {
    const char *coordinator;  /* URI */
    const char *key;          /* an operator's key file; NULL: plain */
    const eval_request *eval; /* what is wanted */
} follow_request;

/* follow_run gives the exit code of the run, or -1. */
int follow_run(const follow_request *request, err *e);

#endif
