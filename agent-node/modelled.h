/* modelled - what the emulator counted in a check: kept, and in words
 *
 * Purpose:   the counters of launches travel as JSON (emulator/tally.h). This puts them into reports,
 *            keeps those of the check that did most, and prints them for people. They are modelled, not
 *            measured; every form of them says so.
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

/* modelled_text appends some lines a kernel for people. */
void modelled_text(const json *counters, buf *out);

#endif
