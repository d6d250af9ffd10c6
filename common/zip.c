/* zip - zstd in one call
 *
 * A frame must state its size and carry a checksum-verified whole: what zip_unpack gives is what
 * zip_pack got. Nothing may follow the frame.
 *
 * SPDX-License-Identifier: MIT */
#include "common/zip.h"

#include <stdint.h>
#include <zstd.h>

#include "common/scoped.h"
#include "common/xalloc.h"

static void free_context(ZSTD_CCtx **context)
{
    ZSTD_freeCCtx(*context);
}

int zip_pack(const void *data, size_t size, buf *out, err *e)
{
    size_t bound = ZSTD_compressBound(size);
    SCOPED(scoped_free) void *packed = xmalloc(bound);
    SCOPED(free_context) ZSTD_CCtx *context = ZSTD_createCCtx();
    if (context == NULL)
        return err_set(e, ERR_LIMIT, "zstd: no memory");
    ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
    size_t got = ZSTD_compress2(context, packed, bound, data, size);
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
    SCOPED(scoped_free) char *restored = xmalloc(content);
    size_t got = ZSTD_decompress(restored, content, data, size);
    if (ZSTD_isError(got))
        return err_set(e, ERR_PROTOCOL, "compressed data is damaged: %s", ZSTD_getErrorName(got));
    if (got != content)
        return err_set(e, ERR_PROTOCOL, "compressed data is damaged: wrong size");
    return buf_add(out, restored, got);
}
