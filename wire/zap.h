/* zap - who may complete a CURVE handshake (ZeroMQ's authentication protocol, in-process)
 *
 * Purpose:   a thread answers libzmq's question about each new key: allowed or not. A refused peer is
 *            told by its transport, and kept for the coordinator's log; a connection that was allowed
 *            carries its key with every message (sock.h).
 * Ownership: borrows context and guard until zap_stop, which comes before sock_ctx_destroy.
 * Threads:   the guard is called on zap's own thread; zap_next is for any one thread.
 * Errors:    zap_start: ERR_SYSTEM.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_WIRE_ZAP_H
#define CE_WIRE_ZAP_H

#include <stdbool.h>
#include <stdint.h>

#include "wire/curve.h"
#include "wire/sock.h"

enum { ZAP_ADDRESS = 64, ZAP_KEPT = 32 };

typedef struct zap zap;

/* Whether a key may come in; called a few times a second with NULL too, to look after itself. */
typedef bool zap_guard_fn(void *arg, const curve_key *key);

typedef struct zap_refusal {
    curve_key key;
    char address[ZAP_ADDRESS];
    int64_t times; /* this key from this address, since it was last told */
} zap_refusal;

zap *zap_start(sock_ctx *ctx, zap_guard_fn *guard, void *arg, err *e);
void zap_stop(zap **self);
/* zap_next takes one refusal that was not told yet; false when there is none. */
bool zap_next(zap *self, zap_refusal *out);
/* zap_refused is how many handshakes were refused so far. */
int64_t zap_refused(zap *self);

#endif
