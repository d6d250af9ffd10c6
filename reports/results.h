/* results - the board as JSON and CSV, for programs
 *
 * Purpose:   results.json: an object with `run` (several runs: `runs`), `entrants`, `tasks`;
 *            results.csv: one line a task (RFC 4180); the board's CSV: one line an entrant, as ranked.
 *            Missing numbers are null (empty) with a reason.
 * Ownership: appends to a caller's buf.
 * Threads:   pure: the same database gives the same bytes.
 * Errors:    the buf's own overflow.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_REPORTS_RESULTS_H
#define CE_REPORTS_RESULTS_H

#include <stdbool.h>

#include "common/buf.h"
#include "reports/figures.h"

/* `stable` omits ids, seeds, dates, durations and the command. results_json reads the long texts of tasks from
 * the store as it writes, and fails as that says. */
int results_json(const figures *f, bool stable, buf *out, err *e);
void results_csv(const figures *f, bool stable, buf *out);
void results_entrants_csv(const figures *f, bool stable, buf *out);

#endif
