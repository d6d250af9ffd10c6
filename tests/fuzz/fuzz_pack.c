/* fuzz_pack - any bytes as msgpack, read by every reader at every place
 *
 * A reader either advances inside the input or fails, leaving place and output alone.
 *
 * SPDX-License-Identifier: MIT */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/pack.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { KINDS = 7, MOST = 1000 };

static int read_kind(pack_reader *r, int kind, err *e)
{
    size_t count;
    int64_t number;
    double real;
    bool flag;
    str view;
    switch (kind) {
    case 0:
        return pack_read_map(r, MOST, &count, e);
    case 1:
        return pack_read_array(r, MOST, &count, e);
    case 2:
        return pack_read_i64(r, &number, e);
    case 3:
        return pack_read_f64(r, &real, e);
    case 4:
        return pack_read_bool(r, &flag, e);
    case 5:
        return pack_read_str(r, MOST, &view, e);
    default:
        return pack_read_bytes(r, MOST, &view, e);
    }
}

/* step tries the readers in order; false when none takes the element. */
static bool step(pack_reader *r)
{
    for (int kind = 0; kind < KINDS; kind++) {
        size_t before = r->at;
        err e = {0};
        if (read_kind(r, kind, &e) == 0) {
            if (r->at <= before || r->at > r->size)
                abort();
            return true;
        }
        if (r->at != before || (e.code != ERR_PROTOCOL && e.code != ERR_LIMIT))
            abort();
    }
    return false;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    pack_reader r = {(const char *)data, size, 0};
    while (!pack_at_end(&r) && step(&r))
        continue;
    return 0;
}
