/* frame - the head of every message: magic, version, number, sequence
 *
 * Purpose:   13 bytes that never change their layout, so that two versions can tell each other apart:
 *            'c' 'e', version u8, number u16, sequence u64 (big endian). A msgpack map follows.
 * Ownership: plain values.
 * Threads:   safe.
 * Errors:    ERR_PROTOCOL: too short or no magic. The version is for the caller to compare.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_WIRE_FRAME_H
#define CE_WIRE_FRAME_H

#include <stddef.h>
#include <stdint.h>

#include "common/buf.h"
#include "common/err.h"

enum { FRAME_HEAD = 13 };

typedef struct frame {
    uint8_t version;
    uint16_t number; /* message_type */
    uint64_t seq;
} frame;

/* frame_write appends the head to out (a full out is marked `overflow`). */
void frame_write(const frame *self, buf *out);
/* frame_read reads the head at data; the body is data + FRAME_HEAD. */
int frame_read(const void *data, size_t size, frame *out, err *e);

#endif
