/* guard - who may speak to the coordinator, looked at again all the time
 *
 * Purpose:   keys that were revoked lose their nodes at once; refused handshakes are told in the log with
 *            what to do; a node may only carry its key's name.
 * Ownership: acts on a coord; guard_create makes nothing where nobody joins from outside this host.
 * Threads:   the loop's; the keyring is asked by zap's thread too.
 * Errors:    guard_admit: ERR_DENIED that says which name the key stands for.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_COORDINATOR_GUARD_H
#define CE_COORDINATOR_GUARD_H

#include "coordinator/keyring.h"
#include "coordinator/nodes.h"
#include "wire/sock.h"

struct coord;

enum { GUARD_TELL_MS = 5000 /* one line for all that was refused meanwhile */ };

typedef struct guard guard;

/* guard_create opens the folder of keys and answers for `ctx` from now on. */
guard *guard_create(sock_ctx *ctx, const char *folder, err *e);
void guard_destroy(guard **self);
/* guard_key is the coordinator's own, for its socket. */
const curve_file *guard_key(const guard *self);

/* guard_admit: may this peer be a node of that name? A plain peer is of this host and may. */
int guard_admit(const struct coord *c, const peer_id *from, const char *name, err *e);
/* guard_operates: may this peer submit, cancel and drain? */
bool guard_operates(const struct coord *c, const peer_id *from);
/* guard_refused is how many handshakes were refused so far. */
int64_t guard_refused(const struct coord *c);
/* guard_tick: a few times a second. */
void guard_tick(struct coord *c, int64_t now_ms);

#endif
