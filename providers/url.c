/* url - base addresses of providers
 *
 * SPDX-License-Identifier: MIT */
#include "providers/url.h"

#include <string.h>
#include <strings.h>

#include "common/buf.h"
#include "common/str.h"

/* The host with its brackets; empty when there is none. */
static str host_of(const char *url)
{
    const char *host = strstr(url, "://");
    if (host == NULL) {
        return str_of("");
    }
    host += strlen("://");
    size_t size = host[0] == '[' ? strcspn(host, "]") : strcspn(host, ":/?#");
    return (str){.data = host, .size = size + (host[0] == '[' && host[size] == ']')};
}

bool url_is_host(const char *url, const char *host)
{
    str own = host_of(url);
    return own.size == strlen(host) && strncasecmp(own.data, host, own.size) == 0;
}

bool url_is_loopback(const char *url)
{
    return url_is_host(url, "localhost") || url_is_host(url, "127.0.0.1") ||
           url_is_host(url, "[::1]");
}

bool url_is_open(const char *url)
{
    return str_starts(url, "http://") && !url_is_loopback(url);
}

static bool is_printable(const char *text)
{
    for (; *text != '\0'; text++) {
        if (*text <= ' ' || *text > '~' || strchr("\"<>\\^`{|}", *text) != NULL) {
            return false;
        }
    }
    return true;
}

int url_check(const char *text, char *out, size_t size, err *e)
{
    size_t length = strlen(text);
    while (length > 0 && text[length - 1] == '/') {
        length--;
    }
    if (length >= size) {
        return err_set(e, ERR_USAGE, "a base URL has at most %zu characters", size - 1);
    }
    if (!is_printable(text) || strpbrk(text, "?#@") != NULL) {
        return err_set(e, ERR_USAGE,
                       "a base URL holds no blank, user, query or fragment (keys come "
                       "from the environment)");
    }
    if ((!str_starts(text, "http://") && !str_starts(text, "https://")) ||
        host_of(text).size == 0) {
        return err_set(e, ERR_USAGE, "a base URL begins with http:// or https:// and a host");
    }
    memcpy(out, text, length);
    out[length] = '\0';
    return 0;
}

void url_escape(buf *out, const char *text)
{
    for (; *text != '\0'; text++) {
        bool plain = (*text >= 'a' && *text <= 'z') || (*text >= 'A' && *text <= 'Z') ||
                     (*text >= '0' && *text <= '9') || strchr("-._~", *text) != NULL;
        buf_printf(out, plain ? "%c" : "%%%02X", (unsigned char)*text);
    }
}
