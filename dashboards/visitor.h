/* visitor - whether a request may be answered at all
 *
 * Purpose:   one decision over what every request carries: method, Host, Origin, token. Against pages of
 *            other sites in the same browser (DNS rebinding, cross-site requests) and, off loopback,
 *            against everybody without the token.
 * Ownership: borrows all texts.
 * Threads:   pure.
 * Errors:    visitor_listen: ERR_USAGE with the sentence for the person who typed the address.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_DASHBOARDS_VISITOR_H
#define CE_DASHBOARDS_VISITOR_H

#include <stdbool.h>

#include "common/err.h"

enum { VISITOR_HOST_MAX = 254, VISITOR_TOKEN_MIN = 16, VISITOR_TOKEN_MAX = 256 };

/* Where to listen. */
typedef struct visitor_address {
    char host[VISITOR_HOST_MAX]; /* a numeric address, without brackets */
    int port;                    /* 0: any free one */
    bool loopback, six;          /* six: IPv6 */
} visitor_address;
/* visitor_listen reads "PORT", "HOST:PORT", "[::1]:PORT", ":PORT" (all addresses); HOST is numeric or
 * "localhost". */
int visitor_listen(const char *text, visitor_address *out, err *e);
/* visitor_token: a token must be long enough to be one, and printable. NULL is fine on loopback only. */
int visitor_token(const visitor_address *at, const char *token, err *e);

/* What a request says; NULL: nothing. */
typedef struct visitor_request {
    const char *method, *host, *origin;
    const char *authorization; /* header, "Bearer TOKEN" */
    const char *cookie;        /* value of our cookie */
} visitor_request;
/* visitor_check: 0, or the HTTP status to refuse with; *why is then a sentence. token NULL: none is needed. */
int visitor_check(const visitor_address *at, const char *token, const visitor_request *request,
                  const char **why);
/* visitor_same compares a token without telling by its time how much of it was right. */
bool visitor_same(const char *token, const char *given);

#endif
