/* fuzz_checkout - any bytes as what `ce-node checkout` printed
 *
 * What is accepted has a row for each file and a problem for each supported one; what is not has a sentence.
 *
 * SPDX-License-Identifier: MIT */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/scoped.h"
#include "suites/kernelbench.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool truth)
{
    if (!truth)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    err e = {0};
    SCOPED(kernelbench_destroy)
    kernelbench *k = kernelbench_read((const char *)data, size, "zero", &e);
    if (k == NULL) {
        must(e.code != ERR_NONE && e.text[0] != '\0');
        return 0;
    }
    size_t supported = 0;
    for (size_t i = 0; i < k->file_count; i++) {
        const kernelbench_file *f = &k->files[i];
        supported += f->supported ? 1 : 0;
        must(f->id != NULL && f->title != NULL && f->supported == (f->is != NULL));
    }
    must(supported == k->problems->problem_count);
    return 0;
}
