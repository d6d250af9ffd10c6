/* zip - zstd in one call
 *
 * A frame must state its size and carry a checksum-verified whole: what zip_unpack gives is what
 * zip_pack got. Nothing may follow the frame. A thread keeps its contexts: making one maps and clears more
 * memory than a small text costs to compress.
 *
 * SPDX-License-Identifier: MIT */
#include "common/zip.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <zstd.h>

#include "common/scoped.h"
#include "common/xalloc.h"

typedef struct tools {
    ZSTD_CCtx *packer;
    ZSTD_DCtx *unpacker;
} tools;

static pthread_key_t key;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void free_tools(void *arg)
{
    tools *self = arg;
    ZSTD_freeCCtx(self->packer);
    ZSTD_freeDCtx(self->unpacker);
    free(self);
}

static void make_key(void)
{
    pthread_key_create(&key, free_tools);
}

/* This thread's contexts; NULL: no memory. */
static tools *own_tools(err *e)
{
    pthread_once(&once, make_key);
    tools *self = pthread_getspecific(key);
    if (self == NULL) {
        self = xcalloc(1, sizeof *self);
        pthread_setspecific(key, self);
    }
    if (self->packer == NULL)
        self->packer = ZSTD_createCCtx();
    if (self->unpacker == NULL)
        self->unpacker = ZSTD_createDCtx();
    if (self->packer != NULL && self->unpacker != NULL)
        return self;
    err_set(e, ERR_LIMIT, "zstd: no memory");
    return NULL;
}

int zip_pack(const void *data, size_t size, buf *out, err *e)
{
    size_t bound = ZSTD_compressBound(size);
    SCOPED(scoped_free) void *packed = xmalloc(bound);
    tools *own = own_tools(e);
    if (own == NULL)
        return -1;
    ZSTD_CCtx_setParameter(own->packer, ZSTD_c_checksumFlag, 1);
    size_t got = ZSTD_compress2(own->packer, packed, bound, data, size);
    if (ZSTD_isError(got))
        return err_set(e, ERR_INTERNAL, "zstd: %s", ZSTD_getErrorName(got));
    if (buf_add(out, packed, got) < 0)
        return err_set(e, ERR_LIMIT, "compressed data is larger than %zu bytes", out->max);
    return 0;
}

static int frame_size(const void *data, size_t size, size_t *out, err *e)
{
    unsigned long long content = ZSTD_getFrameContentSize(data, size);
    if (content == ZSTD_CONTENTSIZE_ERROR || content == ZSTD_CONTENTSIZE_UNKNOWN)
        return err_set(e, ERR_PROTOCOL, "compressed data does not begin with a sized zstd frame");
    if (ZSTD_findFrameCompressedSize(data, size) != size)
        return err_set(e, ERR_PROTOCOL, "compressed data is cut short or has something behind it");
    if (content > SIZE_MAX)
        return err_set(e, ERR_LIMIT, "compressed data is too large for this machine");
    *out = (size_t)content;
    return 0;
}

int zip_unpack(const void *data, size_t size, buf *out, err *e)
{
    size_t content = 0;
    if (frame_size(data, size, &content, e) < 0)
        return -1;
    if (out->overflow || content > out->max - out->size)
        return err_set(e, ERR_LIMIT, "restored data has %zu bytes; the maximum is %zu", content,
                       out->max);
    tools *own = own_tools(e);
    if (own == NULL)
        return -1;
    SCOPED(scoped_free) char *restored = xmalloc(content);
    size_t got = ZSTD_decompressDCtx(own->unpacker, restored, content, data, size);
    if (ZSTD_isError(got))
        return err_set(e, ERR_PROTOCOL, "compressed data is damaged: %s", ZSTD_getErrorName(got));
    if (got != content)
        return err_set(e, ERR_PROTOCOL, "compressed data is damaged: wrong size");
    return buf_add(out, restored, got);
}
