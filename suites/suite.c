/* suite - an ordered, versioned set of problems with a content hash
 *
 * SPDX-License-Identifier: MIT */
#include "suites/suite.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/buf.h"
#include "common/file.h"
#include "common/scoped.h"
#include "common/str.h"
#include "common/xalloc.h"
#include "common/yaml.h"

enum { VERSION_MAX = 63, LIST_TEXT_MAX = 120 };

typedef struct name_list {
    char **items;
    size_t count;
} name_list;

static void name_list_fini(name_list *self)
{
    for (size_t i = 0; i < self->count; i++)
        free(self->items[i]);
    free(self->items);
    *self = (name_list){0};
}

static bool name_list_has(const name_list *self, const char *name)
{
    for (size_t i = 0; i < self->count; i++)
        if (strcmp(self->items[i], name) == 0)
            return true;
    return false;
}

/* ---- folders ---- */

static bool holds(const char *root, const char *folder, const char *file)
{
    SCOPED(scoped_free) char *inner = file_join(root, folder);
    SCOPED(scoped_free) char *path = file_join(inner, file);
    return file_exists(path);
}

static void close_folder(DIR **folder)
{
    if (*folder != NULL)
        closedir(*folder);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* list_folders: the folders under root that hold `file`, sorted. */
static int list_folders(const char *root, const char *file, name_list *out, err *e)
{
    SCOPED(close_folder) DIR *folder = opendir(root);
    if (folder == NULL)
        return err_errno(e, errno, "cannot read the folder %s", root);
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        if (entry->d_name[0] == '.' || !holds(root, entry->d_name, file))
            continue;
        out->items = xreallocarray(out->items, out->count + 1, sizeof *out->items);
        out->items[out->count++] = xstrdup(entry->d_name);
    }
    if (out->count > 0)
        qsort(out->items, out->count, sizeof *out->items, by_name);
    return 0;
}

char **suite_names(const char *root, size_t *count, err *e)
{
    name_list list = {0};
    if (list_folders(root, "suite.yaml", &list, e) < 0)
        return NULL;
    *count = list.count;
    return list.items == NULL ? xcalloc(1, sizeof *list.items) : list.items;
}

char *suite_root(const char *given, err *e)
{
    if (given != NULL)
        return xstrdup(given);
    SCOPED(scoped_free) char *self = file_self_dir(e);
    if (self == NULL)
        return NULL;
    SCOPED(scoped_free) char *installed = file_join(self, "../share/ce/suites");
    if (file_exists(installed))
        return TAKE(installed);
    if (file_exists(CE_SOURCE_DIR "/suites"))
        return xstrdup(CE_SOURCE_DIR "/suites");
    err_set(e, ERR_NOT_FOUND, "no suites: neither %s nor %s exists; name a folder with --suites",
            installed, CE_SOURCE_DIR "/suites");
    return NULL;
}

/* ---- suite.yaml ---- */

static int read_id(suite *self, const json_cursor *root, const char *folder_name, err *e)
{
    json_cursor at;
    const char *id;
    if (json_member(root, "id", &at, e) < 0 || json_want_str(&at, &id, e) < 0)
        return -1;
    if (strcmp(id, folder_name) != 0)
        return json_fail(&at, e, "the id is '%.63s' but the folder is '%s': make them equal", id,
                         folder_name);
    self->id = xstrdup(id);
    return 0;
}

/* read_line takes a text that is neither empty nor too long. */
static int read_line(const json_cursor *root, const char *key, size_t max, char **out, err *e)
{
    json_cursor at;
    const char *text;
    if (json_member(root, key, &at, e) < 0 || json_want_str(&at, &text, e) < 0)
        return -1;
    if (text[0] == '\0' || strlen(text) > max)
        return json_fail(&at, e, "must be 1 to %zu bytes long", max);
    *out = xstrdup(text);
    return 0;
}

static int read_problem(suite *self, const json_cursor *at, err *e)
{
    const char *id;
    if (json_want_name(at, &id, e) < 0)
        return -1;
    if (suite_find(self, id) != NULL)
        return json_fail(at, e, "'%s' is listed twice", id);
    if (!holds(self->folder, id, "problem.yaml"))
        return json_fail(at, e, "there is no %s/%s/problem.yaml", self->folder, id);
    SCOPED(scoped_free) char *folder = file_join(self->folder, id);
    if (problem_load(folder, &self->problems[self->problem_count], e) < 0)
        return -1;
    self->problem_count++;
    return 0;
}

