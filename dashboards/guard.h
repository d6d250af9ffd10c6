/* guard - whether a request may be answered at all
 *
 * Purpose:   one decision over what every request carries: method, Host, Origin, token. Against pages of
 *            other sites in the same browser (DNS rebinding, cross-site requests) and, off loopback,
 *            against everybody without the token.
 * Ownership: borrows all texts.
 * Threads:   pure.
 * Errors:    guard_listen: ERR_USAGE with the sentence for the person who typed the address.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_DASHBOARDS_GUARD_H
#define CE_DASHBOARDS_GUARD_H

#include <stdbool.h>

#include "common/err.h"

enum { GUARD_HOST_MAX = 254, GUARD_TOKEN_MIN = 16, GUARD_TOKEN_MAX = 256 };

/* Where to listen. */
typedef struct guard_address {
    char host[GUARD_HOST_MAX]; /* a numeric address, without brackets */
    int port;                  /* 0: any free one */
    bool loopback, six;        /* six: IPv6 */
} guard_address;
/* guard_listen reads "PORT", "HOST:PORT", "[::1]:PORT", ":PORT" (all addresses); HOST is numeric or
 * "localhost". */
int guard_listen(const char *text, guard_address *out, err *e);
/* guard_token: a token must be long enough to be one, and printable. NULL is fine on loopback only. */
int guard_token(const guard_address *at, const char *token, err *e);

/* What a request says; NULL: nothing. */
typedef struct guard_request {
    const char *method, *host, *origin;
    const char *authorization; /* header, "Bearer TOKEN" */
    const char *cookie;        /* value of our cookie */
} guard_request;
/* guard_check: 0, or the HTTP status to refuse with; *why is then a sentence. token NULL: none is needed. */
int guard_check(const guard_address *at, const char *token, const guard_request *request,
                const char **why);
/* guard_same compares a token without telling by its time how much of it was right. */
bool guard_same(const char *token, const char *given);

#endif
