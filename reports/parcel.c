/* parcel - a run's data as files: data/TABLE.jsonl and blobs/HASH
 *
 * SPDX-License-Identifier: MIT */
#include "reports/parcel.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/file.h"
#include "common/json.h"
#include "common/scoped.h"
#include "common/xalloc.h"
#include "reports/closure.h"
#include "reports/folder.h"
#include "reports/rows.h"
#include "reports/text.h"
#include "store/artifact.h"
#include "store/dump.h"
#include "store/run.h"

int parcel_put(const char *folder, const char *path, const buf *text, err *e)
{
    SCOPED(scoped_free) char *whole = file_join(folder, path);
    char *slash = strrchr(whole, '/');
    *slash = '\0';
    int made = file_mkdirs(whole, e);
    *slash = '/';
    if (made < 0)
        return -1;
    if (text->overflow)
        return err_set(e, ERR_LIMIT, "%s is larger than %zu bytes", path, text->max);
    SCOPED(scoped_fclose) FILE *file = fopen(whole, "wbx");
    if (file == NULL || fwrite(buf_text(text), 1, text->size, file) != text->size ||
        fflush(file) != 0)
        return err_errno(e, errno, "write %s", whole);
    return 0;
}

/* ---- writing ---- */

typedef struct writing {
    const char *asked, *folder;
    keyscan_list known;
    parcel_counts *counts;
} writing;

static int write_table(store_tx *tx, const writing *w, size_t table, err *e)
{
    SCOPED(scoped_free) char *path = xasprintf(PARCEL_DATA "/%s.jsonl", dump_name(table));
    SCOPED(buf_fini) buf raw = {0};
    SCOPED(buf_fini) buf clean = {0};
    buf_init(&raw, TEXT_REPORT_MAX);
    buf_init(&clean, TEXT_REPORT_MAX);
    if (dump_write(tx, table, w->counts->run, &raw, e) < 0)
        return -1;
    w->counts->masked += keyscan_mask(w->known, buf_text(&raw), raw.size, &clean);
    return parcel_put(w->folder, path, &clean, e);
}

static int write_blob(store_tx *tx, const writing *w, const closure_row *row, buf *index, err *e)
{
    char hex[HASH_HEX];
    hash_hex(&row->name, hex);
    SCOPED(json_destroy) json *line = json_new_object();
    json_set_str(line, "hash", hex);
    json_set_int(line, "size", row->size);
    if (row->withheld != NULL)
        json_set_str(line, "withheld", row->withheld);
    SCOPED(scoped_free) char *text = json_dump(line);
    buf_printf(index, "%s\n", text);
    w->counts->blobs++;
    w->counts->withheld += row->withheld != NULL ? 1 : 0;
    if (row->withheld != NULL)
        return 0;
    SCOPED(scoped_free) char *path = xasprintf(PARCEL_BLOBS "/%s", hex);
    SCOPED(buf_fini) buf bytes = {0};
    buf_init(&bytes, ARTIFACT_MAX);
    return artifact_get(tx, &row->name, &bytes, e) < 0 ? -1
                                                       : parcel_put(w->folder, path, &bytes, e);
}

static int write_blobs(store_tx *tx, const writing *w, err *e)
{
    SCOPED(closure_fini) closure all = {0};
    SCOPED(buf_fini) buf index = {0};
    buf_init(&index, TEXT_REPORT_MAX);
    if (closure_read(tx, w->counts->run, w->known, &all, e) < 0)
        return -1;
    for (size_t i = 0; i < all.count; i++)
        if (write_blob(tx, w, &all.rows[i], &index, e) < 0)
            return -1;
    return parcel_put(w->folder, PARCEL_INDEX, &index, e);
}

static int write_fn(store_tx *tx, void *arg, err *e)
{
    const writing *w = arg;
    SCOPED(run_row_fini) run_row run = {0};
    *w->counts = (parcel_counts){0};
    if (run_find(tx, w->asked, &run, e) < 0)
        return -1;
    snprintf(w->counts->run, sizeof w->counts->run, "%s", run.id);
    for (size_t i = 0; dump_name(i) != NULL; i++)
        if (write_table(tx, w, i, e) < 0)
            return -1;
    return write_blobs(tx, w, e);
}

