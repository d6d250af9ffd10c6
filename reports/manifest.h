/* manifest - the list of all files of an evidence pack
 *
 * Purpose:   manifest.json: format, what the pack is of, and for every other file its size and SHA-256.
 *            Its own hash stands for the whole pack.
 * Ownership: manifest_read gives an owned object.
 * Threads:   safe.
 * Errors:    ERR_CONFIG with the place for a manifest that is none; a file that differs is a finding, not an
 *            error.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_REPORTS_MANIFEST_H
#define CE_REPORTS_MANIFEST_H

#include "common/buf.h"
#include "common/hash.h"
#include "common/json.h"

#define MANIFEST_FILE      "manifest.json"
#define MANIFEST_SIGNATURE "manifest.json.sig"
#define MANIFEST_FORMAT    "ce-evidence-1"

typedef struct manifest manifest;

/* manifest_write lists what lies in a folder; `about` (borrowed) are further members. */
int manifest_write(const char *folder, const json *about, err *e);

manifest *manifest_read(const char *folder, err *e);
void manifest_destroy(manifest **self);
const json *manifest_about(const manifest *self); /* the whole document */
const hash *manifest_hash(const manifest *self);  /* of manifest.json */

/* manifest_check appends one line for each file that is changed, missing or too many; gives how many. */
int manifest_check(const manifest *self, const char *folder, size_t *findings, buf *out, err *e);

#endif
