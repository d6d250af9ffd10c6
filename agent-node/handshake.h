/* handshake - what becomes of a node's connections, and what a person must do about it
 *
 * Purpose:   reads what the transport tells of its handshakes: a key that is refused or missing ends the
 *            node with a sentence; handshakes that fail for no clear reason are told and tried again.
 * Ownership: a plain value that borrows its texts and its key.
 * Threads:   the socket's.
 * Errors:    ERR_DENIED: another try with the same key is in vain.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_AGENT_NODE_HANDSHAKE_H
#define CE_AGENT_NODE_HANDSHAKE_H

#include "wire/curve.h"
#include "wire/sock.h"

enum {
    HANDSHAKE_ODD_TOLD = 3 /* one failure may be a broken connection; so many in a row are not */
};

typedef struct handshake {
    const char *coordinator; /* endpoint */
    const curve_file *key;   /* NULL: plain */
    int odd;                 /* failures in a row */
} handshake;

/* handshake_read takes all news of a socket that is watched (sock_watch). */
int handshake_read(handshake *self, sock *s, err *e);
/* handshake_judge is one of them: -1 when it is the end. */
int handshake_judge(handshake *self, sock_news news, err *e);

#endif
