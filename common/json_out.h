/* json_out - writes a JSON object member by member, without a tree
 *
 * Purpose:   the same bytes that json_dump gives of a tree, for lines of which there are a million. Keys come
 *            in the order in which the caller gives them: sorted, where the line shall be canonical.
 * Ownership: appends to a caller's buf.
 * Threads:   one owner.
 * Errors:    the buf's own overflow.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_COMMON_JSON_OUT_H
#define CE_COMMON_JSON_OUT_H

#include <stdbool.h>
#include <stdint.h>

#include "common/buf.h"

typedef struct json_out {
    buf *out;
    bool any; /* a member is written */
} json_out;

json_out json_out_open(buf *out);
void json_out_close(json_out *self);
/* A key is written as it is: no foreign text. */
void json_out_str(json_out *self, const char *key, const char *text); /* NULL becomes null */
void json_out_int(json_out *self, const char *key, int64_t value);
void json_out_real(json_out *self, const char *key, double value); /* NaN and ±Inf become null */
void json_out_bool(json_out *self, const char *key, bool value);
/* json_out_raw: `text` is JSON already. */
void json_out_raw(json_out *self, const char *key, const char *text);

#endif
