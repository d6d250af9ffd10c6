/* keyring - the coordinator's own key, and whose keys may come in
 *
 * The list is small and read anew as a whole whenever the folder's time changes: names are created by
 * rename and removed by unlink, and both change it. A clock that ticks slowly hides a second change in
 * the same tick, so a folder that changed just now is read again.
 *
 * SPDX-License-Identifier: MIT */
#include "coordinator/keyring.h"

#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/file.h"
#include "common/json.h"
#include "common/log.h"
#include "common/scoped.h"
#include "common/str.h"
#include "common/xalloc.h"

enum { JUST_NOW_MS = 2000 };

#define OWN_FILE "coordinator.key"
#define ALLOWED  "allowed"
#define SUFFIX   ".json"

struct keyring {
    char *folder; /* …/allowed */
    curve_file own;
    pthread_mutex_t lock; /* of rows, count, changed */
    keyring_row *rows;
    size_t count;
    struct timespec changed; /* the folder's time when it was read */
    atomic_llong generation;
};

static const char *const role_names[] = {"node", "operator", NULL};

const char *keyring_role_name(keyring_role role)
{
    return role_names[role];
}

/* ---- one row's file ---- */

static int read_fields(const json_cursor *root, keyring_row *row, err *e)
{
    static const char *const keys[] = {"public", "role", "created_ms", NULL};
    json_cursor at;
    const char *text;
    int role;
    if (json_only_keys(root, keys, e) || json_member(root, "public", &at, e) ||
        json_want_str(&at, &text, e))
        return -1;
    if (!curve_parse(text, &row->key))
        return json_fail(&at, e, "a key has 64 hex digits");
    if (json_member(root, "role", &at, e) || json_want_choice(&at, role_names, &role, e) ||
        json_member(root, "created_ms", &at, e) ||
        json_want_int(&at, 0, INT64_MAX, &row->created_ms, e))
        return -1;
    row->role = (keyring_role)role;
    return 0;
}

static int read_row(const char *folder, const char *file, keyring_row *row, err *e)
{
    SCOPED(scoped_free) char *path = file_join(folder, file);
    size_t size = strlen(file) - strlen(SUFFIX);
    memset(row, 0, sizeof *row); /* with its padding: rows are compared as memory */
    if (size >= sizeof row->name)
        return err_set(e, ERR_CONFIG, "%s: the name is too long", path);
    memcpy(row->name, file, size);
    if (!curve_is_name(row->name))
        return err_set(e, ERR_CONFIG, "%s: a key's name has letters, digits, - and _", path);
    SCOPED(json_doc_destroy) json_doc *doc = json_load(path, e);
    if (!doc)
        return -1;
    json_cursor root = json_root(doc);
    return read_fields(&root, row, e);
}

static int write_row(const char *path, const keyring_row *row, err *e)
{
    char text[CURVE_TEXT];
    curve_text(&row->key, text);
    SCOPED(json_destroy) json *root = json_new_object();
    json_set_str(root, "public", text);
    json_set_str(root, "role", role_names[row->role]);
    json_set_int(root, "created_ms", row->created_ms);
    SCOPED(scoped_free) char *dump = json_dump_pretty(root);
    return file_write(path, dump, strlen(dump), e);
}

/* ---- the list ---- */

static void close_folder(DIR **folder)
{
    if (*folder)
        closedir(*folder);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const keyring_row *)a)->name, ((const keyring_row *)b)->name);
}

/* A bad file does not take the others with it: it is told, and allows nobody. */
static int read_all(const char *folder, keyring_row **out, size_t *count, err *e)
{
    SCOPED(close_folder) DIR *open = opendir(folder);
    *out = NULL;
    *count = 0;
    if (!open && errno == ENOENT)
        return 0;
    if (!open)
        return err_errno(e, errno, "read the folder of keys %s", folder);
    for (struct dirent *entry; (entry = readdir(open)) != NULL && *count < KEYRING_MAX;) {
        keyring_row row = {.name = ""};
        err why = {0};
        if (!str_ends(entry->d_name, SUFFIX))
            continue;
        if (read_row(folder, entry->d_name, &row, &why)) {
            log_err(LOG_ERROR, "keys", &why, "a key is not allowed");
            continue;
        }
        *out = xreallocarray(*out, *count + 1, sizeof **out);
        (*out)[(*count)++] = row;
    }
    if (*count)
        qsort(*out, *count, sizeof **out, by_name);
    return 0;
}

int keyring_list(const char *folder, keyring_row **out, size_t *count, err *e)
{
    SCOPED(scoped_free) char *allowed = file_join(folder, ALLOWED);
    return read_all(allowed, out, count, e);
}

/* ---- an open keyring ---- */

