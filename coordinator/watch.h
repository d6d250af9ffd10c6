/* watch - a run on a terminal, or line by line, until it is over or nobody looks any more
 *
 * Purpose:   reads the moment (reports/moment.h) again and again. On a terminal it is drawn in place, in the size
 *            that the terminal has now; elsewhere each change is one plain line. Only the database is read: no
 *            coordinator hears of it, and one that dies and comes back is waited for.
 * Ownership: borrows the request.
 * Threads:   one owner, and one that reads; blocks SIGINT, SIGTERM, SIGHUP, SIGTSTP and SIGWINCH in it, before it returns they are as they were.
 * Errors:    as the store and the terminal say. The terminal is left as it was found, however it ends.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_COORDINATOR_WATCH_H
#define CE_COORDINATOR_WATCH_H

#include <stdint.h>

#include "common/term.h"
#include "store/store.h"

typedef struct watch_request {
    store *db;
    const char *
        run; /* an id or a unique prefix: it ends with the run. NULL: the one at work, without end */
    int64_t every_ms;
    term_env env;
    int in, out;
} watch_request;

/* watch_run gives the exit code: complete when the run is over or q was pressed, interrupted for a signal. */
int watch_run(const watch_request *request, err *e);

#endif
