/* modelled - what the emulator counted in a check: kept, and in words
 *
 * Purpose:   the counters of launches travel as JSON (emulator/tally.h). This puts them into reports,
 *            keeps those of the check that did most, sums up what a candidate costs over a set of shapes,
 *            and prints them for people. They are modelled, not measured; every form of them says so.
 * Ownership: texts are owned by whoever holds them.
 * Threads:   no shared state.
 * Errors:    none: where nothing was counted there is nothing.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_AGENT_NODE_MODELLED_H
#define CE_AGENT_NODE_MODELLED_H

#include "common/buf.h"
#include "common/json.h"
#include "suites/contract.h"

/* modelled_set puts the counters of a check under "modelled" into its report, if there are any. */
void modelled_set(json *report, const char *counters);

/* modelled_keep replaces *kept (owned text, or NULL) by the counters of the check at this shape, if they are
 * of more instructions: {"shape", "modelled", "launches", "left_out"}. */
void modelled_keep(char **kept, const char *counters, const contract *terms,
                   const contract_shape *shape);

/* What a candidate costs over a set of shapes. Caches are not modelled: a byte that is read twice counts
 * twice. */
typedef struct modelled_cost {
    int64_t shapes;              /* 0: nothing was counted */
    int64_t bytes;               /* of the sectors that requests to global memory touch */
    int64_t bytes_min;           /* of every tensor once */
    int64_t thread_instructions; /* of all classes */
    bool partial;                /* some launches were left out: no cost to compare */
} modelled_cost;

/* modelled_add adds the counters of a check at this shape. */
void modelled_add(modelled_cost *sum, const char *counters, const contract *terms,
                  const contract_shape *shape);
/* modelled_set_cost puts a cost under "cost" into kept counters, if there are any; modelled_get_cost reads
 * it, false when there is none that can be compared. */
void modelled_set_cost(char **kept, const modelled_cost *cost);
bool modelled_get_cost(const char *kept, modelled_cost *out);
/* modelled_is_less orders costs of the same shapes: by bytes, then by instructions of threads. */
bool modelled_is_less(const modelled_cost *a, const modelled_cost *b);
/* modelled_near: so few bytes that there is little to win (1.15 times the least, as roofline_near). */
bool modelled_near(const modelled_cost *cost);

/* modelled_text appends some lines a kernel for people. */
void modelled_text(const json *counters, buf *out);

#endif
