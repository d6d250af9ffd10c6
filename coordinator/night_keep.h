/* night_keep - what is kept of earlier nights
 *
 * Purpose:   of the newest `nights` everything stays; older ones lose run, texts and folder. Packs go earlier.
 *            Never removed: a night that is not over, the last good night, the good nights that the gate
 *            looks back on, the night that a person accepted last, and a night whose folder has a file
 *            `published`. Runs that no night began are nobody's here. If the database is still larger than it
 *            may be, more nights go, the oldest first.
 * Ownership: borrows the configuration; night_plan_fini frees.
 * Threads:   while nobody else has the database open.
 * Errors:    as the database and the file system say; what was removed stays removed, the next night goes on.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_COORDINATOR_NIGHT_KEEP_H
#define CE_COORDINATOR_NIGHT_KEEP_H

#include "coordinator/night_config.h"
#include "store/night.h"

#define NIGHT_PUBLISHED "published" /* file in a night's folder */
#define NIGHT_PACK      "evidence"  /* folder in it */

typedef struct night_fate {
    bool fixed;     /* run and folder stay, whatever room is needed */
    bool goes;      /* run and folder go */
    bool pack_goes; /* the pack goes */
} night_fate;

/* night_keep_plan: the fate of each night of the list (newest first), into fates[0 … count-1].
 * published[i] says whether its folder is marked. Pure. */
void night_keep_plan(const night_config *rules, const night_list *nights, const bool *published,
                     night_fate *fates);

typedef struct night_kept {
    int64_t nights, packs, texts; /* removed */
    int64_t bytes;                /* of the database, after */
    bool too_large;               /* larger than it may be, and nothing more may go */
} night_kept;
/* night_keep_apply plans and removes in the database `path`, and rewrites the file where that is worth it. */
int night_keep_apply(const night_config *rules, const char *path, night_kept *out, err *e);

#endif
