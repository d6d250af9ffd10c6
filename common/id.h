/* id - identifiers that sort by time
 *
 * Purpose:   26 characters of Crockford base 32: 48 bits of milliseconds, 80 random bits (the ULID
 *            layout), lower case. Time and randomness are parameters.
 * Ownership: caller's array.
 * Threads:   safe.
 * Errors:    id_random aborts if the kernel has no randomness.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_COMMON_ID_H
#define CE_COMMON_ID_H

#include <stddef.h>
#include <stdint.h>

enum { ID_TEXT = 27 };

void id_make(int64_t wall_ms, const uint8_t random[10], char out[ID_TEXT]);
/* id_new is id_make of now and fresh randomness. */
void id_new(char out[ID_TEXT]);
/* id_random fills memory from getrandom(2): secret seeds, fencing nonces. */
void id_random(void *out, size_t size);

#endif
