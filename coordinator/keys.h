/* keys - the secrets of this environment, so that they can be kept out of what is published
 *
 * Purpose:   values of variables whose name says that they are keys, and the files of the credentials
 *            folders. They are compared with, never printed.
 * Ownership: keys_create gives an owned object that is wiped when it is destroyed.
 * Threads:   immutable after creation.
 * Errors:    none: a file that cannot be read holds no key that we could give away.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_COORDINATOR_KEYS_H
#define CE_COORDINATOR_KEYS_H

typedef struct keys keys;

/* keys_create: `environment` is NULL-ended; NULL: none. */
keys *keys_create(const char *const *environment);
void keys_destroy(keys **self);
const char *const *keys_values(const keys *self); /* NULL-ended */

#endif
