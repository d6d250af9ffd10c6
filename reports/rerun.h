/* rerun - how to do a run again
 *
 * Purpose:   from the settings that are stored with a run: its entrants as a file for `--entrants`, and
 *            the command that asks the same of them, with the same seed.
 * Ownership: appends to a caller's buf.
 * Threads:   pure.
 * Errors:    none; a setting that cannot be read is left out.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_REPORTS_RERUN_H
#define CE_REPORTS_RERUN_H

#include "common/buf.h"
#include "store/run.h"

/* rerun_entrants appends the file: JSON, which is YAML. */
void rerun_entrants(const run_row *run, buf *out);
/* rerun_command appends one line for a shell, without a line end; `entrants` is the file's name. */
void rerun_command(const run_row *run, const char *entrants, buf *out);
/* rerun_quote appends a word as a shell reads it. */
void rerun_quote(buf *out, const char *word);

#endif
