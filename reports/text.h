/* text - numbers and names as reports print them
 *
 * Purpose:   one place that decides digits, units, and what a missing number looks like ("–").
 * Ownership: appends to a caller's buf.
 * Threads:   pure; no locale (programs run in "C").
 * Errors:    the buf's own overflow.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_REPORTS_TEXT_H
#define CE_REPORTS_TEXT_H

#include <stddef.h>
#include <stdint.h>

#include "common/buf.h"
#include "reports/board.h"

enum { TEXT_REPORT_MAX = 1024 * 1024 * 1024 }; /* bytes of one report */

/* text_cell: foreign text in a Markdown table: what has a meaning there is escaped, one line. */
void text_cell(buf *out, const char *text);
void text_factor(buf *out, double value);      /* 1.52× */
void text_ms(buf *out, double value);          /* 0.01234 */
void text_share(buf *out, size_t k, size_t n); /* 37.5 % */
/* text_usd_beside says what may have been billed beside a known cost; nothing when there is none. */
void text_usd_beside(buf *out, double unknown_usd, int64_t unknown_calls);
void text_usd(buf *out, double usd, int64_t unknown); /* $0.1234 + 2 unknown */
void text_count(buf *out, int64_t value);             /* 12,345 */
/* text_bar: "[####......] ", so many columns between the brackets; full when nothing is planned. */
void text_bar(buf *out, size_t columns, size_t done, size_t planned);
void text_minutes(buf *out, double ms);    /* 1.5 min */
void text_date(buf *out, int64_t wall_ms); /* 2026-11-30T16:28:42Z, – for 0 */

/* text_outcome: "ok", "wrong(unwritten)", "not scored" for a task that is not done. */
void text_outcome(buf *out, const board_row *task);
void text_result(buf *out, task_state state, outcome result, const char *detail);

/* text_distinct: the different values of a text field of board_facts over the board's tasks, in order of
 * appearance, joined by ", "; "–" without any. */
void text_distinct(buf *out, const board *b, size_t offset);
/* text_distinct_plain: the same, not escaped for Markdown. */
void text_distinct_plain(buf *out, const board *b, size_t offset);

/* text_sanitizer_counts: "1 with a finding, 26 not run": a state that was not met is not named, so that nobody
 * reads "clean" where no tool said so. */
void text_sanitizer_counts(buf *out, const size_t said[BOARD_SANITIZERS]);
/* text_sanitizer: "1 with a finding, 26 not run (not faster than the baseline; …)" over the board's tasks
 * that came to it, with the first reasons; "–" where none did. Not escaped. */
void text_sanitizer(buf *out, const board *b);

#endif
