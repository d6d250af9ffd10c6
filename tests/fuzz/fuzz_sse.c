/* fuzz_sse - any bytes as an event stream
 *
 * However a stream is sliced, the same events come, and data never holds a line end of another kind.
 *
 * SPDX-License-Identifier: MIT */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/scoped.h"
#include "providers/sse.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { EVENT_MAX = 512, SEEN_MAX = 1 << 22 };

static void must(bool truth)
{
    if (!truth)
        abort();
}

static int note(void *arg, const char *name, const char *data, size_t size, err *e)
{
    (void)e;
    must(data[size] == '\0' && size <= EVENT_MAX && strlen(name) < SSE_NAME_MAX);
    must(memchr(data, '\r', size) == NULL);
    must(buf_add(arg, name, strlen(name) + 1) == 0 && buf_add(arg, data, size + 1) == 0);
    return 0;
}

static int feed(const uint8_t *data, size_t size, size_t slice, buf *seen)
{
    SCOPED(sse_fini) sse parser;
    err e = {0};
    sse_init(&parser, EVENT_MAX, note, seen);
    for (size_t at = 0; at < size; at += slice) {
        size_t part = size - at < slice ? size - at : slice;
        if (sse_feed(&parser, (const char *)data + at, part, &e) != 0) {
            must(e.code == ERR_LIMIT);
            must(sse_feed(&parser, "\n", 1, &e) != 0);
            return -1;
        }
    }
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const size_t slices[] = {1, 2, 3, 7};
    SCOPED(buf_fini) buf whole;
    buf_init(&whole, SEEN_MAX);
    int rc = feed(data, size, size > 0 ? size : 1, &whole);
    for (size_t i = 0; i < sizeof slices / sizeof slices[0]; i++) {
        SCOPED(buf_fini) buf sliced;
        buf_init(&sliced, SEEN_MAX);
        must(feed(data, size, slices[i], &sliced) == rc);
        must(sliced.size == whole.size);
        must(whole.size == 0 || memcmp(sliced.data, whole.data, whole.size) == 0);
    }
    return 0;
}
