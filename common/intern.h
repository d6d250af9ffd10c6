/* intern - texts that many rows share, kept once
 *
 * Purpose:   a million rows name the same few devices, modes and reasons: equal texts get the same pointer.
 *            Past INTERN_TEXTS_MAX different ones the newer are kept each for itself, so that what is looked
 *            up stays small.
 * Ownership: intern_create gives an owned object; what it gives out lives as long.
 * Threads:   one owner.
 * Errors:    none.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_COMMON_INTERN_H
#define CE_COMMON_INTERN_H

#include <stddef.h>

enum { INTERN_TEXTS_MAX = 32768 };

typedef struct intern intern;

intern *intern_create(void);
void intern_destroy(intern **self);
/* intern_text: NULL for NULL. */
const char *intern_text(intern *self, const char *text);
/* intern_keep copies what nobody shares (ids, hashes) without looking; aligned for no type but bytes. */
const void *intern_keep(intern *self, const void *data, size_t size);

#endif
