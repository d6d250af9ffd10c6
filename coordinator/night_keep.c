/* night_keep - what is kept of earlier nights
 *
 * A run is removed with the texts that only it stands on: those of its closure less those of every other
 * run's closure. Folders go last: a kill between leaves a folder that the next night removes.
 *
 * SPDX-License-Identifier: MIT */
#include "coordinator/night_keep.h"

#include <stdlib.h>
#include <string.h>

#include "common/file.h"
#include "common/scoped.h"
#include "common/xalloc.h"
#include "reports/closure.h"
#include "store/prune.h"
#include "store/redact.h"
#include "store/run.h"

enum { MIB = 1024 * 1024, REWRITE_SHARE = 4 /* of the file unused: it is rewritten */ };

/* ---- the rule ---- */

void night_keep_plan(const night_config *rules, const night_list *nights, const bool *published,
                     night_fate *fates)
{
    int64_t good = 0;
    bool is_old = false; /* before what a person accepted */
    for (size_t i = 0; i < nights->count; i++) {
        const night_row *row = &nights->rows[i];
        const bool is_good = row->verdict == NIGHT_GOOD, is_last = is_good && good == 0;
        const bool is_needed = is_good && !is_old && good < rules->window;
        const bool untouched = published[i] || is_last || row->verdict == NIGHT_OPEN;
        fates[i] = (night_fate){.fixed = untouched || is_needed};
        fates[i].goes = !fates[i].fixed && (int64_t)i >= rules->keep_nights;
        fates[i].pack_goes = !untouched && (int64_t)i >= rules->keep_packs;
        good += is_good ? 1 : 0;
        is_old = is_old || (is_good && row->accepted);
    }
}

/* ---- runs and their texts ---- */

/* What one job removes. */
typedef struct removal {
    const night_row *const *nights;
    size_t count;
    int64_t texts; /* that went */
} removal;

static bool is_named(const removal *r, const char *run)
{
    for (size_t i = 0; i < r->count; i++) {
        const night_row *row = r->nights[i];
        if ((row->run && strcmp(row->run, run) == 0) ||
            (row->again && strcmp(row->again, run) == 0))
            return true;
    }
    return false;
}

static int by_name(const void *a, const void *b)
{
    const closure_row *x = a, *y = b;
    return memcmp(x->name.bytes, y->name.bytes, HASH_SIZE);
}

/* What `all` has and `kept`, sorted, has not. Caller frees. */
static hash *only_in(const closure *all, closure *kept, size_t *count)
{
    hash *out = xcalloc(all->count + 1, sizeof *out);
    if (kept->count > 1)
        qsort(kept->rows, kept->count, sizeof *kept->rows, by_name);
    *count = 0;
    for (size_t i = 0; i < all->count; i++)
        if (!kept->count ||
            !bsearch(&all->rows[i], kept->rows, kept->count, sizeof *kept->rows, by_name))
            out[(*count)++] = all->rows[i].name;
    return out;
}

/* What a record that may hold a key names was not looked up: then nobody knows what is still needed. */
static bool is_known(const closure *kept)
{
    for (size_t i = 0; i < kept->count; i++)
        if (kept->rows[i].withheld && strcmp(kept->rows[i].withheld, CLOSURE_KEY) == 0)
            return false;
    return true;
}

static int remove_runs(store_tx *tx, void *arg, err *e)
{
    removal *r = arg;
    SCOPED(run_list_fini) run_list runs = {0};
    SCOPED(closure_fini) closure gone = {0};
    SCOPED(closure_fini) closure kept = {0};
    if (run_list_read(tx, &runs, e))
        return -1;
    for (size_t i = 0; i < runs.count; i++)
        if (closure_read(tx, runs.rows[i].id, NULL, is_named(r, runs.rows[i].id) ? &gone : &kept,
                         e))
            return -1;
    for (size_t i = 0; i < runs.count; i++)
        if (is_named(r, runs.rows[i].id) && run_delete(tx, runs.rows[i].id, e))
            return -1;
    if (!is_known(&kept))
        return 0;
    size_t count;
    SCOPED(scoped_free) hash *names = only_in(&gone, &kept, &count);
    return prune_artifacts(tx, names, count, &r->texts, e);
}

/* ---- folders ---- */

