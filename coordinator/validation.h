/* validation - what a validation run has shown
 *
 * Purpose:   from the stored run alone: per problem what the checks of its reference said, whether gold
 *            passes, which wrong kernels are refused and how; the kill matrix. Written beside the suite's
 *            hash as validation.md and validation.json.
 * Ownership: validation_read gives an owned object.
 * Threads:   one owner.
 * Errors:    what the store and the file system say.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_COORDINATOR_VALIDATION_H
#define CE_COORDINATOR_VALIDATION_H

#include "common/buf.h"
#include "common/json.h"
#include "store/store.h"

enum {
    VALIDATION_MUTANTS_MIN = 5, /* a problem with fewer is not admitted */
    VALIDATION_TEXT_MAX = 8 * 1024 * 1024
};

typedef struct validation validation;

validation *validation_read(store *s, const char *run, err *e);
void validation_destroy(validation **self);

/* validation_ended: every planned task has a result, or cannot have one because its problem failed. */
bool validation_ended(const validation *self);
/* validation_passed: everything that was planned has ended as it must. */
bool validation_passed(const validation *self);
/* validation_summary is one line a problem, for the terminal; validation_markdown the whole report. */
void validation_summary(const validation *self, buf *out);
void validation_markdown(const validation *self, buf *out);
json *validation_json(const validation *self); /* caller owns */

#endif
