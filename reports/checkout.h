/* checkout - what is known of the code that a program was built from
 *
 * Purpose:   commit, changed and untracked files, and the difference to the commit, from git.
 * Ownership: checkout_fini frees.
 * Threads:   safe; runs git.
 * Errors:    ERR_UNAVAILABLE: git is not installed; ERR_CONFIG with git's words.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_REPORTS_CHECKOUT_H
#define CE_REPORTS_CHECKOUT_H

#include "common/buf.h"
#include "common/err.h"

typedef struct checkout {
    buf commit, status, diff; /* status and diff are empty when nothing was changed */
} checkout;

int checkout_read(const char *folder, const char *const *environment, checkout *out, err *e);
void checkout_fini(checkout *self);

#endif
