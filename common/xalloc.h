/* xalloc - allocators that abort when memory is gone
 *
 * Purpose:   no caller handles OOM; in exchange every externally sized buffer has a named maximum.
 * Ownership: results are freed with free().
 * Threads:   safe.
 * Errors:    abort with one line on stderr.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_COMMON_XALLOC_H
#define CE_COMMON_XALLOC_H

#include <stddef.h>

void *xmalloc(size_t size) __attribute__((malloc, returns_nonnull));
void *xcalloc(size_t count, size_t size) __attribute__((malloc, returns_nonnull));
void *xreallocarray(void *old, size_t count, size_t size) __attribute__((returns_nonnull));
void *xmemdup(const void *data, size_t size) __attribute__((malloc, returns_nonnull));
char *xstrdup(const char *text) __attribute__((malloc, returns_nonnull));
char *xstrndup(const char *text, size_t size) __attribute__((malloc, returns_nonnull));

/* xasprintf formats into fresh memory. */
char *xasprintf(const char *format, ...)
    __attribute__((format(printf, 1, 2), malloc, returns_nonnull));

#endif
