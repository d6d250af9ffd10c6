/* hint - what a provider says about its limits
 *
 * SPDX-License-Identifier: MIT */
#include "providers/hint.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/str.h"

static const int64_t ms_max = (int64_t)366 * 24 * 3600 * 1000;

static const struct {
    const char *unit;
    double ms;
} units[] = {{"ms", 1.0}, {"s", 1000.0}, {"m", 60000.0}, {"h", 3600000.0}, {"d", 86400000.0}};

/* A number without sign, exponent or blank before it; NULL when there is none. */
static const char *read_number(const char *text, double *out)
{
    char *end = NULL;
    size_t size = strspn(text, "0123456789.");
    char digits[32];
    if (size == 0 || size >= sizeof(digits)) {
        return NULL;
    }
    memcpy(digits, text, size);
    digits[size] = '\0';
    *out = strtod(digits, &end);
    return *end == '\0' ? text + size : NULL;
}

static bool find_unit(const char *text, size_t size, double *ms)
{
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        if (strlen(units[i].unit) == size && memcmp(text, units[i].unit, size) == 0) {
            *ms = units[i].ms;
            return true;
        }
    }
    return false;
}

bool hint_duration(const char *text, int64_t *ms)
{
    double sum = 0.0, number = 0.0, scale = 1000.0;
    do {
        text = read_number(text, &number);
        if (text == NULL) {
            return false;
        }
        size_t size = strspn(text, "mshd");
        if (size > 0 && !find_unit(text, size, &scale)) {
            return false;
        }
        if (size == 0 && (sum > 0.0 || text[0] != '\0')) {
            return false;
        }
        sum += number * scale;
        text += size;
    } while (text[0] != '\0');
    *ms = sum < (double)ms_max ? (int64_t)ceil(sum) : ms_max;
    return true;
}

static bool read_offset(const char *text, int64_t *ms)
{
    int hours = 0, minutes = 0, used = 0;
    *ms = 0;
    if (strcmp(text, "Z") == 0 || strcmp(text, "z") == 0) {
        return true;
    }
    if ((text[0] != '+' && text[0] != '-') ||
        sscanf(text + 1, "%2d:%2d%n", &hours, &minutes, &used) != 2 || text[1 + used] != '\0') {
        return false;
    }
    *ms = (int64_t)(hours * 60 + minutes) * 60000 * (text[0] == '-' ? -1 : 1);
    return true;
}

static bool read_rfc3339(const char *text, int64_t *wall_ms)
{
    struct tm tm = {0};
    double fraction = 0.0;
    int64_t offset = 0;
    const char *rest = strptime(text, "%Y-%m-%dT%H:%M:%S", &tm);
    if (rest == NULL) {
        return false;
    }
    if (rest[0] == '.') {
        rest = read_number(rest, &fraction);
    }
    if (rest == NULL || !read_offset(rest, &offset)) {
        return false;
    }
    *wall_ms = (int64_t)timegm(&tm) * 1000 + (int64_t)(fraction * 1000.0) - offset;
    return true;
}

bool hint_date(const char *text, int64_t *wall_ms)
{
    static const char *const forms[] = {"%a, %d %b %Y %H:%M:%S GMT", "%A, %d-%b-%y %H:%M:%S GMT",
                                        "%a %b %d %H:%M:%S %Y"}; /* RFC 9110's three */
    for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
        struct tm tm = {0};
        const char *rest = strptime(text, forms[i], &tm);
        if (rest != NULL && rest[0] == '\0') {
            *wall_ms = (int64_t)timegm(&tm) * 1000;
            return true;
        }
    }
    return read_rfc3339(text, wall_ms);
}

/* A duration or a moment, as a time from now; -1 when it is neither. */
static int64_t read_reset(const char *text, int64_t wall_ms)
{
    int64_t ms = -1;
    if (text == NULL) {
        return -1;
    }
    if (hint_duration(text, &ms)) {
        return ms;
    }
    if (hint_date(text, &ms)) {
        ms -= wall_ms;
        return ms < 0 ? 0 : ms < ms_max ? ms : ms_max;
    }
    return -1;
}

static int64_t read_retry(const http_reply *reply, int64_t wall_ms)
{
    const char *exact = http_reply_field(reply, "retry-after-ms");
    double ms = 0.0;
    if (exact != NULL) {
        const char *rest = read_number(exact, &ms);
        if (rest != NULL && rest[0] == '\0' && ms < (double)ms_max) {
            return (int64_t)ceil(ms);
        }
    }
    return read_reset(http_reply_field(reply, "retry-after"), wall_ms);
}

static int64_t read_count(const char *text)
{
    int64_t count = -1;
    return text != NULL && str_to_i64(text, &count) && count >= 0 ? count : -1;
}

typedef struct family {
    const char *requests_left, *requests_reset, *tokens_left, *tokens_reset;
} family;

static const family families[] = {
    {"anthropic-ratelimit-requests-remaining", "anthropic-ratelimit-requests-reset",
     "anthropic-ratelimit-tokens-remaining", "anthropic-ratelimit-tokens-reset"},
    {"x-ratelimit-remaining-requests", "x-ratelimit-reset-requests", "x-ratelimit-remaining-tokens",
     "x-ratelimit-reset-tokens"},
};

hint hint_of_reply(const http_reply *reply, int64_t wall_ms)
{
    hint out = {.retry_ms = read_retry(reply, wall_ms),
                .requests_left = -1,
                .requests_reset_ms = -1,
                .tokens_left = -1,
                .tokens_reset_ms = -1};
    for (size_t i = 0; i < sizeof(families) / sizeof(families[0]); i++) {
        const family *f = &families[i];
        if (http_reply_field(reply, f->requests_left) != NULL ||
            http_reply_field(reply, f->tokens_left) != NULL) {
            out.requests_left = read_count(http_reply_field(reply, f->requests_left));
            out.requests_reset_ms = read_reset(http_reply_field(reply, f->requests_reset), wall_ms);
            out.tokens_left = read_count(http_reply_field(reply, f->tokens_left));
            out.tokens_reset_ms = read_reset(http_reply_field(reply, f->tokens_reset), wall_ms);
            break;
        }
    }
    return out;
}
