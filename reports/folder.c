/* folder - every file under a folder
 *
 * SPDX-License-Identifier: MIT */
#include "reports/folder.h"

#include <errno.h>
#include <fts.h>
#include <stdlib.h>
#include <string.h>

#include "common/file.h"
#include "common/scoped.h"
#include "common/xalloc.h"

static void close_walk(FTS **walk)
{
    if (*walk != NULL)
        fts_close(*walk);
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static int take(folder_list *out, const FTSENT *at, size_t prefix, err *e)
{
    switch (at->fts_info) {
    case FTS_D:
    case FTS_DP:
        return 0;
    case FTS_F:
        out->paths = xreallocarray(out->paths, out->count + 1, sizeof *out->paths);
        out->paths[out->count++] = xstrdup(at->fts_path + prefix);
        return 0;
    case FTS_DNR:
    case FTS_ERR:
    case FTS_NS:
        return err_errno(e, at->fts_errno, "%s", at->fts_path);
    default:
        return err_set(e, ERR_CONFIG, "%s is neither a file nor a folder", at->fts_path + prefix);
    }
}

int folder_read(const char *path, folder_list *out, err *e)
{
    SCOPED(scoped_free) char *root = xstrdup(path);
    for (size_t size = strlen(root); size > 1 && root[size - 1] == '/'; size--)
        root[size - 1] = '\0';
    char *const roots[] = {root, NULL};
    SCOPED(close_walk) FTS *walk = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
    if (walk == NULL)
        return err_errno(e, errno, "%s", path);
    for (FTSENT *at; (at = fts_read(walk)) != NULL;)
        if (take(out, at, strlen(root) + 1, e) < 0)
            return -1;
    if (out->count > 1)
        qsort(out->paths, out->count, sizeof *out->paths, by_text);
    return 0;
}

bool folder_has(const folder_list *self, const char *path)
{
    return self->count > 0 &&
           bsearch(&path, self->paths, self->count, sizeof *self->paths, by_text) != NULL;
}

void folder_list_fini(folder_list *self)
{
    for (size_t i = 0; i < self->count; i++)
        free(self->paths[i]);
    free(self->paths);
    *self = (folder_list){0};
}

int folder_text(const char *folder, const char *path, size_t max, buf *out, err *e)
{
    SCOPED(scoped_free) char *whole = file_join(folder, path);
    buf_init(out, max);
    return file_read(whole, out, e);
}
