/* fuzz_yaml - any bytes as a YAML document
 *
 * What is accepted is a JSON tree: its dump parses to the same tree.
 *
 * SPDX-License-Identifier: MIT */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/scoped.h"
#include "common/yaml.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool truth)
{
    if (!truth)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    err e = {0};
    SCOPED(json_doc_destroy) json_doc *doc = yaml_parse((const char *)data, size, "fuzz", &e);
    if (doc == NULL) {
        must(e.code == ERR_CONFIG && e.text[0] != '\0');
        return 0;
    }
    json_cursor root = json_root(doc);
    must(json_fail(&root, &e, "here") == -1);
    SCOPED(scoped_free) char *text = json_dump(root.value);
    SCOPED(json_destroy) json *again = json_parse_tree(text, strlen(text), "again", &e);
    must(again != NULL && json_equal(root.value, again));
    return 0;
}