int parcel_write(store *db, const char *run, keyscan_list known, const char *folder,
                 parcel_counts *out, err *e)
{
    writing w = {run, folder, known, out};
    return store_run(db, write_fn, &w, e);
}

/* ---- reading ---- */

typedef struct reading {
    const char *folder;
    parcel_counts *counts;
} reading;

static int read_blob(store_tx *tx, const char *folder, const json *row, err *e)
{
    const char *hex = rows_text(row, "hash");
    int64_t size = rows_int(row, "size");
    hash name, found;
    if (hex == NULL || !hash_parse(hex, &name) || size < 0)
        return err_set(e, ERR_CONFIG, PARCEL_INDEX ": an artifact without hash or size");
    if (rows_text(row, "withheld") != NULL)
        return dump_blob_absent(tx, &name, size, e);
    SCOPED(scoped_free) char *path = xasprintf(PARCEL_BLOBS "/%s", hex);
    SCOPED(buf_fini) buf bytes = {0};
    if (folder_text(folder, path, ARTIFACT_MAX, &bytes, e) < 0 ||
        artifact_put(tx, buf_text(&bytes), bytes.size, &found, e) < 0)
        return -1;
    return hash_equal(&name, &found)
               ? 0
               : err_set(e, ERR_CONFIG, "%s: its bytes do not have the hash of its name", path);
}

static int read_blobs(store_tx *tx, const reading *r, err *e)
{
    SCOPED(buf_fini) buf text = {0};
    if (folder_text(r->folder, PARCEL_INDEX, TEXT_REPORT_MAX, &text, e) < 0)
        return -1;
    SCOPED(rows_destroy) rows *index = rows_create(buf_text(&text), e);
    if (index == NULL)
        return err_wrap(e, PARCEL_INDEX);
    for (size_t i = 0; i < index->count; i++) {
        r->counts->blobs++;
        r->counts->withheld += rows_text(index->all[i], "withheld") != NULL ? 1 : 0;
        if (read_blob(tx, r->folder, index->all[i], e) < 0)
            return -1;
    }
    return 0;
}

static int read_table(store_tx *tx, const reading *r, size_t table, err *e)
{
    SCOPED(scoped_free) char *path = xasprintf(PARCEL_DATA "/%s.jsonl", dump_name(table));
    SCOPED(buf_fini) buf text = {0};
    if (folder_text(r->folder, path, TEXT_REPORT_MAX, &text, e) < 0)
        return -1;
    return dump_read(tx, table, buf_text(&text), e) < 0 ? err_wrap(e, "%s", path) : 0;
}

/* The one run that a parcel is of. */
static int name_run(store_tx *tx, const reading *r, err *e)
{
    SCOPED(run_list_fini) run_list runs = {0};
    if (run_list_read(tx, &runs, e) < 0)
        return -1;
    if (runs.count != 1)
        return err_set(e, ERR_CONFIG, PARCEL_DATA "/run.jsonl: want one run, there are %zu",
                       runs.count);
    snprintf(r->counts->run, sizeof r->counts->run, "%s", runs.rows[0].id);
    return 0;
}

static int read_fn(store_tx *tx, void *arg, err *e)
{
    const reading *r = arg;
    if (read_blobs(tx, r, e) < 0)
        return -1;
    for (size_t i = 0; dump_name(i) != NULL; i++)
        if (read_table(tx, r, i, e) < 0)
            return -1;
    return name_run(tx, r, e);
}

int parcel_open(const char *folder, parcel *out, err *e)
{
    *out = (parcel){0};
    char place[] = "/tmp/ce-evidence-XXXXXX";
    if (mkdtemp(place) == NULL)
        return err_errno(e, errno, "%s", place);
    memcpy(out->folder, place, sizeof place);
    SCOPED(scoped_free) char *path = file_join(out->folder, "ce.db");
    reading r = {folder, &out->counts};
    out->db = store_open(path, STORE_OWN, e);
    if (out->db != NULL && store_run(out->db, read_fn, &r, e) == 0)
        return 0;
    parcel_close(out);
    return -1;
}

void parcel_close(parcel *self)
{
    store_destroy(&self->db);
    if (self->folder[0] != '\0')
        file_remove_tree(self->folder, NULL);
    self->folder[0] = '\0';
}
