/* claims - results of other programs, read from their files
 *
 * SPDX-License-Identifier: MIT */
#include "reports/claims.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/file.h"
#include "common/intern.h"
#include "common/scoped.h"
#include "common/str.h"
#include "common/xalloc.h"
#include "reports/folder.h"
#include "reports/import.h"

enum { DEPTH_MAX = 1 }; /* folders of result files below the one that is named */

claims *claims_create(void)
{
    claims *self = xcalloc(1, sizeof *self);
    self->texts = intern_create();
    return self;
}

void claims_destroy(claims **self)
{
    if (*self == NULL)
        return;
    intern_destroy(&(*self)->texts);
    free((*self)->rows);
    free(*self);
    *self = NULL;
}

/* ---- rows ---- */

/* Rows of one entrant and problem usually stand together: looked for from the end. */
static int64_t next_sample(const claims *self, const claim_row *row)
{
    for (size_t i = self->count; i > 0; i--) {
        const claim_row *other = &self->rows[i - 1];
        if (!hash_equal(&other->content, &row->content))
            break;
        if (strcmp(other->entrant, row->entrant) == 0 && strcmp(other->problem, row->problem) == 0)
            return other->sample + 1;
    }
    return 0;
}

void claims_add(const claims_source *from, const char *format, const claim_row *row)
{
    claims *self = from->into;
    claim_row kept = *row;
    const char **texts[] = {&kept.entrant, &kept.problem,  &kept.detail,
                            &kept.reason,  &kept.baseline, &kept.device};
    kept.file = intern_text(self->texts, from->path);
    kept.content = from->content;
    kept.format = intern_text(self->texts, format);
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        *texts[i] = intern_text(self->texts, *texts[i]);
    if (kept.sample < 0)
        kept.sample = next_sample(self, &kept);
    if (self->count == self->room) {
        self->room = 2 * self->room + 64;
        self->rows = xreallocarray(self->rows, self->room, sizeof *self->rows);
    }
    self->rows[self->count++] = kept;
}

/* ---- texts ---- */

static int unknown_format(const char *path, err *e)
{
    return err_set(e, ERR_CONFIG,
                   "%s: no format that is known: results.csv of cuda-engine or of ce, "
                   "eval_results.json of KernelBench, a result file of hotkernel",
                   path);
}

static int read_csv(const claims_source *from, const char *text, size_t size, err *e)
{
    SCOPED(csv_destroy) csv *table = csv_create(text, size, from->path, e);
    if (table == NULL)
        return -1;
    if (import_cuda_engine_is(table))
        return import_cuda_engine(from, table, e);
    if (import_ce_is(table))
        return import_ce(from, table, e);
    return unknown_format(from->path, e);
}

static int read_json(const claims_source *from, const char *text, size_t size, err *e)
{
    SCOPED(json_doc_destroy) json_doc *doc = json_parse(text, size, from->path, e);
    if (doc == NULL)
        return -1;
    const json_cursor root = json_root(doc);
    if (import_kernelbench_is(root.value))
        return import_kernelbench(from, &root, e);
    if (import_hotkernel_is(root.value))
        return import_hotkernel(from, &root, e);
    return unknown_format(from->path, e);
}

/* The name of the folder that the file lies in. */
static char *folder_name(const char *path)
{
    const char *end = strrchr(path, '/');
    if (end == NULL || end == path)
        return xstrdup("unnamed");
    const char *start = end;
    while (start > path && start[-1] != '/')
        start--;
    return xstrndup(start, (size_t)(end - start));
}

int claims_read(claims *self, const char *path, const char *entrant, const char *text, size_t size,
                err *e)
{
    SCOPED(scoped_free) char *folder = folder_name(path);
    const claims_source from = {.into = self,
                                .path = path,
                                .entrant = entrant != NULL ? entrant : folder,
                                .content = hash_of(text, size)};
    return str_ends(path, ".csv") ? read_csv(&from, text, size, e)
                                  : read_json(&from, text, size, e);
}

/* ---- files and folders ---- */

static int load_file(claims *self, const char *path, const char *entrant, err *e)
{
    SCOPED(buf_fini) buf text = {0};
    buf_init(&text, JSON_SIZE_MAX);
    if (file_read(path, &text, e) < 0)
        return -1;
    return claims_read(self, path, entrant, buf_text(&text), text.size, e);
}

static size_t depth_of(const char *path)
{
    size_t n = 0;
    for (; *path != '\0'; path++)
        n += *path == '/' ? 1 : 0;
    return n;
}

static int load_results(claims *self, const char *folder, const char *entrant, err *e)
{
    SCOPED(folder_list_fini) folder_list list = {0};
    size_t found = 0;
    if (folder_read(folder, &list, e) < 0)
        return -1;
    for (size_t i = 0; i < list.count; i++) {
        if (!str_ends(list.paths[i], ".json") || depth_of(list.paths[i]) > DEPTH_MAX)
            continue;
        SCOPED(scoped_free) char *path = file_join(folder, list.paths[i]);
        found++;
        if (load_file(self, path, entrant, e) < 0)
            return -1;
    }
    if (found > 0)
        return 0;
    return err_set(e, ERR_CONFIG,
                   "%s: holds no results.csv, no eval_results.json and no result file (*.json)",
                   folder);
}

int claims_load(claims *self, const char *path, const char *entrant, err *e)
{
    static const char *const known[] = {"results.csv", "eval_results.json"};
    struct stat facts;
    if (stat(path, &facts) < 0)
        return err_set(e, ERR_NOT_FOUND, "%s: there is no such file or folder", path);
    if (!S_ISDIR(facts.st_mode))
        return load_file(self, path, entrant, e);
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        SCOPED(scoped_free) char *file = file_join(path, known[i]);
        if (file_exists(file))
            return load_file(self, file, entrant, e);
    }
    return load_results(self, path, entrant, e);
}
