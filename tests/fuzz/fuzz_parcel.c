/* fuzz_parcel - any bytes as the data of an evidence pack
 *
 * The first byte chooses the table that the rest is rows of. What is refused is refused with words; what
 * looks like a key does not get through a mask; pairs are judged or are none.
 *
 * SPDX-License-Identifier: MIT */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/file.h"
#include "common/scoped.h"
#include "common/xalloc.h"
#include "reports/keyscan.h"
#include "reports/retime.h"
#include "reports/rows.h"
#include "store/dump.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char place[] = "/tmp/ce-fuzz-XXXXXX";
static store *db;

static void must(bool truth)
{
    if (!truth)
        abort();
}

static void close_db(void)
{
    store_destroy(&db);
    file_remove_tree(place, NULL);
}

static void open_db(void)
{
    must(mkdtemp(place) != NULL);
    SCOPED(scoped_free) char *path = file_join(place, "ce.db");
    db = store_open(path, STORE_OWN, NULL);
    must(db != NULL && atexit(close_db) == 0);
}

typedef struct reading {
    size_t table;
    const char *text;
} reading;

/* Fails always, so that nothing is kept for the next input. */
static int read_fn(store_tx *tx, void *arg, err *e)
{
    const reading *r = arg;
    if (dump_read(tx, r->table, r->text, e) < 0)
        must(e->text[0] != '\0' && e->code != ERR_NONE);
    return err_set(e, ERR_CONFIG, "undone");
}

static size_t tables(void)
{
    size_t n = 0;
    while (dump_name(n) != NULL)
        n++;
    return n;
}

static void mask(const char *text, size_t size)
{
    static const char *const known[] = {"known-secret", NULL};
    SCOPED(buf_fini) buf once = {0};
    buf_init(&once, 16 * size + 64);
    size_t found = keyscan_mask(known, text, size, &once);
    must(!once.overflow && (found > 0) == keyscan_in(known, text, size));
    must(!keyscan_in(known, buf_text(&once), once.size));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    if (db == NULL)
        open_db();
    SCOPED(scoped_free) char *text = xstrndup((const char *)data + 1, size - 1);
    reading r = {data[0] % tables(), text};
    err e = {0};
    must(store_run(db, read_fn, &r, &e) < 0);
    SCOPED(rows_destroy) rows *lines = rows_create(text, NULL);
    for (size_t i = 0; lines != NULL && i < lines->count; i++) {
        retime again;
        if (retime_read(lines->all[i], &again))
            must(again.pairs <= PAIRED_MAX);
    }
    mask((const char *)data + 1, size - 1);
    return 0;
}
