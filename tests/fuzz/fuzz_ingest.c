/* fuzz_ingest - any text as a record of a node; the first byte chooses which
 *
 * A record that is taken must read the same again from what its struct says.
 *
 * SPDX-License-Identifier: MIT */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/scoped.h"
#include "common/xalloc.h"
#include "coordinator/ingest.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool truth)
{
    if (!truth)
        abort();
}

static char *written(const ingest *in)
{
    switch (in->kind) {
    case INGEST_CALL:
        return call_record_write(&in->of.call);
    case INGEST_STAGE:
        return stage_record_write(&in->of.stage);
    case INGEST_RESULT:
        return result_record_write(&in->of.result);
    case INGEST_BASELINE:
        break;
    }
    return baseline_record_write(&in->of.baseline);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char kinds[] = "csrb";
    static const char key[] = "00000000000000000000000000000000000000000000000000000000000000aa";
    const char *kind = size ? memchr(kinds, data[0], sizeof kinds - 1) : NULL;
    if (!kind)
        return 0;
    SCOPED(scoped_free) char *text = xstrndup((const char *)data + 1, size - 1);
    err e = {.code = ERR_NONE};
    SCOPED(ingest_destroy)
    ingest *in = ingest_read((ingest_kind)(kind - kinds), key, 1, text, 1, &e);
    if (!in) {
        must(e.code == ERR_PROTOCOL || e.code == ERR_LIMIT);
        return 0;
    }
    SCOPED(scoped_free) char *once = written(in);
    SCOPED(ingest_destroy) ingest *again = ingest_read(in->kind, key, 1, once, 1, &e);
    must(again != NULL);
    SCOPED(scoped_free) char *twice = written(again);
    must(strcmp(once, twice) == 0);
    return 0;
}
