/* import - the formats of other programs, one file each
 *
 * Purpose:   import_X_is tells whether a table or document is of that format; import_X adds its rows to the
 *            claims of the source.
 * Ownership: borrows; claims_add copies.
 * Threads:   as the claims.
 * Errors:    ERR_CONFIG with file, line or JSON pointer, and what is wanted there. Keys that are not known
 *            are passed over: other programs grow.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_REPORTS_IMPORT_H
#define CE_REPORTS_IMPORT_H

#include "common/csv.h"
#include "reports/claims.h"

bool import_cuda_engine_is(const csv *table);
int import_cuda_engine(const claims_source *from, const csv *table, err *e);
bool import_ce_is(const csv *table);
int import_ce(const claims_source *from, const csv *table, err *e);
bool import_kernelbench_is(const json *root);
int import_kernelbench(const claims_source *from, const json_cursor *root, err *e);
bool import_hotkernel_is(const json *root);
int import_hotkernel(const claims_source *from, const json_cursor *root, err *e);

#endif
