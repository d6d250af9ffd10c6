/* str - views and small text helpers
 *
 * SPDX-License-Identifier: MIT */
#include "common/str.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NEAREST_MAX = 63 }; /* longer words are never suggested */

str str_of(const char *text)
{
    return text == NULL ? (str){NULL, 0} : (str){text, strlen(text)};
}

bool str_equal(str a, const char *b)
{
    size_t size = strlen(b);
    return a.size == size && (size == 0 || memcmp(a.data, b, size) == 0);
}

bool str_starts(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

bool str_ends(const char *text, const char *suffix)
{
    size_t size = strlen(text);
    size_t tail = strlen(suffix);
    return tail <= size && memcmp(text + size - tail, suffix, tail) == 0;
}

static bool is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

str str_trim(str text)
{
    while (text.size > 0 && is_space(text.data[0])) {
        text.data++;
        text.size--;
    }
    while (text.size > 0 && is_space(text.data[text.size - 1]))
        text.size--;
    return text;
}

bool str_split(str *rest, char separator, str *piece)
{
    if (rest->data == NULL)
        return false;
    const char *end = rest->size == 0 ? NULL : memchr(rest->data, separator, rest->size);
    if (end == NULL) {
        *piece = *rest;
        *rest = (str){NULL, 0};
        return true;
    }
    size_t size = (size_t)(end - rest->data);
    *piece = (str){rest->data, size};
    *rest = (str){end + 1, rest->size - size - 1};
    return true;
}

bool str_line(str *rest, str *line)
{
    if (rest->size == 0)
        return false;
    const char *end = memchr(rest->data, '\n', rest->size);
    size_t size = end == NULL ? rest->size : (size_t)(end - rest->data);
    size_t step = end == NULL ? size : size + 1;
    *line = (str){rest->data, size};
    if (size > 0 && line->data[size - 1] == '\r')
        line->size--;
    *rest = (str){rest->data + step, rest->size - step};
    return true;
}

bool str_to_i64(const char *text, int64_t *out)
{
    bool negative = text[0] == '-';
    const char *at = text + (negative ? 1 : 0);
    if (*at == '\0')
        return false;
    int64_t value = 0;
    for (; *at != '\0'; at++) {
        if (*at < '0' || *at > '9')
            return false;
        int64_t digit = negative ? -(*at - '0') : *at - '0';
        if (__builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, digit, &value))
            return false;
    }
    *out = value;
    return true;
}

bool str_to_f64(const char *text, double *out)
{
    /* strtod also takes white space, hexadecimal, "nan" and "inf". */
    if (text[0] == '\0' || strspn(text, "0123456789+-.eE") != strlen(text))
        return false;
    char *end = NULL;
    double value = strtod(text, &end);
    if (*end != '\0' || end == text || !isfinite(value))
        return false;
    *out = value;
    return true;
}

static bool is_name_char(char c, bool first)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
           (!first && c >= '0' && c <= '9');
}

bool str_is_name(const char *text, size_t max)
{
    size_t size = 0;
    for (; text[size] != '\0'; size++)
        if (size >= max || !is_name_char(text[size], size == 0))
            return false;
    return size > 0;
}

/* utf8_length is what a first byte promises; 0 when no sequence begins with it. */
static size_t utf8_length(unsigned char first)
{
    if (first < 0x80)
        return 1;
    if (first < 0xc2 || first > 0xf4)
        return 0;
    return first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
}

/* second_fits: the second byte rules out overlong forms, surrogates and what is above U+10FFFF. */
static bool second_fits(unsigned char first, unsigned char second)
{
    switch (first) {
    case 0xe0:
        return second >= 0xa0;
    case 0xed:
        return second <= 0x9f;
    case 0xf0:
        return second >= 0x90;
    case 0xf4:
        return second <= 0x8f;
    default:
        return true;
    }
}

size_t str_utf8_step(const char *text, size_t size)
{
    if (size == 0)
        return 0;
    const unsigned char *b = (const unsigned char *)text;
    size_t length = utf8_length(b[0]);
    if (length > size)
        return 0;
    for (size_t i = 1; i < length; i++)
        if ((b[i] & 0xc0) != 0x80)
            return 0;
    return length < 2 || second_fits(b[0], b[1]) ? length : 0;
}

size_t str_utf8_valid(const char *text, size_t size)
{
    size_t at = 0;
    while (at < size) {
        size_t step = str_utf8_step(text + at, size - at);
        if (step == 0)
            break;
        at += step;
    }
    return at;
}

static size_t min3(size_t a, size_t b, size_t c)
{
    size_t least = a < b ? a : b;
    return least < c ? least : c;
}

/* distance: Levenshtein with one row; words are at most NEAREST_MAX bytes. */
static size_t distance(const char *a, size_t na, const char *b, size_t nb)
{
    size_t row[NEAREST_MAX + 1];
    for (size_t j = 0; j <= nb; j++)
        row[j] = j;
    for (size_t i = 1; i <= na; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= nb; j++) {
            size_t above = row[j];
            row[j] = min3(above + 1, row[j - 1] + 1, diagonal + (a[i - 1] != b[j - 1]));
            diagonal = above;
        }
    }
    return row[nb];
}

const char *str_nearest(const char *word, const char *const *list)
{
    size_t size = strlen(word);
    if (size > NEAREST_MAX)
        return NULL;
    const char *best = NULL;
    size_t best_distance = size / 3 + 2; /* about one slip in three letters */
    for (; *list != NULL; list++) {
        size_t length = strlen(*list);
        if (length > NEAREST_MAX)
            continue;
        size_t d = distance(word, size, *list, length);
        if (d < best_distance && d < length) {
            best = *list;
            best_distance = d;
        }
    }
    return best;
}
