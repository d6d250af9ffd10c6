/* closure - every artifact that a run stands on
 *
 * SPDX-License-Identifier: MIT */
#include "reports/closure.h"

#include <stdlib.h>
#include <string.h>

#include "common/scoped.h"
#include "common/xalloc.h"
#include "store/artifact.h"
#include "store/dump.h"

static void add(closure *out, const closure_row *row)
{
    out->rows = xreallocarray(out->rows, out->count + 1, sizeof *out->rows);
    out->rows[out->count++] = *row;
}

static bool of_hex(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
}

static int add_named(store_tx *tx, const char *hex, keyscan_list known, closure *out, err *e);

/* Names of artifacts are quoted strings of 64 digits. */
static int follow(store_tx *tx, const buf *text, keyscan_list known, closure *out, err *e)
{
    const char *p = buf_text(text);
    for (const char *quote; (quote = strchr(p, '"')) != NULL; p = quote + 1) {
        size_t digits = 0;
        while (digits < HASH_HEX && of_hex(quote[1 + digits]))
            digits++;
        if (digits != HASH_HEX - 1 || quote[HASH_HEX] != '"')
            continue;
        char hex[HASH_HEX] = "";
        memcpy(hex, quote + 1, HASH_HEX - 1);
        if (add_named(tx, hex, known, out, e) < 0)
            return -1;
    }
    return 0;
}

/* One artifact; with `links`, also those that it names. */
static int add_blob(store_tx *tx, const dump_blob *blob, keyscan_list known, closure *out, err *e)
{
    closure_row row = {.name = blob->name};
    bool here;
    SCOPED(buf_fini) buf text = {0};
    buf_init(&text, ARTIFACT_MAX);
    if (dump_blob_size(tx, &blob->name, &row.size, &here, e) < 0)
        return -1;
    if (row.size < 0)
        return 0; /* a hash of something else */
    if (here && artifact_get(tx, &blob->name, &text, e) < 0)
        return -1;
    if (!here)
        row.withheld = CLOSURE_REDACTED;
    else if (keyscan_in(known, buf_text(&text), text.size))
        row.withheld = CLOSURE_KEY;
    add(out, &row);
    return blob->links && row.withheld == NULL ? follow(tx, &text, known, out, e) : 0;
}

static int add_named(store_tx *tx, const char *hex, keyscan_list known, closure *out, err *e)
{
    dump_blob blob = {.links = false};
    return hash_parse(hex, &blob.name) ? add_blob(tx, &blob, known, out, e) : 0;
}

static int by_name(const void *a, const void *b)
{
    const closure_row *x = a, *y = b;
    return memcmp(x->name.bytes, y->name.bytes, HASH_SIZE);
}

static void sort_once(closure *list)
{
    size_t kept = 0;
    if (list->count > 1)
        qsort(list->rows, list->count, sizeof *list->rows, by_name);
    for (size_t i = 0; i < list->count; i++)
        if (kept == 0 || by_name(&list->rows[kept - 1], &list->rows[i]) != 0)
            list->rows[kept++] = list->rows[i];
    list->count = kept;
}

int closure_read(store_tx *tx, const char *run, keyscan_list known, closure *out, err *e)
{
    SCOPED(dump_blob_list_fini) dump_blob_list named = {0};
    if (dump_blobs(tx, run, &named, e) < 0)
        return -1;
    for (size_t i = 0; i < named.count; i++)
        if (add_blob(tx, &named.rows[i], known, out, e) < 0)
            return -1;
    sort_once(out);
    return 0;
}

void closure_fini(closure *self)
{
    free(self->rows);
    *self = (closure){0};
}
