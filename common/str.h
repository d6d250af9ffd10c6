/* str - views and small text helpers
 *
 * Purpose:   parse text without copying it, and the few string functions libc lacks.
 * Ownership: a view borrows; functions that return char * return fresh memory.
 * Threads:   safe.
 * Errors:    as each function says.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_COMMON_STR_H
#define CE_COMMON_STR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct str {
    const char *data; /* not terminated */
    size_t size;
} str;

str str_of(const char *text); /* borrows text; NULL gives an empty view */
bool str_equal(str a, const char *b);
bool str_starts(const char *text, const char *prefix);
bool str_ends(const char *text, const char *suffix);
str str_trim(str text); /* without white space at both ends */

/* str_split gives the next piece of *rest before `separator` and advances *rest; false at the end.
 * Empty pieces count: "a," gives "a" and "", "" gives one "". */
bool str_split(str *rest, char separator, str *piece);

/* str_line gives the next line without its '\n' (and '\r') and advances *rest; false at the end. */
bool str_line(str *rest, str *line);

/* str_to_i64 / str_to_f64 read the whole text (base 10); false on anything else or on overflow. */
bool str_to_i64(const char *text, int64_t *out);
bool str_to_f64(const char *text, double *out);

/* str_is_name: [A-Za-z_][A-Za-z0-9_]*, at most max bytes. */
bool str_is_name(const char *text, size_t max);

/* str_utf8_step is the length (1..4) of the valid UTF-8 sequence that text starts with, else 0. */
size_t str_utf8_step(const char *text, size_t size);
/* str_utf8_valid is the length of the longest prefix that is valid UTF-8. */
size_t str_utf8_valid(const char *text, size_t size);

/* str_nearest is the word of the NULL-ended list that `word` was probably meant to be, or NULL. */
const char *str_nearest(const char *word, const char *const *list);

#endif
