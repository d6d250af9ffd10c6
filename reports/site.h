/* site - a run as pages that are plain files
 *
 * Purpose:   board → run → problem → candidate, with prompts, answers, kernels, compiler logs and raw samples.
 *            No script, nothing fetched: it works from a folder, a disk, or any web server. What models wrote is
 *            escaped; what is longer than SITE_TEXT_MAX is cut, and stands whole in a text file beside.
 * Ownership: borrows.
 * Threads:   not from the store's own thread.
 * Errors:    as the database and the file system say.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_REPORTS_SITE_H
#define CE_REPORTS_SITE_H

#include "reports/keyscan.h"
#include "reports/site_text.h"
#include "store/store.h"

/* site_write: a run of a database; keys are taken out on the way, as for an evidence pack. */
int site_write(store *db, const char *run, keyscan_list known, const char *folder, err *e);
/* site_write_pack: the run of an evidence pack. */
int site_write_pack(const char *pack, const char *folder, err *e);

#endif
