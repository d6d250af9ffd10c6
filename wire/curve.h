/* curve - key pairs of the encrypted transport, and the files that hold them
 *
 * Purpose:   CURVE (libzmq) knows each side by a key pair. A node's key file holds its name, its pair and
 *            the public key of its coordinator; the coordinator's own file holds its name and pair.
 * Ownership: plain values; curve_wipe clears what is secret.
 * Threads:   any.
 * Errors:    ERR_DENIED for a key file that others may read, and says how to mend it; ERR_CONFIG with
 *            file, line and pointer for one that does not read; ERR_CONFLICT when it exists already.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_WIRE_CURVE_H
#define CE_WIRE_CURVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/err.h"

enum {
    CURVE_KEY = 32,
    CURVE_TEXT = 65,  /* 64 hex digits */
    CURVE_BRIEF = 13, /* the first 12, for people */
    CURVE_NAME = 49   /* of a key: letters, digits, - and _ */
};

typedef struct curve_key {
    uint8_t bytes[CURVE_KEY];
} curve_key;

typedef struct curve_pair {
    curve_key open, secret;
} curve_pair;

/* curve_new makes a fresh pair. */
int curve_new(curve_pair *out, err *e);
void curve_wipe(curve_pair *self);
bool curve_equal(const curve_key *a, const curve_key *b);
void curve_text(const curve_key *self, char out[CURVE_TEXT]);
/* curve_brief: enough of a key to know it by. */
void curve_brief(const curve_key *self, char out[CURVE_BRIEF]);
bool curve_parse(const char *text, curve_key *out);
/* curve_is_name: 1 to 48 letters, digits, - or _. */
bool curve_is_name(const char *text);

typedef struct curve_file {
    char name[CURVE_NAME];
    curve_pair pair;
    curve_key coordinator; /* whom to trust; the coordinator's own file says its own key */
} curve_file;

/* curve_save writes a new file of mode 0600, synced. */
int curve_save(const char *path, const curve_file *file, err *e);
int curve_load(const char *path, curve_file *out, err *e);

#endif
