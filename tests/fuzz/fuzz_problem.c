/* fuzz_problem - any bytes as the terms of a problem, in YAML and in canonical JSON
 *
 * What is accepted has a canonical text that reads back to itself.
 *
 * SPDX-License-Identifier: MIT */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/scoped.h"
#include "common/yaml.h"
#include "suites/contract.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool truth)
{
    if (!truth)
        abort();
}

static void check_contract(const contract *c, const err *e)
{
    if (c == NULL) {
        must(e->code == ERR_CONFIG && e->text[0] != '\0');
        return;
    }
    SCOPED(scoped_free) char *text = contract_text(c);
    err ignored;
    SCOPED(contract_destroy)
    contract *again = contract_parse(text, strlen(text), "again", &ignored);
    must(again != NULL);
    SCOPED(scoped_free) char *second = contract_text(again);
    must(strcmp(text, second) == 0);
    for (size_t i = 0; i < c->input_count + c->output_count; i++) {
        int64_t count = -1;
        must(contract_elements(c, i, &c->benchmark, &count, &ignored) == 0 && count >= 0);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    err e = {0};
    SCOPED(contract_destroy) contract *plain = contract_parse((const char *)data, size, "j", &e);
    check_contract(plain, &e);
    SCOPED(json_doc_destroy) json_doc *doc = yaml_parse((const char *)data, size, "y", &e);
    if (doc == NULL)
        return 0;
    json_cursor root = json_root(doc);
    SCOPED(contract_destroy) contract *c = contract_read_problem(&root, "p", &e);
    check_contract(c, &e);
    return 0;
}
