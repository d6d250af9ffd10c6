/* hint - what a provider says about its limits
 *
 * Purpose:   reads Retry-After in all its forms and the rate-limit headers of every provider into one
 *            struct.
 * Ownership: plain values; the time of day is a parameter.
 * Threads:   safe.
 * Errors:    none: what cannot be read is not there.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_PROVIDERS_HINT_H
#define CE_PROVIDERS_HINT_H

#include <stdbool.h>
#include <stdint.h>

#include "providers/http.h"

/* -1: not told. */
typedef struct hint {
    int64_t retry_ms; /* come again after */
    int64_t requests_left, requests_reset_ms;
    int64_t tokens_left, tokens_reset_ms;
} hint;

hint hint_of_reply(const http_reply *reply, int64_t wall_ms);

/* hint_duration reads "120ms", "7.66s", "1m26.4s", "6m0s" and plain seconds ("12", "1.5") as ms. */
bool hint_duration(const char *text, int64_t *ms);
/* hint_date reads "Mon, 30 Nov 2026 12:40:59 GMT" and "2026-11-30T12:40:59Z" (with fraction or offset)
 * as Unix ms. */
bool hint_date(const char *text, int64_t *wall_ms);

#endif
