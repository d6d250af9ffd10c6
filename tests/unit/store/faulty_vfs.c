/* faulty_vfs - a file system that fails on demand
 *
 * A file of ours is SQLite's own file with our method table in front: each method calls the real one
 * behind it.
 *
 * SPDX-License-Identifier: MIT */
#include "tests/unit/store/faulty_vfs.h"

#include <sqlite3.h>
#include <stdatomic.h>
#include <string.h>

typedef struct faulty_file {
    sqlite3_file base;
    sqlite3_file *real; /* behind this struct */
} faulty_file;

static sqlite3_vfs vfs, *real_vfs;
static atomic_long countdown, hits;
static atomic_bool stays;
static atomic_int code_given;

static sqlite3_file *real_of(sqlite3_file *file)
{
    return ((faulty_file *)file)->real;
}

/* 0, or the code that this writing call has to return. */
static int planned(void)
{
    long left = atomic_load(&countdown);
    if (left == 0)
        return 0;
    if (left > 1) {
        atomic_store(&countdown, left - 1);
        return 0;
    }
    if (!atomic_load(&stays))
        atomic_store(&countdown, 0);
    atomic_fetch_add(&hits, 1);
    return atomic_load(&code_given);
}

static int on_close(sqlite3_file *f)
{
    return real_of(f)->pMethods->xClose(real_of(f));
}
static int on_read(sqlite3_file *f, void *to, int size, sqlite3_int64 at)
{
    return real_of(f)->pMethods->xRead(real_of(f), to, size, at);
}
static int on_write(sqlite3_file *f, const void *from, int size, sqlite3_int64 at)
{
    int code = planned();
    if (code == 0)
        return real_of(f)->pMethods->xWrite(real_of(f), from, size, at);
    if (size > 1) /* a torn write: the first half arrives */
        real_of(f)->pMethods->xWrite(real_of(f), from, size / 2, at);
    return code;
}
static int on_truncate(sqlite3_file *f, sqlite3_int64 size)
{
    int code = planned();
    return code != 0 ? code : real_of(f)->pMethods->xTruncate(real_of(f), size);
}
static int on_sync(sqlite3_file *f, int flags)
{
    int code = planned();
    return code != 0 ? code : real_of(f)->pMethods->xSync(real_of(f), flags);
}
static int on_size(sqlite3_file *f, sqlite3_int64 *size)
{
    return real_of(f)->pMethods->xFileSize(real_of(f), size);
}
static int on_lock(sqlite3_file *f, int level)
{
    return real_of(f)->pMethods->xLock(real_of(f), level);
}
static int on_unlock(sqlite3_file *f, int level)
{
    return real_of(f)->pMethods->xUnlock(real_of(f), level);
}
static int on_reserved(sqlite3_file *f, int *out)
{
    return real_of(f)->pMethods->xCheckReservedLock(real_of(f), out);
}
static int on_control(sqlite3_file *f, int op, void *arg)
{
    return real_of(f)->pMethods->xFileControl(real_of(f), op, arg);
}
static int on_sector(sqlite3_file *f)
{
    return real_of(f)->pMethods->xSectorSize(real_of(f));
}
static int on_characteristics(sqlite3_file *f)
{
    return real_of(f)->pMethods->xDeviceCharacteristics(real_of(f));
}
static int on_shm_map(sqlite3_file *f, int page, int size, int extend, void volatile **out)
{
    return real_of(f)->pMethods->xShmMap(real_of(f), page, size, extend, out);
}
static int on_shm_lock(sqlite3_file *f, int offset, int n, int flags)
{
    return real_of(f)->pMethods->xShmLock(real_of(f), offset, n, flags);
}
static void on_shm_barrier(sqlite3_file *f)
{
    real_of(f)->pMethods->xShmBarrier(real_of(f));
}
static int on_shm_unmap(sqlite3_file *f, int remove)
{
    return real_of(f)->pMethods->xShmUnmap(real_of(f), remove);
}

static const sqlite3_io_methods methods = {
    .iVersion = 2,
    .xClose = on_close,
    .xRead = on_read,
    .xWrite = on_write,
    .xTruncate = on_truncate,
    .xSync = on_sync,
    .xFileSize = on_size,
    .xLock = on_lock,
    .xUnlock = on_unlock,
    .xCheckReservedLock = on_reserved,
    .xFileControl = on_control,
    .xSectorSize = on_sector,
    .xDeviceCharacteristics = on_characteristics,
    .xShmMap = on_shm_map,
    .xShmLock = on_shm_lock,
    .xShmBarrier = on_shm_barrier,
    .xShmUnmap = on_shm_unmap,
};

static int on_open(sqlite3_vfs *self, const char *name, sqlite3_file *file, int flags, int *out)
{
    (void)self;
    faulty_file *f = (faulty_file *)file;
    f->real = (sqlite3_file *)(f + 1);
    int rc = real_vfs->xOpen(real_vfs, name, f->real, flags, out);
    f->base.pMethods = f->real->pMethods != NULL ? &methods : NULL;
    return rc;
}

void faulty_vfs_install(void)
{
    real_vfs = sqlite3_vfs_find(NULL);
    vfs = *real_vfs;
    vfs.zName = "faulty";
    vfs.szOsFile = (int)sizeof(faulty_file) + real_vfs->szOsFile;
    vfs.xOpen = on_open;
    sqlite3_vfs_register(&vfs, 1);
}

void faulty_vfs_arm(long nth, int code, bool on)
{
    atomic_store(&stays, on);
    atomic_store(&code_given, code);
    atomic_store(&hits, 0);
    atomic_store(&countdown, nth);
}

long faulty_vfs_hits(void)
{
    return atomic_load(&hits);
}
