/* fuzz_claims - any bytes as a result file of another program
 *
 * What is accepted gives rows that the store takes: a speedup only of what is correct, or a reason.
 *
 * SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "common/buf.h"
#include "common/scoped.h"
#include "reports/claimed.h"
#include "reports/claims.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MAX = 16 * 1024 * 1024, SHOWN_MAX = 200 };

static void must(bool truth)
{
    if (!truth)
        abort();
}

static void read_as(const char *path, const char *text, size_t size)
{
    err e = {0};
    SCOPED(claims_destroy) claims *found = claims_create();
    if (claims_read(found, path, NULL, text, size, &e) < 0) {
        must((e.code == ERR_CONFIG || e.code == ERR_LIMIT) && e.text[0] != '\0');
        return;
    }
    for (size_t i = 0; i < found->count; i++) {
        const claim_row *row = &found->rows[i];
        must(row->entrant != NULL && row->problem != NULL && row->sample >= 0);
        must(isnan(row->speedup) ? row->reason != NULL : row->correct && row->speedup > 0);
    }
    SCOPED(buf_fini) buf out = {0};
    buf_init(&out, MAX);
    if (found->count <= SHOWN_MAX) /* places cost a bootstrap */
        claimed_markdown(found->rows, found->count, &out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    read_as("folder/results.csv", (const char *)data, size);
    read_as("folder/results.json", (const char *)data, size);
    return 0;
}
