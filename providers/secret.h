/* secret - API keys, by name
 *
 * Purpose:   the one place that reads keys: the environment variable of that name, else the file of that
 *            name in the credentials folder (CE_CREDENTIALS, else systemd's CREDENTIALS_DIRECTORY).
 * Ownership: an embedded value; secret_fini wipes it.
 * Threads:   reading is safe; one owner each.
 * Errors:    name the variable, never a part of its value.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_PROVIDERS_SECRET_H
#define CE_PROVIDERS_SECRET_H

#include <stdbool.h>

#include "common/err.h"

enum { SECRET_MAX = 1024 };

typedef struct secret {
    char value[SECRET_MAX]; /* "" = none */
} secret;

/* secret_read: 0 with an empty value when there is none. A value with blanks or control characters
 * (but for white space at its end) is refused: it would break a header. */
int secret_read(const char *name, secret *out, err *e);
void secret_fini(secret *self);
/* secret_hide replaces every occurrence of the value in text by "[key]…", in place. */
void secret_hide(const secret *self, char *text);

#endif
