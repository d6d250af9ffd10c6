/* selection - the problems a run is about
 *
 * Purpose:   loads the suites and picks by --only and --limit, in suite order.
 * Ownership: owns the suites; problems are borrowed from them.
 * Threads:   immutable after creation.
 * Errors:    what suite_load says; ERR_USAGE for a problem that no suite has (with the nearest) or that
 *            two suites have.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_COORDINATOR_SELECTION_H
#define CE_COORDINATOR_SELECTION_H

#include "coordinator/settings.h"
#include "suites/suite.h"

typedef struct selection {
    suite **suites;
    size_t suite_count;
    const problem **problems;
    const suite **suite_of; /* per problem */
    size_t count;
    char *name;    /* "internal", or "internal,other" */
    char *version; /* "0.1", or "0.1,1.0" */
    hash content;  /* of all suites, whole */
} selection;

selection *selection_create(const settings *wanted, err *e);
void selection_destroy(selection **self);

#endif
