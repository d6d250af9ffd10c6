/* file - whole files, atomically
 *
 * SPDX-License-Identifier: MIT */
#include "common/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/id.h"
#include "common/scoped.h"
#include "common/xalloc.h"

enum { CHUNK = 64 * 1024 };

static int read_all(int fd, const char *path, buf *out, err *e)
{
    SCOPED(scoped_free) char *chunk = xmalloc(CHUNK);
    for (;;) {
        ssize_t got = read(fd, chunk, CHUNK);
        if (got == 0)
            return 0;
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return err_errno(e, errno, "read %s", path);
        if (buf_add(out, chunk, (size_t)got) < 0)
            return err_set(e, ERR_LIMIT, "read %s: more than the maximum of %zu bytes", path,
                           out->max);
    }
}

int file_read(const char *path, buf *out, err *e)
{
    SCOPED(scoped_close) int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return err_errno(e, errno, "open %s", path);
    size_t before = out->size;
    bool overflow = out->overflow;
    if (read_all(fd, path, out, e) == 0)
        return buf_add(out, "", 0); /* an empty file is text too */
    out->size = before;
    out->overflow = overflow;
    if (out->data != NULL)
        out->data[before] = '\0';
    return -1;
}

int file_print(const char *path, FILE *out, err *e)
{
    char piece[16384];
    SCOPED(scoped_fclose) FILE *in = fopen(path, "rb");
    if (in == NULL)
        return err_errno(e, errno, "open %s", path);
    for (size_t n; (n = fread(piece, 1, sizeof piece, in)) > 0;)
        if (fwrite(piece, 1, n, out) != n)
            return err_errno(e, errno, "cannot print %s", path);
    return ferror(in) ? err_errno(e, errno, "read %s", path) : 0;
}

static int write_all(int fd, const char *data, size_t size)
{
    while (size > 0) {
        ssize_t put = write(fd, data, size);
        if (put < 0 && errno == EINTR)
            continue;
        if (put < 0)
            return -1;
        data += put;
        size -= (size_t)put;
    }
    return 0;
}

struct file_out {
    char *path, *temporary;
    int fd;
    int failure; /* errno of the first write that failed; 0: none */
};

file_out *file_out_create(const char *path, err *e)
{
    SCOPED(file_out_destroy) file_out *self = xcalloc(1, sizeof *self);
    char suffix[ID_TEXT];
    id_new(suffix);
    self->path = xstrdup(path);
    self->temporary = xasprintf("%s.%s.tmp", path, suffix);
    self->fd = open(self->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (self->fd < 0) {
        err_errno(e, errno, "write %s", path);
        return NULL;
    }
    return TAKE(self);
}

int file_out_add(void *arg, const void *data, size_t size)
{
    file_out *self = arg;
    if (self->failure == 0 && write_all(self->fd, data, size) < 0)
        self->failure = errno;
    return self->failure == 0 ? 0 : -1;
}

/* Synced before the rename, so that it never shows a shorter file after a crash. */
int file_out_commit(file_out *self, err *e)
{
    if (self->failure == 0 && fsync(self->fd) < 0)
        self->failure = errno;
    if (close(self->fd) < 0 && self->failure == 0)
        self->failure = errno;
    self->fd = -1;
    if (self->failure == 0 && rename(self->temporary, self->path) < 0)
        self->failure = errno;
    if (self->failure != 0)
        return err_errno(e, self->failure, "write %s", self->path);
    free(self->temporary);
    self->temporary = NULL;
    return 0;
}

void file_out_destroy(file_out **self)
{
    if (*self == NULL)
        return;
    if ((*self)->fd >= 0)
        close((*self)->fd);
    if ((*self)->temporary != NULL)
        unlink((*self)->temporary);
    free((*self)->temporary);
    free((*self)->path);
    free(*self);
    *self = NULL;
}

int file_write(const char *path, const void *data, size_t size, err *e)
{
    SCOPED(file_out_destroy) file_out *out = file_out_create(path, e);
    if (out == NULL)
        return -1;
    file_out_add(out, data, size);
    return file_out_commit(out, e);
}

static int make_dir(const char *path, err *e)
{
    if (mkdir(path, 0755) == 0)
        return 0;
    int reason = errno;
    struct stat st;
    if (stat(path, &st) == 0 && S_ISDIR(st.st_mode))
        return 0;
    return err_errno(e, reason, "make folder %s", path);
}

int file_mkdirs(const char *path, err *e)
{
    SCOPED(scoped_free) char *partial = xstrdup(path);
    for (char *at = partial + strspn(partial, "/"); *at != '\0'; at++) {
        if (*at != '/')
            continue;
        *at = '\0';
        if (make_dir(partial, e) < 0)
            return -1;
        *at = '/';
    }
    return make_dir(path, e);
}

static int remove_entries(int folder, const char *path, err *e);

static int remove_at(int folder, const char *name, const char *path, err *e)
{
    if (unlinkat(folder, name, 0) == 0 || errno == ENOENT)
        return 0;
    if (errno != EISDIR && errno != EPERM)
        return err_errno(e, errno, "remove %s", path);
    int inner = openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (inner < 0)
        return err_errno(e, errno, "remove %s", path);
    if (remove_entries(inner, path, e) < 0)
        return -1;
    if (unlinkat(folder, name, AT_REMOVEDIR) < 0 && errno != ENOENT)
        return err_errno(e, errno, "remove %s", path);
    return 0;
}

static void close_dir(DIR **dir)
{
    if (*dir != NULL)
        closedir(*dir);
    *dir = NULL;
}

/* remove_entries consumes the descriptor. */
static int remove_entries(int folder, const char *path, err *e)
{
    SCOPED(close_dir) DIR *dir = fdopendir(folder);
    if (dir == NULL) {
        int reason = errno;
        close(folder);
        return err_errno(e, reason, "remove %s", path);
    }
    for (struct dirent *entry; (entry = readdir(dir)) != NULL;) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        SCOPED(scoped_free) char *inner = file_join(path, entry->d_name);
        if (remove_at(folder, entry->d_name, inner, e) < 0)
            return -1;
    }
    return 0;
}

int file_remove_tree(const char *path, err *e)
{
    return remove_at(AT_FDCWD, path, path, e);
}

bool file_exists(const char *path)
{
    return access(path, F_OK) == 0;
}

char *file_join(const char *a, const char *b)
{
    size_t size = strlen(a);
    if (size == 0)
        return xstrdup(b);
    return xasprintf("%s%s%s", a, a[size - 1] == '/' ? "" : "/", b);
}

char *file_self_dir(err *e)
{
    char path[PATH_MAX];
    ssize_t size = readlink("/proc/self/exe", path, sizeof path - 1);
    if (size < 0) {
        err_errno(e, errno, "read /proc/self/exe");
        return NULL;
    }
    path[size] = '\0';
    char *slash = strrchr(path, '/');
    if (slash == NULL) {
        err_set(e, ERR_SYSTEM, "/proc/self/exe has no folder: %s", path);
        return NULL;
    }
    return xstrndup(path, slash == path ? 1 : (size_t)(slash - path));
}
