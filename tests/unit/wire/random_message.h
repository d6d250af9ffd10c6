/* random_message - messages with random fields, for tests of the codec
 *
 * Purpose:   fill any message from its schema and compare two messages field by field.
 * Ownership: the filled message is the caller's (message_fini).
 * Threads:   one owner of the generator's state.
 * Errors:    none.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_TESTS_RANDOM_MESSAGE_H
#define CE_TESTS_RANDOM_MESSAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "wire/message.h"
#include "wire/schema.h"

/* random_next steps a small generator (xorshift64*); *state must not be 0. */
uint64_t random_next(uint64_t *state);
/* random_message fills *out; texts, bytes and lists have at most `size` elements (and their bounds). */
void random_message(const schema *s, uint64_t *state, size_t size, message *out);
/* same_message compares type, sequence and every field (doubles by bits). */
bool same_message(const message *a, const message *b);

#endif
