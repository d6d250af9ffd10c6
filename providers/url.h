/* url - base addresses of providers
 *
 * Purpose:   checks a base URL that a person wrote before anything is sent to it.
 * Ownership: writes into the caller's array.
 * Threads:   safe.
 * Errors:    ERR_USAGE: what is wrong with it.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_PROVIDERS_URL_H
#define CE_PROVIDERS_URL_H

#include <stdbool.h>
#include <stddef.h>

#include "common/err.h"

/* url_check copies a base URL without slashes at its end. It has a scheme, a host, perhaps a port and a
 * path; no user, query, fragment or blank. */
int url_check(const char *text, char *out, size_t size, err *e);
/* url_is_loopback: does the host name this machine? */
bool url_is_loopback(const char *url);
/* url_is_open: plain http to another machine; a key would travel in the open. */
bool url_is_open(const char *url);
/* url_is_host: is it that host (no port counts), such as "openrouter.ai"? */
bool url_is_host(const char *url, const char *host);

/* url_escape appends text as one segment of a path. */
struct buf;
void url_escape(struct buf *out, const char *text);

#endif
