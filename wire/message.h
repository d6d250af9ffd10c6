/* message - what processes say to each other, as C structs (from messages.def)
 *
 * Purpose:   one struct a message, one codec for all of them. Encoding and decoding check every bound;
 *            decoding is strict: an unknown number or key, a missing or doubled key, a wrong type is
 *            refused.
 * Ownership: a message owns its strings, bytes and rows (free()-able memory); message_fini frees
 *            them. message_init leaves every field zero; a NULL string counts as "". Decoding fills
 *            every string, so a received string is never NULL.
 * Threads:   plain values, one owner.
 * Errors:    ERR_PROTOCOL that names message, field and bound. A failed decode leaves `out` alone.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_WIRE_MESSAGE_H
#define CE_WIRE_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "common/buf.h"
#include "common/err.h"
#include "common/hash.h"

enum {
    MESSAGE_PROTOCOL = 4,               /* part of every frame; peers must have the same */
    MESSAGE_SIZE_MAX = 80 * 1024 * 1024 /* of one encoded message */
};

typedef struct message_bytes {
    uint8_t *data;
    size_t size;
} message_bytes;

/* struct row_<name> and struct msg_<name>; a list is a pointer `x` with its `x_count`. */
/* clang-format off */
#define ROW(name, doc)                     struct row_##name {
#define ROW_END(name)                      };
#define MSG(name, NAME, number, from, doc) struct msg_##name {
#define MSG_END(name)                      };
#define I64(name, min, max, doc)           int64_t name;
#define F64(name, doc)                     double name;
#define BOOL(name, doc)                    bool name;
#define STR(name, max, doc)                char *name;
#define BYTES(name, max, doc)              message_bytes name;
#define HASH(name, doc)                    hash name;
#define LIST(name, row, max, doc)          struct row_##row *name; size_t name##_count;
/* clang-format on */
#include "wire/messages.def"

/* MSG_HELLO = 1, … */
typedef enum message_type {
#define MSG(name, NAME, number, from, doc) MSG_##NAME = (number),
#include "wire/messages.def"
} message_type;

typedef struct message {
    message_type type;
    uint64_t seq; /* chosen by the sender; an answer names it in `ref` */
    union {
#define MSG(name, NAME, number, from, doc) struct msg_##name name;
#include "wire/messages.def"
    } body;
} message;

void message_init(message *self, message_type type);
/* message_fini frees what the message owns and zeroes it; a zeroed message is fine. */
void message_fini(message *self);

/* message_set_str replaces *target by a copy of text (NULL: ""). Bytes that are no UTF-8 become '?'. */
void message_set_str(char **target, const char *text);
/* message_cut_str is message_set_str of at most max bytes, cut at a UTF-8 boundary. */
void message_cut_str(char **target, const char *text, size_t max);
/* message_set_bytes replaces *target by a copy. */
void message_set_bytes(message_bytes *target, const void *data, size_t size);

/* message_encode appends the frame (wire/frame.h) to out; on failure out may hold a part of it. */
int message_encode(const message *self, buf *out, err *e);
/* message_decode reads exactly one frame; out need not be initialised. */
int message_decode(const void *data, size_t size, message *out, err *e);

/* message_name is "hello", …; "?" for a number that is no message. */
const char *message_name(message_type type);
/* message_from says who may send it: "node", "coordinator", "both", "compiler", "runner". */
const char *message_from(message_type type);

/* message_doc writes docs/protocol.md. */
void message_doc(FILE *out);

#endif
