/* keyring - the coordinator's own key, and whose keys may come in
 *
 * Purpose:   a folder: coordinator.key (its pair, mode 0600) and allowed/NAME.json, one public key each.
 *            Taking a file away revokes the key: an open keyring looks at the folder a few times a second,
 *            and `generation` changes when something did.
 * Ownership: keyring_open gives an owned object.
 * Threads:   keyring_allows and keyring_name from any thread; the rest from one.
 * Errors:    ERR_CONFLICT: the name is taken; ERR_NOT_FOUND: there is no such key; what files say. A file
 *            in the list that does not read allows nobody, and is told by keyring_check.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_COORDINATOR_KEYRING_H
#define CE_COORDINATOR_KEYRING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/err.h"
#include "wire/curve.h"

enum { KEYRING_MAX = 4096 };

/* What a key may do. An operator may submit, cancel and drain; a node may not. */
typedef enum keyring_role { KEYRING_NODE, KEYRING_OPERATOR } keyring_role;

typedef struct keyring_row {
    char name[CURVE_NAME];
    curve_key key;
    keyring_role role;
    int64_t created_ms; /* wall clock */
} keyring_row;

typedef struct keyring keyring;

/* keyring_open reads the folder; a coordinator without a key gets one. */
keyring *keyring_open(const char *folder, err *e);
void keyring_destroy(keyring **self);
/* keyring_own is the coordinator's key, for sock_options. */
const curve_file *keyring_own(const keyring *self);
/* keyring_find: false when that key is not allowed (any more); out may be NULL. */
bool keyring_find(keyring *self, const curve_key *key, keyring_row *out);
/* keyring_refresh looks whether the folder has changed. */
void keyring_refresh(keyring *self);
/* keyring_generation grows with every change of the list. */
int64_t keyring_generation(const keyring *self);

/* For `ce-coord keys`: each works on the folder. */
typedef struct keyring_new_key {
    const char *name;
    keyring_role role;
    const char *path; /* of the key file to write */
    int64_t now_ms;   /* wall clock */
} keyring_new_key;
int keyring_add(const char *folder, const keyring_new_key *wanted, err *e);
int keyring_revoke(const char *folder, const char *name, err *e);
/* keyring_list reads all rows, sorted by name; caller frees. An empty or absent folder has none. */
int keyring_list(const char *folder, keyring_row **out, size_t *count, err *e);
const char *keyring_role_name(keyring_role role);

#endif