void keyring_refresh(keyring *self)
{
    struct stat now = {.st_mode = 0};
    keyring_row *rows;
    size_t count;
    stat(self->folder, &now); /* a folder that is gone allows nobody */
    bool same =
        now.st_mtim.tv_sec == self->changed.tv_sec && now.st_mtim.tv_nsec == self->changed.tv_nsec;
    if (same && clock_wall_ms() - (int64_t)now.st_mtim.tv_sec * 1000 > JUST_NOW_MS)
        return;
    if (read_all(self->folder, &rows, &count, NULL))
        return;
    pthread_mutex_lock(&self->lock);
    bool news =
        count != self->count || (count && memcmp(rows, self->rows, count * sizeof *rows) != 0);
    free(self->rows);
    self->rows = rows;
    self->count = count;
    self->changed = now.st_mtim;
    pthread_mutex_unlock(&self->lock);
    atomic_fetch_add(&self->generation, news);
}

int64_t keyring_generation(const keyring *self)
{
    return atomic_load(&self->generation);
}

bool keyring_find(keyring *self, const curve_key *key, keyring_row *out)
{
    bool found = false;
    pthread_mutex_lock(&self->lock);
    for (size_t i = 0; i < self->count && !found; i++) {
        found = curve_equal(&self->rows[i].key, key);
        if (found && out)
            *out = self->rows[i];
    }
    pthread_mutex_unlock(&self->lock);
    return found;
}

const curve_file *keyring_own(const keyring *self)
{
    return &self->own;
}

static int make_folders(const char *folder, err *e)
{
    SCOPED(scoped_free) char *allowed = file_join(folder, ALLOWED);
    if (file_mkdirs(allowed, e))
        return -1;
    if (chmod(folder, 0700))
        return err_errno(e, errno, "keep %s to ourselves", folder);
    return 0;
}

static int own_key(const char *folder, curve_file *out, err *e)
{
    SCOPED(scoped_free) char *path = file_join(folder, OWN_FILE);
    curve_file fresh = {.name = "coordinator"};
    if (make_folders(folder, e))
        return -1;
    if (file_exists(path))
        return curve_load(path, out, e);
    if (curve_new(&fresh.pair, e))
        return -1;
    fresh.coordinator = fresh.pair.open;
    int rc = curve_save(path, &fresh, e);
    if (rc == 0)
        *out = fresh;
    curve_wipe(&fresh.pair);
    return rc;
}

keyring *keyring_open(const char *folder, err *e)
{
    SCOPED(keyring_destroy) keyring *self = xcalloc(1, sizeof *self);
    pthread_mutex_init(&self->lock, NULL);
    self->folder = file_join(folder, ALLOWED);
    if (own_key(folder, &self->own, e))
        return NULL;
    self->changed.tv_nsec = -1; /* never read */
    keyring_refresh(self);
    return TAKE(self);
}

void keyring_destroy(keyring **self)
{
    if (!*self)
        return;
    curve_wipe(&(*self)->own.pair);
    pthread_mutex_destroy(&(*self)->lock);
    free((*self)->rows);
    free((*self)->folder);
    free(*self);
    *self = NULL;
}

/* ---- ce-coord keys ---- */

static char *row_path(const char *folder, const char *name)
{
    return xasprintf("%s/" ALLOWED "/%s" SUFFIX, folder, name);
}

int keyring_add(const char *folder, const keyring_new_key *wanted, err *e)
{
    curve_file own = {.name = ""}, fresh = {.name = ""};
    if (!curve_is_name(wanted->name))
        return err_set(e, ERR_USAGE, "%s: a key's name has at most %d letters, digits, - and _",
                       wanted->name, CURVE_NAME - 1);
    SCOPED(scoped_free) char *path = row_path(folder, wanted->name);
    if (file_exists(path))
        return err_set(e, ERR_CONFLICT,
                       "there is a key named %s: take another name, or revoke it first",
                       wanted->name);
    if (own_key(folder, &own, e) || curve_new(&fresh.pair, e))
        return -1;
    memccpy(fresh.name, wanted->name, 0, sizeof fresh.name - 1);
    fresh.coordinator = own.pair.open;
    curve_wipe(&own.pair);
    keyring_row row = {.key = fresh.pair.open, .role = wanted->role, .created_ms = wanted->now_ms};
    int rc = curve_save(wanted->path, &fresh, e) || write_row(path, &row, e) ? -1 : 0;
    curve_wipe(&fresh.pair);
    return rc;
}

int keyring_revoke(const char *folder, const char *name, err *e)
{
    SCOPED(scoped_free) char *path = row_path(folder, name);
    if (!curve_is_name(name) || !file_exists(path))
        return err_set(e, ERR_NOT_FOUND, "there is no key named %s (ce-coord keys list)", name);
    return unlink(path) ? err_errno(e, errno, "revoke %s", path) : 0;
}
