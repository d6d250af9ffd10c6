/* leaderboard - the board in Markdown
 *
 * Purpose:   one row an entrant, then every task with its outcome, speed or the reason why there is
 *            none; above both, what the numbers are worth.
 * Ownership: appends to a caller's buf.
 * Threads:   pure: the same database gives the same bytes.
 * Errors:    the buf's own overflow.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_REPORTS_LEADERBOARD_H
#define CE_REPORTS_LEADERBOARD_H

#include <stdbool.h>

#include "common/buf.h"
#include "reports/figures.h"

/* leaderboard_write: `stable` omits run ids, seeds, dates, durations and the command, so that equal outcomes
 * give equal bytes. */
void leaderboard_write(const figures *f, bool stable, buf *out);
/* leaderboard_part_write appends one section, beginning with its heading where it has one; sections that have
 * nothing to say are empty. */
typedef enum leaderboard_part {
    LEADERBOARD_FACTS,
    LEADERBOARD_ENTRANTS,
    LEADERBOARD_SPEED,
    LEADERBOARD_COST,
    LEADERBOARD_FAST
} leaderboard_part;
void leaderboard_part_write(const figures *f, leaderboard_part part, buf *out);
/* leaderboard_claims appends the sentences that say what the numbers are worth, one a line, each after
 * `prefix`. */
void leaderboard_claims(const board *b, const char *prefix, buf *out);

#endif
