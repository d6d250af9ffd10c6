/* claims - results of other programs, read from their files
 *
 * Purpose:   collects rows of store/claim.h from results.csv of cuda-engine or of ce, KernelBench's
 *            eval_results.json and hotkernel's result files; the content decides which it is.
 * Ownership: claims_create gives an owned object; its rows and their texts are borrowed from it.
 * Threads:   one owner.
 * Errors:    ERR_CONFIG with file and place: a format that is not known, a value that cannot be.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_REPORTS_CLAIMS_H
#define CE_REPORTS_CLAIMS_H

#include "common/json.h"
#include "store/claim.h"

typedef struct claims {
    claim_row *rows; /* imported_ms is 0 */
    size_t count, room;
    struct intern *texts;
} claims;

claims *claims_create(void);
void claims_destroy(claims **self);

/* claims_load reads a file, or what it finds in a folder: results.csv, eval_results.json, or the result files
 * (*.json) in it and in its folders. `entrant` names whose results they are where the format does not say; NULL:
 * the folder's name. */
int claims_load(claims *self, const char *path, const char *entrant, err *e);
/* claims_read reads text that was the file `path`. */
int claims_read(claims *self, const char *path, const char *entrant, const char *text, size_t size,
                err *e);

/* ---- for reports/import_*.c ---- */

/* A file that is read. */
typedef struct claims_source {
    claims *into;
    const char *path, *entrant; /* entrant is never NULL */
    hash content;
} claims_source;

/* claims_add copies the row's texts; file, content and format come from the source. A sample below 0 is the next
 * one of that entrant and problem in this file. */
void claims_add(const claims_source *from, const char *format, const claim_row *row);

#endif
