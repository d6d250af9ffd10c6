/* lineage - which attempt came from which, and what each gained
 *
 * Purpose:   the performance stage adds a step a candidate that it timed, or that failed on the way; the
 *            list is told as JSON: [{"attempt", "outcome", "purpose", "verdict", "candidate_ms",
 *            "speedup", "gain", "kept", "bound"}], oldest first. gain is the speed over that of the
 *            candidate kept before; null: nothing to compare with.
 * Ownership: a value; lineage_fini frees.
 * Threads:   one owner.
 * Errors:    none.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_AGENT_NODE_STAGES_LINEAGE_H
#define CE_AGENT_NODE_STAGES_LINEAGE_H

#include <stddef.h>
#include <stdint.h>

#include "common/outcome.h"
#include "wire/record.h"

typedef struct lineage_step {
    int64_t attempt; /* -1: not known, an earlier lease made it */
    outcome result;
    int64_t row; /* of its comparison in the stage record; -1: not timed */
} lineage_step;

typedef struct lineage {
    lineage_step *steps;
    size_t count;
} lineage;

void lineage_add(lineage *self, const lineage_step *step);
void lineage_fini(lineage *self);
/* lineage_json is the list, with what the record's comparisons say by now; NULL for an empty one. */
char *lineage_json(const lineage *self, const stage_record *record);

#endif
