/* fixture - see fixture.h.
 *
 * SPDX-License-Identifier: MIT */
#include "tests/gpu/emu_corpus/fixture.h"

#include <stdlib.h>
#include <string.h>

#include "common/buf.h"
#include "common/file.h"
#include "common/scoped.h"
#include "common/xalloc.h"

static const char magic[] = "ce-emu-1\n";
enum { HEAD = 6 /* hash and length */ };

struct fixture {
    buf bytes;
    char *device;
    size_t first; /* where rows begin */
};

fixture *fixture_create(const char *device)
{
    fixture *f = xcalloc(1, sizeof *f);
    buf_init(&f->bytes, FIXTURE_MAX);
    buf_printf(&f->bytes, "%s%s\n", magic, device);
    f->first = f->bytes.size;
    f->device = xstrdup(device);
    return f;
}

void fixture_destroy(fixture **self)
{
    fixture *f = TAKE(*self);
    if (f == NULL)
        return;
    buf_fini(&f->bytes);
    free(f->device);
    free(f);
}

const char *fixture_device(const fixture *self)
{
    return self->device;
}

fixture *fixture_read(const char *path, err *e)
{
    SCOPED(fixture_destroy) fixture *f = xcalloc(1, sizeof *f);
    buf_init(&f->bytes, FIXTURE_MAX);
    if (file_read(path, &f->bytes, e) < 0)
        return NULL;
    const size_t skip = sizeof magic - 1;
    const char *end = f->bytes.size > skip && memcmp(f->bytes.data, magic, skip) == 0
                          ? memchr(f->bytes.data + skip, '\n', f->bytes.size - skip)
                          : NULL;
    if (end == NULL) {
        err_set(e, ERR_CONFIG, "%s is no fixture of the emulator's corpus", path);
        return NULL;
    }
    f->device = xstrndup(f->bytes.data + skip, (size_t)(end - f->bytes.data) - skip);
    f->first = (size_t)(end - f->bytes.data) + 1;
    return TAKE(f);
}

static size_t width(corpus_kind kind)
{
    return kind == KIND_NONE ? 0 : (corpus_bits(kind) + 7) / 8;
}

static uint64_t take(const uint8_t *at, size_t bytes)
{
    uint64_t v = 0;
    memcpy(&v, at, bytes);
    return v;
}

static void unpack(const corpus_row *row, const uint8_t *at, uint64_t *out)
{
    const size_t d = width(row->d), e = width(row->e);
    for (unsigned t = 0; t < CORPUS_THREADS; t++) {
        out[2 * t] = take(at, d);
        out[2 * t + 1] = take(at + d, e);
        at += d + e;
    }
}

bool fixture_row(const fixture *self, const corpus_row *row, uint64_t *out)
{
    const uint32_t wanted = corpus_hash(row);
    const size_t size = CORPUS_THREADS * (width(row->d) + width(row->e));
    for (size_t at = self->first; at + HEAD <= self->bytes.size;) {
        const uint8_t *head = (const uint8_t *)self->bytes.data + at;
        const size_t length = (size_t)take(head + 4, 2);
        if (length > self->bytes.size - at - HEAD)
            return false;
        if ((uint32_t)take(head, 4) == wanted && length == size) {
            unpack(row, head + HEAD, out);
            return true;
        }
        at += HEAD + length;
    }
    return false;
}

void fixture_add(fixture *self, const corpus_row *row, const uint64_t *results)
{
    const size_t d = width(row->d), e = width(row->e);
    const uint32_t hash = corpus_hash(row);
    const uint16_t length = (uint16_t)(CORPUS_THREADS * (d + e));
    buf_add(&self->bytes, &hash, sizeof hash);
    buf_add(&self->bytes, &length, sizeof length);
    for (unsigned t = 0; t < CORPUS_THREADS; t++) {
        buf_add(&self->bytes, &results[2 * t], d);
        buf_add(&self->bytes, &results[2 * t + 1], e);
    }
}

int fixture_write(const fixture *self, const char *path, err *e)
{
    if (self->bytes.overflow)
        return err_set(e, ERR_LIMIT, "the fixture has more than %d bytes", FIXTURE_MAX);
    return file_write(path, self->bytes.data, self->bytes.size, e);
}
