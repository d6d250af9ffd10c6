/* keyscan - finds what must not be published: keys
 *
 * SPDX-License-Identifier: MIT */
#include "reports/keyscan.h"

#include <ctype.h>
#include <string.h>

/* How keys begin, and how much must follow, at least one digit among it. 0: the beginning is enough. */
typedef struct form {
    const char *start;
    size_t tail;
} form;

static const form forms[] = {
    {"sk-", 20},
    {"AIza", 30},
    {"gsk_", 20},
    {"hf_", 20},
    {"ghp_", 20},
    {"github_pat_", 20},
    {"xoxb-", 20},
    {"AKIA", 16},
    {"Bearer ", 20},
    {"-----BEGIN PRIVATE KEY-----", 0},
    {"-----BEGIN RSA PRIVATE KEY-----", 0},
    {"-----BEGIN EC PRIVATE KEY-----", 0},
    {"-----BEGIN OPENSSH PRIVATE KEY-----", 0},
};

static bool of_key(char c)
{
    return isalnum((unsigned char)c) || c == '-' || c == '_' || c == '.';
}

/* How long the key of this form is that starts at `at`; 0: there is none. */
static size_t form_length(const form *f, const char *at, size_t left)
{
    size_t start = strlen(f->start), size = start;
    bool digit = false;
    if (left < start || memcmp(at, f->start, start) != 0)
        return 0;
    if (f->tail == 0)
        return left; /* everything after the head of a private key */
    for (; size < left && of_key(at[size]); size++)
        digit |= isdigit((unsigned char)at[size]) != 0;
    return size - start >= f->tail && digit ? size : 0;
}

static size_t known_length(keyscan_list known, const char *at, size_t left)
{
    for (size_t i = 0; known != NULL && known[i] != NULL; i++) {
        size_t size = strlen(known[i]);
        if (size >= KEYSCAN_LENGTH_MIN && size <= left && memcmp(at, known[i], size) == 0)
            return size;
    }
    return 0;
}

static size_t length_at(keyscan_list known, const char *text, size_t size, size_t at)
{
    size_t length = known_length(known, text + at, size - at);
    bool inside = at > 0 && isalnum((unsigned char)text[at - 1]); /* "task-…" is none */
    for (size_t i = 0; length == 0 && !inside && i < sizeof forms / sizeof forms[0]; i++)
        length = form_length(&forms[i], text + at, size - at);
    return length;
}

bool keyscan_in(keyscan_list known, const char *text, size_t size)
{
    for (size_t at = 0; at < size; at++)
        if (length_at(known, text, size, at) > 0)
            return true;
    return false;
}

size_t keyscan_mask(keyscan_list known, const char *text, size_t size, buf *out)
{
    size_t count = 0, plain = 0;
    for (size_t at = 0; at < size;) {
        size_t length = length_at(known, text, size, at);
        if (length == 0) {
            at++;
            continue;
        }
        buf_add(out, text + plain, at - plain);
        buf_puts(out, KEYSCAN_MASK);
        at += length;
        plain = at;
        count++;
    }
    buf_add(out, text + plain, size - plain);
    return count;
}
