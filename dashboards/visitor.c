/* visitor - the rules, in the order they are asked
 *
 * SPDX-License-Identifier: MIT */
#include "dashboards/visitor.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "common/hash.h"
#include "common/str.h"

/* ---- where to listen ---- */

static int cut_host(const char *text, const char *colon, visitor_address *out)
{
    bool bracketed = text[0] == '[' && colon > text && colon[-1] == ']';
    const char *from = bracketed ? text + 1 : text;
    size_t size = (size_t)(colon - from) - (bracketed ? 1 : 0);
    if (size >= sizeof out->host)
        return -1;
    snprintf(out->host, sizeof out->host, "%.*s", (int)size, from);
    return 0;
}

static bool know_host(visitor_address *out)
{
    struct in_addr four;
    struct in6_addr six;
    if (strcmp(out->host, "localhost") == 0)
        snprintf(out->host, sizeof out->host, "127.0.0.1");
    if (out->host[0] == '\0')
        snprintf(out->host, sizeof out->host, "0.0.0.0");
    if (inet_pton(AF_INET, out->host, &four) == 1) {
        out->loopback = (ntohl(four.s_addr) >> 24) == 127;
        return true;
    }
    out->six = inet_pton(AF_INET6, out->host, &six) == 1;
    out->loopback = out->six && IN6_IS_ADDR_LOOPBACK(&six);
    return out->six;
}

int visitor_listen(const char *text, visitor_address *out, err *e)
{
    visitor_address at = {.port = -1};
    const char *colon = strrchr(text, ':');
    int64_t port;
    if (!str_to_i64(colon != NULL ? colon + 1 : text, &port) || port < 0 || port > 65535)
        return err_set(e, ERR_USAGE, "--http %s: want PORT or HOST:PORT, PORT up to 65535", text);
    at.port = (int)port;
    if (colon == NULL)
        snprintf(at.host, sizeof at.host, "127.0.0.1");
    else if (cut_host(text, colon, &at) < 0)
        return err_set(e, ERR_USAGE, "--http: the host is longer than %d bytes",
                       VISITOR_HOST_MAX - 1);
    if (!know_host(&at))
        return err_set(e, ERR_USAGE,
                       "--http %s: the host must be an address in numbers (127.0.0.1, [::1]) or "
                       "localhost",
                       text);
    *out = at;
    return 0;
}

int visitor_token(const visitor_address *at, const char *token, err *e)
{
    if (token == NULL && at->loopback)
        return 0;
    if (token == NULL)
        return err_set(e, ERR_USAGE,
                       "--http %s: off loopback a token is required: set CE_HTTP_TOKEN (for "
                       "example to the output of `openssl rand -hex 24`)",
                       at->host);
    size_t size = strlen(token);
    bool printable = true;
    for (size_t i = 0; i < size; i++)
        printable = printable && (isalnum((unsigned char)token[i]) || strchr("-_.~", token[i]));
    if (size < VISITOR_TOKEN_MIN || size > VISITOR_TOKEN_MAX || !printable)
        return err_set(e, ERR_USAGE,
                       "CE_HTTP_TOKEN: want %d to %d letters, digits, or any of - _ . ~",
                       VISITOR_TOKEN_MIN, VISITOR_TOKEN_MAX);
    return 0;
}

/* ---- a request ---- */

bool visitor_same(const char *token, const char *given)
{
    if (given == NULL)
        return false;
    hash a = hash_of_text(token), b = hash_of_text(given);
    return hash_equal(&a, &b);
}

/* "name" or "name:port": is the name one of this machine's loopback? */
static bool names_loopback(const char *host)
{
    static const char *const names[] = {"localhost", "127.0.0.1", "[::1]"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        size_t size = strlen(names[i]);
        if (strncmp(host, names[i], size) == 0 && (host[size] == '\0' || host[size] == ':'))
            return true;
    }
    return false;
}

/* An origin is "scheme://host"; ours has the Host of the request. */
static bool is_own(const char *origin, const char *host)
{
    const char *after = strstr(origin, "://");
    return after != NULL && strcmp(after + 3, host) == 0;
}

static bool has_token(const char *token, const visitor_request *request)
{
    const char *header = request->authorization;
    const char *bearer =
        header != NULL && str_starts(header, "Bearer ") ? header + strlen("Bearer ") : NULL;
    return visitor_same(token, bearer) || visitor_same(token, request->cookie);
}

int visitor_check(const visitor_address *at, const char *token, const visitor_request *request,
                  const char **why)
{
    if (strcmp(request->method, "GET") != 0 && strcmp(request->method, "HEAD") != 0) {
        *why = "this server only shows things: GET and HEAD";
        return 405;
    }
    if (request->host == NULL || (at->loopback && !names_loopback(request->host))) {
        *why = "the Host header names another machine: open the page by the address that ce-coord "
               "printed";
        return 403;
    }
    if (request->origin != NULL && !is_own(request->origin, request->host)) {
        *why = "the request comes from a page of another site";
        return 403;
    }
    if (token != NULL && !has_token(token, request)) {
        *why = "a token is required: open /login?token=TOKEN once, or send Authorization: Bearer "
               "TOKEN";
        return 401;
    }
    return 0;
}
