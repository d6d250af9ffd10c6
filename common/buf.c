/* buf - a growing byte buffer with a maximum
 *
 * SPDX-License-Identifier: MIT */
#include "common/buf.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/xalloc.h"

enum { FIRST_CAP = 64, INT_TEXT = 20 };

void buf_init(buf *self, size_t max)
{
    *self = (buf){.max = max < SIZE_MAX ? max : SIZE_MAX - 1};
}

void buf_init_drain(buf *self, size_t max, buf_drain_fn *drain, void *arg)
{
    buf_init(self, max);
    self->drain = drain;
    self->drain_arg = arg;
}

void buf_fini(buf *self)
{
    free(self->data);
    *self = (buf){.max = self->max};
}

void buf_clear(buf *self)
{
    self->size = 0;
    self->overflow = false;
    if (self->data != NULL)
        self->data[0] = '\0';
}

/* reserve makes room for `more` bytes and the NUL; -1 marks the overflow. */
static int reserve(buf *self, size_t more)
{
    if (self->drain != NULL && !self->overflow && more > self->max - self->size) {
        self->overflow = self->drain(self->drain_arg, buf_text(self), self->size) < 0;
        self->size = 0;
    }
    if (self->overflow || more > self->max - self->size) {
        self->overflow = true;
        return -1;
    }
    size_t wanted = self->size + more + 1;
    if (wanted <= self->cap)
        return 0;
    size_t cap = self->cap < FIRST_CAP ? FIRST_CAP : self->cap;
    while (cap < wanted)
        cap = cap > SIZE_MAX / 2 ? wanted : cap * 2;
    if (cap > self->max + 1)
        cap = self->max + 1;
    self->data = xreallocarray(self->data, cap, 1);
    self->cap = cap;
    return 0;
}

int buf_add(buf *self, const void *data, size_t size)
{
    if (reserve(self, size) < 0)
        return -1;
    if (size > 0)
        memcpy(self->data + self->size, data, size);
    self->size += size;
    self->data[self->size] = '\0';
    return 0;
}

int buf_puts(buf *self, const char *text)
{
    return buf_add(self, text, strlen(text));
}

int buf_int(buf *self, int64_t value)
{
    char text[INT_TEXT];
    char *at = text + sizeof text;
    uint64_t rest = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    do
        *--at = (char)('0' + rest % 10);
    while ((rest /= 10) > 0);
    if (value < 0)
        *--at = '-';
    return buf_add(self, at, (size_t)(text + sizeof text - at));
}

int buf_printf(buf *self, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int rc = buf_vprintf(self, format, args);
    va_end(args);
    return rc;
}

int buf_vprintf(buf *self, const char *format, va_list args)
{
    va_list again;
    va_copy(again, args);
    size_t room = self->cap - self->size; /* mostly it fits at once */
    int length = vsnprintf(room > 0 ? self->data + self->size : NULL, room, format, args);
    bool fits = length >= 0 && (size_t)length < room && !self->overflow;
    int rc = length < 0 ? -1 : fits ? 0 : reserve(self, (size_t)length);
    if (rc == 0 && !fits)
        vsnprintf(self->data + self->size, (size_t)length + 1, format, again);
    if (rc == 0)
        self->size += (size_t)length;
    else if (self->data != NULL)
        self->data[self->size] = '\0';
    va_end(again);
    return rc;
}

const char *buf_text(const buf *self)
{
    return self->data != NULL ? self->data : "";
}

char *buf_take(buf *self)
{
    char *data = self->data != NULL ? self->data : xstrdup("");
    buf_init(self, self->max);
    return data;
}