/* Nothing outside the series' own folder is ever removed, whatever a database says. */
static bool is_below(const char *folder, const char *path)
{
    const size_t size = strlen(folder);
    return strncmp(path, folder, size) == 0 && path[size] == '/' && path[size + 1] != '\0' &&
           !strstr(path + size, "/..");
}

static int remove_folder(const night_config *rules, const night_row *row, const char *part,
                         int64_t *count, err *e)
{
    SCOPED(scoped_free) char *path = part ? file_join(row->folder, part) : xstrdup(row->folder);
    if (!is_below(rules->out, path) || !file_exists(path))
        return 0;
    if (file_remove_tree(path, e))
        return -1;
    (*count)++;
    return 0;
}

/* ---- applying ---- */

typedef struct keeping {
    const night_config *rules;
    store *db;
    night_list nights;
    bool *published;
    night_fate *fates;
    night_kept *out;
} keeping;

static void keeping_fini(keeping *k)
{
    night_list_fini(&k->nights);
    free(k->published);
    free(k->fates);
    store_destroy(&k->db);
}

static int read_nights(store_tx *tx, void *arg, err *e)
{
    keeping *k = arg;
    return night_list_read(tx, k->rules->name, &k->nights, e);
}

static int read_size(store_tx *tx, void *arg, err *e)
{
    return prune_size_read(tx, arg, e);
}

static int make_plan(keeping *k, err *e)
{
    if (store_run(k->db, read_nights, k, e))
        return -1;
    k->published = xcalloc(k->nights.count + 1, sizeof *k->published);
    k->fates = xcalloc(k->nights.count + 1, sizeof *k->fates);
    for (size_t i = 0; i < k->nights.count; i++) {
        SCOPED(scoped_free) char *mark = file_join(k->nights.rows[i].folder, NIGHT_PUBLISHED);
        k->published[i] = file_exists(mark);
    }
    night_keep_plan(k->rules, &k->nights, k->published, k->fates);
    return 0;
}

static int remove_nights(keeping *k, const night_row *const *nights, size_t count, err *e)
{
    removal job = {.nights = nights, .count = count};
    bool any = false;
    for (size_t i = 0; i < count; i++)
        any = any || nights[i]->run || nights[i]->again;
    if (any && store_run(k->db, remove_runs, &job, e))
        return -1;
    k->out->texts += job.texts;
    for (size_t i = 0; i < count; i++)
        if (remove_folder(k->rules, nights[i], NULL, &k->out->nights, e))
            return -1;
    return 0;
}

static int remove_planned(keeping *k, err *e)
{
    SCOPED(scoped_free)
    const night_row **going = xcalloc(k->nights.count + 1, sizeof *going);
    size_t count = 0;
    for (size_t i = 0; i < k->nights.count; i++) {
        if (k->fates[i].goes)
            going[count++] = &k->nights.rows[i];
        else if (k->fates[i].pack_goes &&
                 remove_folder(k->rules, &k->nights.rows[i], NIGHT_PACK, &k->out->packs, e))
            return -1;
    }
    return remove_nights(k, going, count, e);
}

/* More nights go, the oldest first, while the pages in use are more than may be. */
static int make_room(keeping *k, prune_size *size, err *e)
{
    const int64_t most = k->rules->keep_db_mib * MIB;
    for (size_t i = k->nights.count; i > 0 && size->file - size->unused > most; i--) {
        const night_row *row = &k->nights.rows[i - 1];
        if (k->fates[i - 1].fixed || k->fates[i - 1].goes || (!row->run && !row->again))
            continue;
        if (remove_nights(k, &row, 1, e) || store_run(k->db, read_size, size, e))
            return -1;
    }
    k->out->too_large = size->file - size->unused > most;
    return 0;
}

int night_keep_apply(const night_config *rules, const char *path, night_kept *out, err *e)
{
    SCOPED(keeping_fini) keeping k = {.rules = rules, .out = out};
    prune_size size = {0};
    *out = (night_kept){0};
    k.db = store_open(path, STORE_OWN, e);
    if (!k.db || make_plan(&k, e) || remove_planned(&k, e) ||
        store_run(k.db, read_size, &size, e) || make_room(&k, &size, e))
        return -1;
    store_destroy(&k.db);
    out->bytes = size.file - size.unused;
    if (size.unused * REWRITE_SHARE > size.file || size.file > rules->keep_db_mib * MIB)
        return size.unused ? redact_compact(path, e) : 0;
    out->bytes = size.file;
    return 0;
}
