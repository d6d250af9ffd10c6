/* xalloc - allocators that abort when memory is gone
 *
 * SPDX-License-Identifier: MIT */
#include "common/xalloc.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *checked(void *memory, size_t count, size_t size)
{
    if (memory == NULL) {
        fprintf(stderr, "ce: out of memory (%zu × %zu bytes wanted)\n", count, size);
        abort();
    }
    return memory;
}

/* A request for nothing gives memory too, so that NULL always means failure. */
static size_t at_least_one(size_t size)
{
    return size == 0 ? 1 : size;
}

void *xmalloc(size_t size)
{
    return checked(malloc(at_least_one(size)), 1, size);
}

void *xcalloc(size_t count, size_t size)
{
    return checked(calloc(at_least_one(count), at_least_one(size)), count, size);
}

void *xreallocarray(void *old, size_t count, size_t size)
{
    return checked(reallocarray(old, at_least_one(count), at_least_one(size)), count, size);
}

void *xmemdup(const void *data, size_t size)
{
    void *copy = xmalloc(size);
    if (size > 0)
        memcpy(copy, data, size);
    return copy;
}

char *xstrdup(const char *text)
{
    return xmemdup(text, strlen(text) + 1);
}

char *xstrndup(const char *text, size_t size)
{
    size_t length = strnlen(text, size);
    char *copy = xmalloc(length + 1);
    memcpy(copy, text, length);
    copy[length] = '\0';
    return copy;
}

char *xasprintf(const char *format, ...)
{
    char *text = NULL;
    va_list args;
    va_start(args, format);
    int length = vasprintf(&text, format, args);
    va_end(args);
    return checked(length < 0 ? NULL : text, 1, 0);
}
