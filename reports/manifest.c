/* manifest - the list of all files of an evidence pack
 *
 * SPDX-License-Identifier: MIT */
#include "reports/manifest.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/file.h"
#include "common/scoped.h"
#include "common/xalloc.h"
#include "reports/folder.h"
#include "reports/text.h"

enum { FILES_MAX = 100 * 1000 * 1000, FILE_MAX = TEXT_REPORT_MAX };

struct manifest {
    json_doc *doc;
    hash own;
    folder_list listed; /* paths, in byte order */
};

/* ---- writing ---- */

static bool is_own(const char *path)
{
    return strcmp(path, MANIFEST_FILE) == 0 || strcmp(path, MANIFEST_SIGNATURE) == 0;
}

static int read_file(const char *folder, const char *path, buf *out, err *e)
{
    SCOPED(scoped_free) char *whole = file_join(folder, path);
    buf_init(out, FILE_MAX);
    return file_read(whole, out, e);
}

static int add_file(json *list, const char *folder, const char *path, err *e)
{
    char hex[HASH_HEX];
    hash content;
    int64_t size;
    SCOPED(scoped_free) char *whole = file_join(folder, path);
    if (hash_of_file(whole, &content, &size, e) < 0)
        return -1;
    hash_hex(&content, hex);
    json *row = json_new_object();
    json_set_str(row, "path", path);
    json_set_int(row, "size", size);
    json_set_str(row, "sha256", hex);
    json_append(list, &row);
    return 0;
}

int manifest_write(const char *folder, const json *about, err *e)
{
    SCOPED(folder_list_fini) folder_list files = {0};
    SCOPED(json_destroy) json *root = json_new_object();
    SCOPED(json_destroy) json *list = json_new_array();
    if (folder_read(folder, &files, e) < 0)
        return -1;
    json_set_str(root, "format", MANIFEST_FORMAT);
    for (json_iter it = {0}; json_next(about, &it);) {
        json *value = json_copy(it.value);
        json_set(root, it.key, &value);
    }
    for (size_t i = 0; i < files.count; i++)
        if (!is_own(files.paths[i]) && add_file(list, folder, files.paths[i], e) < 0)
            return -1;
    json_set(root, "files", &list);
    SCOPED(scoped_free) char *text = json_dump_pretty(root);
    SCOPED(scoped_free) char *path = file_join(folder, MANIFEST_FILE);
    return file_write(path, text, strlen(text), e);
}

/* ---- reading ---- */

/* Paths stay inside the folder, and come in order, each once. */
static int take_path(manifest *self, const json_cursor *at, err *e)
{
    json_cursor member;
    const char *path;
    if (json_member(at, "path", &member, e) < 0 || json_want_str(&member, &path, e) < 0)
        return -1;
    if (path[0] == '\0' || path[0] == '/' || strstr(path, "..") != NULL)
        return json_fail(&member, e, "\"%.64s\" is no path inside the pack", path);
    folder_list *l = &self->listed;
    if (l->count > 0 && strcmp(l->paths[l->count - 1], path) >= 0)
        return json_fail(&member, e, "\"%.64s\" is not in order, or there twice", path);
    l->paths = xreallocarray(l->paths, l->count + 1, sizeof *l->paths);
    l->paths[l->count++] = xstrdup(path);
    return 0;
}

static int check_file(const json_cursor *at, err *e)
{
    static const char *const keys[] = {"path", "size", "sha256", NULL};
    json_cursor size, sum;
    int64_t bytes;
    const char *hex;
    hash content;
    if (json_only_keys(at, keys, e) < 0 || json_member(at, "size", &size, e) < 0 ||
        json_want_int(&size, 0, INT64_MAX, &bytes, e) < 0 ||
        json_member(at, "sha256", &sum, e) < 0 || json_want_str(&sum, &hex, e) < 0)
        return -1;
    return hash_parse(hex, &content) ? 0 : json_fail(&sum, e, "want 64 hex digits");
}

static int read_document(manifest *self, err *e)
{
    json_cursor root = json_root(self->doc), format, files, file;
    const char *word;
    size_t n;
    if (json_member(&root, "format", &format, e) < 0 || json_want_str(&format, &word, e) < 0)
        return -1;
    if (strcmp(word, MANIFEST_FORMAT) != 0)
        return json_fail(&format, e, "\"%.32s\" is not %s", word, MANIFEST_FORMAT);
    if (json_member(&root, "files", &files, e) < 0 || json_want_array(&files, FILES_MAX, &n, e) < 0)
        return -1;
    for (size_t i = 0; i < n; i++) {
        json_element(&files, i, &file);
        if (check_file(&file, e) < 0 || take_path(self, &file, e) < 0)
            return -1;
    }
    return 0;
}

manifest *manifest_read(const char *folder, err *e)
{
    SCOPED(manifest_destroy) manifest *self = xcalloc(1, sizeof *self);
    SCOPED(buf_fini) buf text = {0};
    if (read_file(folder, MANIFEST_FILE, &text, e) < 0)
        return NULL;
    self->own = hash_of(buf_text(&text), text.size);
    self->doc = json_parse(buf_text(&text), text.size, MANIFEST_FILE, e);
    if (self->doc == NULL || read_document(self, e) < 0)
        return NULL;
    return TAKE(self);
}

void manifest_destroy(manifest **self)
{
    if (*self == NULL)
        return;
    json_doc_destroy(&(*self)->doc);
    folder_list_fini(&(*self)->listed);
    free(*self);
    *self = NULL;
}

const json *manifest_about(const manifest *self)
{
    return json_doc_root(self->doc);
}

const hash *manifest_hash(const manifest *self)
{
    return &self->own;
}

/* ---- checking ---- */

static int check_content(const json *row, const char *folder, size_t *findings, buf *out, err *e)
{
    const char *path = json_str(json_get(row, "path"), "");
    int64_t told = json_int(json_get(row, "size"), -1), size;
    char hex[HASH_HEX];
    hash content;
    SCOPED(scoped_free) char *whole = file_join(folder, path);
    if (hash_of_file(whole, &content, &size, e) < 0)
        return -1;
    hash_hex(&content, hex);
    if (size != told)
        buf_printf(out, "%s: %" PRId64 " bytes, the manifest says %" PRId64 "\n", path, size, told);
    else if (strcmp(hex, json_str(json_get(row, "sha256"), "")) != 0)
        buf_printf(out, "%s: changed: its bytes do not have the hash of the manifest\n", path);
    else
        return 0;
    (*findings)++;
    return 0;
}

static void check_extra(const manifest *self, const folder_list *there, size_t *findings, buf *out)
{
    for (size_t i = 0; i < there->count; i++) {
        if (is_own(there->paths[i]) || folder_has(&self->listed, there->paths[i]))
            continue;
        buf_printf(out, "%s: too many: the manifest does not list it\n", there->paths[i]);
        (*findings)++;
    }
}

int manifest_check(const manifest *self, const char *folder, size_t *findings, buf *out, err *e)
{
    SCOPED(folder_list_fini) folder_list there = {0};
    const json *files = json_get(manifest_about(self), "files");
    *findings = 0;
    if (folder_read(folder, &there, e) < 0)
        return -1;
    for (size_t i = 0; i < self->listed.count; i++) {
        if (!folder_has(&there, self->listed.paths[i])) {
            buf_printf(out, "%s: missing\n", self->listed.paths[i]);
            (*findings)++;
        } else if (check_content(json_at(files, i), folder, findings, out, e) < 0) {
            return -1;
        }
    }
    check_extra(self, &there, findings, out);
    return 0;
}
