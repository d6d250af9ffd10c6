/* buf - a growing byte buffer with a maximum
 *
 * Purpose:   bytes or text of a size somebody else decides, up to a limit named at init.
 * Ownership: an embedded value; buf_fini frees. `data` is always NUL-terminated after the first
 *            append (the NUL is not counted), so it can be read as text.
 * Threads:   one owner.
 * Errors:    an append past the maximum marks the buffer `overflow`, appends nothing and returns -1;
 *            later appends fail too, so a caller may check once at the end.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_COMMON_BUF_H
#define CE_COMMON_BUF_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Takes the bytes of a full buffer away; -1: it cannot. */
typedef int buf_drain_fn(void *arg, const void *data, size_t size);

typedef struct buf {
    char *data;          /* NULL while empty; else NUL-terminated */
    size_t size;         /* bytes used, without the NUL */
    size_t cap;          /* bytes allocated */
    size_t max;          /* the limit named at init */
    bool overflow;       /* an append did not fit */
    buf_drain_fn *drain; /* NULL: none */
    void *drain_arg;
} buf;

void buf_init(buf *self, size_t max);
/* buf_init_drain: where an append does not fit, what is there is handed to `drain` and the buffer starts
 * over; only an append larger than max, or a drain that fails, is an overflow. What is left at the end is
 * the caller's to hand over. */
void buf_init_drain(buf *self, size_t max, buf_drain_fn *drain, void *arg);
void buf_fini(buf *self); /* SCOPED(buf_fini) works on a buf value */
void buf_clear(buf *self);

int buf_add(buf *self, const void *data, size_t size);
int buf_puts(buf *self, const char *text);
int buf_int(buf *self, int64_t value); /* in decimal */
int buf_printf(buf *self, const char *format, ...) __attribute__((format(printf, 2, 3)));
int buf_vprintf(buf *self, const char *format, va_list args) __attribute__((format(printf, 2, 0)));

/* buf_text is data, or "" while empty. */
const char *buf_text(const buf *self);

/* buf_take hands the bytes over (caller frees; never NULL) and leaves the buffer empty. */
char *buf_take(buf *self);

#endif
