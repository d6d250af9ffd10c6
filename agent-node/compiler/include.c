/* include - the CUDA headers a candidate may include
 *
 * SPDX-License-Identifier: MIT */
#include "agent-node/compiler/include.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/buf.h"
#include "common/file.h"
#include "common/scoped.h"
#include "common/xalloc.h"

enum { FILE_MAX = 64 * 1024 * 1024, LIST_MAX = 64 * 1024 * 1024, DEPTH_MAX = 32 };

/* real_folder resolves links of the folder and, where the headers themselves are links (a folder of
 * links into a toolkit), of the header that marks it: the sandbox allows files where they really are. */
static bool real_folder(const char *folder, char out[PATH_MAX])
{
    SCOPED(scoped_free) char *mark = file_join(folder, "cuda_fp16.h");
    if (realpath(mark, out) == NULL)
        return false;
    char *slash = strrchr(out, '/');
    if (slash == NULL || slash == out)
        return false;
    *slash = '\0';
    return true;
}

static void add(include_set *self, const char *folder)
{
    for (size_t i = 0; i < self->count; i++)
        if (strcmp(self->folders[i], folder) == 0)
            return;
    if (self->count < INCLUDE_MAX)
        self->folders[self->count++] = xstrdup(folder);
}

static bool add_real(include_set *self, const char *folder)
{
    char path[PATH_MAX];
    char cccl[PATH_MAX];
    if (!real_folder(folder, path))
        return false;
    add(self, path);
    SCOPED(scoped_free) char *inner = file_join(path, "cccl");
    struct stat s;
    if (realpath(inner, cccl) != NULL && stat(cccl, &s) == 0 && S_ISDIR(s.st_mode))
        add(self, cccl);
    return true;
}

static bool add_beside(include_set *self, const char *nvrtc_path)
{
    static const char *const beside[] = {"../include", "../../include",
                                         "../../cuda_runtime/include"};
    const char *slash = nvrtc_path != NULL ? strrchr(nvrtc_path, '/') : NULL;
    for (size_t i = 0; slash != NULL && i < sizeof beside / sizeof beside[0]; i++) {
        SCOPED(scoped_free)
        char *folder = xasprintf("%.*s/%s", (int)(slash - nvrtc_path), nvrtc_path, beside[i]);
        if (add_real(self, folder))
            return true;
    }
    return false;
}

int include_find(const char *const *given, size_t count, const char *nvrtc_path, include_set *out,
                 err *e)
{
    static const char *const usual[] = {"/usr/local/cuda/include", "/opt/ce-cuda/include"};
    *out = (include_set){0};
    for (size_t i = 0; i < count; i++) {
        if (add_real(out, given[i]))
            continue;
        include_fini(out);
        return err_set(e, ERR_UNAVAILABLE, "%s is no folder of CUDA headers (no cuda_fp16.h)",
                       given[i]);
    }
    if (out->count != 0 || add_beside(out, nvrtc_path))
        return 0;
    for (size_t i = 0; i < sizeof usual / sizeof usual[0]; i++)
        if (add_real(out, usual[i]))
            return 0;
    return err_set(e, ERR_UNAVAILABLE,
                   "no CUDA headers found: install the CUDA toolkit or run scripts/deps");
}

void include_fini(include_set *self)
{
    for (size_t i = 0; i < self->count; i++)
        free(self->folders[i]);
    *self = (include_set){0};
}

/* ---- content ---- */

static int add_file(const char *path, const char *name, buf *list, err *e)
{
    SCOPED(buf_fini) buf content;
    buf_init(&content, FILE_MAX);
    if (file_read(path, &content, e) != 0)
        return -1;
    hash h = hash_of(content.data, content.size);
    char hex[HASH_HEX];
    hash_hex(&h, hex);
    return buf_printf(list, "%s %s\n", hex, name) == 0
               ? 0
               : err_set(e, ERR_LIMIT, "%s: too many headers", path);
}

static int add_folder(const char *path, const char *name, int depth, buf *list, err *e);

static int add_entry(const char *folder, const char *name, const char *entry, int depth, buf *list,
                     err *e)
{
    SCOPED(scoped_free) char *path = file_join(folder, entry);
    SCOPED(scoped_free) char *inner = name[0] != '\0' ? file_join(name, entry) : xstrdup(entry);
    struct stat s;
    if (stat(path, &s) != 0)
        return errno == ENOENT ? 0 : err_errno(e, errno, "%s", path);
    if (S_ISDIR(s.st_mode))
        return add_folder(path, inner, depth + 1, list, e);
    return S_ISREG(s.st_mode) ? add_file(path, inner, list, e) : 0;
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static int add_folder(const char *path, const char *name, int depth, buf *list, err *e)
{
    struct dirent **entries = NULL;
    if (depth > DEPTH_MAX)
        return err_set(e, ERR_LIMIT, "%s: header folders nested too deeply", path);
    int count = scandir(path, &entries, NULL, by_name);
    if (count < 0)
        return err_errno(e, errno, "%s", path);
    int rc = 0;
    for (int i = 0; i < count; i++) {
        if (rc == 0 && entries[i]->d_name[0] != '.')
            rc = add_entry(path, name, entries[i]->d_name, depth, list, e);
        free(entries[i]);
    }
    free(entries);
    return rc;
}

int include_hash(const include_set *self, hash *out, err *e)
{
    SCOPED(buf_fini) buf list;
    buf_init(&list, LIST_MAX);
    for (size_t i = 0; i < self->count; i++) {
        buf_printf(&list, "folder %zu\n", i);
        if (add_folder(self->folders[i], "", 0, &list, e) != 0)
            return -1;
    }
    *out = hash_of(list.data, list.size);
    return 0;
}