static int read_problems(suite *self, const json_cursor *root, err *e)
{
    json_cursor list, at;
    size_t n;
    if (json_member(root, "problems", &list, e) < 0 ||
        json_want_array(&list, SUITE_PROBLEMS_MAX, &n, e) < 0)
        return -1;
    if (n == 0)
        return json_fail(&list, e, "a suite needs at least one problem");
    self->problems = xcalloc(n, sizeof *self->problems);
    for (size_t i = 0; i < n; i++) {
        json_element(&list, i, &at);
        if (read_problem(self, &at, e) < 0)
            return -1;
    }
    return 0;
}

/* check_unlisted refuses a problem that somebody forgot to list: it would silently not count. */
static int check_unlisted(const suite *self, const json_cursor *root, err *e)
{
    SCOPED(name_list_fini) name_list there = {0};
    json_cursor list;
    if (json_member(root, "problems", &list, e) < 0 ||
        list_folders(self->folder, "problem.yaml", &there, e) < 0)
        return -1;
    for (size_t i = 0; i < there.count; i++)
        if (suite_find(self, there.items[i]) == NULL)
            return json_fail(&list, e, "the problem %s/%s is not listed: list it or move it away",
                             self->folder, there.items[i]);
    return 0;
}

static int read_suite(suite *self, const char *name, err *e)
{
    static const char *const keys[] = {"id", "version", "title", "problems", NULL};
    SCOPED(scoped_free) char *path = file_join(self->folder, "suite.yaml");
    SCOPED(json_doc_destroy) json_doc *doc = yaml_load(path, e);
    if (doc == NULL)
        return -1;
    json_cursor root = json_root(doc);
    if (json_only_keys(&root, keys, e) < 0 || read_id(self, &root, name, e) < 0 ||
        read_line(&root, "version", VERSION_MAX, &self->version, e) < 0 ||
        read_line(&root, "title", ERR_TEXT_MAX, &self->title, e) < 0 ||
        read_problems(self, &root, e) < 0)
        return -1;
    return check_unlisted(self, &root, e);
}

/* ---- the whole ---- */

static hash content_of(const suite *self)
{
    size_t count = self->problem_count + 2;
    SCOPED(scoped_free) hash_part *parts = xcalloc(count, sizeof *parts);
    parts[0] = (hash_part){"id", self->id, strlen(self->id)};
    parts[1] = (hash_part){"version", self->version, strlen(self->version)};
    for (size_t i = 0; i < self->problem_count; i++) {
        const problem *p = &self->problems[i];
        parts[i + 2] = (hash_part){p->id, p->content.bytes, HASH_SIZE};
    }
    return hash_list(parts, count);
}

static int fail_unknown(const char *root, const char *name, const name_list *known, err *e)
{
    SCOPED(buf_fini) buf text;
    buf_init(&text, LIST_TEXT_MAX);
    for (size_t i = 0; i < known->count; i++)
        buf_printf(&text, "%s%s", i == 0 ? "" : ", ", known->items[i]);
    return err_set(e, ERR_NOT_FOUND, "no suite '%.63s' in %s; there are: %s", name, root,
                   known->count == 0 ? "none" : buf_text(&text));
}

suite *suite_load(const char *root, const char *name, err *e)
{
    SCOPED(name_list_fini) name_list known = {0};
    if (list_folders(root, "suite.yaml", &known, e) < 0)
        return NULL;
    if (!name_list_has(&known, name)) {
        fail_unknown(root, name, &known, e);
        return NULL;
    }
    SCOPED(suite_destroy) suite *self = xcalloc(1, sizeof *self);
    self->folder = file_join(root, name);
    if (read_suite(self, name, e) < 0)
        return NULL;
    self->content = content_of(self);
    return TAKE(self);
}

void suite_destroy(suite **self)
{
    suite *s = TAKE(*self);
    if (s == NULL)
        return;
    for (size_t i = 0; i < s->problem_count; i++)
        problem_fini(&s->problems[i]);
    free(s->problems);
    free(s->id);
    free(s->version);
    free(s->title);
    free(s->folder);
    free(s);
}

const problem *suite_find(const suite *self, const char *id)
{
    for (size_t i = 0; i < self->problem_count; i++)
        if (strcmp(self->problems[i].id, id) == 0)
            return &self->problems[i];
    return NULL;
}
