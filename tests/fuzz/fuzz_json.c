/* fuzz_json - any bytes as a JSON document
 *
 * What parses must survive dump and parse unchanged, and every value must have a place.
 *
 * SPDX-License-Identifier: MIT */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/json.h"
#include "common/scoped.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool truth)
{
    if (!truth)
        abort();
}

static void complain_everywhere(const json_cursor *c)
{
    err e;
    char pointer[256];
    json_pointer(c, pointer, sizeof pointer);
    must(json_fail(c, &e, "here") == -1 && e.code == ERR_CONFIG);
    size_t n = json_size(c->value);
    for (size_t i = 0; i < n && i < 20; i++) {
        json_cursor inner;
        if (json_typeof(c->value) == JSON_TYPE_ARRAY)
            json_element(c, i, &inner);
        else
            json_entry(c, i, &inner);
        complain_everywhere(&inner);
    }
}

static void round_trip(const json *root, char *dump(const json *))
{
    SCOPED(scoped_free) char *text = dump(root);
    err e;
    SCOPED(json_destroy) json *again = json_parse_tree(text, strlen(text), "again", &e);
    must(again != NULL && json_equal(root, again));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    err e = {0};
    SCOPED(json_doc_destroy) json_doc *doc = json_parse((const char *)data, size, "fuzz", &e);
    if (doc == NULL) {
        must(e.code == ERR_CONFIG && e.text[0] != '\0');
        return 0;
    }
    json_cursor root = json_root(doc);
    if (size < 4096)
        complain_everywhere(&root);
    round_trip(root.value, json_dump);
    round_trip(root.value, json_dump_pretty);
    return 0;
}
