/* owner - one process may write a database (inside store/ only)
 *
 * SPDX-License-Identifier: MIT */
#include "store/owner.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "common/scoped.h"
#include "common/xalloc.h"

enum { PID_MAX = 31, LINGER_MS = 2000, LINGER_STEP_MS = 20 };

/* read_pid: 0 when there is none. */
static long read_pid(int fd)
{
    char pid[PID_MAX + 1] = "";
    ssize_t n = pread(fd, pid, PID_MAX, 0);
    pid[n > 0 ? n : 0] = '\0';
    return strtol(pid, NULL, 10);
}

static int refuse(int fd, const char *path, err *e)
{
    long pid = read_pid(fd);
    if (pid <= 0)
        return err_set(e, ERR_CONFLICT,
                       "%s is owned by another process: use --coordinator URI, or wait for it",
                       path);
    return err_set(e, ERR_CONFLICT, "%s is owned by PID %ld: use --coordinator URI, or wait for it",
                   path, pid);
}

static bool is_gone(long pid)
{
    return pid > 0 && kill((pid_t)pid, 0) < 0 && errno == ESRCH;
}

/* lock waits a moment for what a killed owner left behind: a child that it was just starting holds the
 * lock too, until it is its own program. */
static int lock(int fd, const char *path, err *e)
{
    static const struct timespec pause = {.tv_nsec = LINGER_STEP_MS * 1000000L};
    for (int waited = 0; flock(fd, LOCK_EX | LOCK_NB) < 0; waited += LINGER_STEP_MS) {
        if (errno != EWOULDBLOCK)
            return err_errno(e, errno, "%s.lock", path);
        if (waited >= LINGER_MS || !is_gone(read_pid(fd)))
            return refuse(fd, path, e);
        nanosleep(&pause, NULL);
    }
    return 0;
}

static int write_pid(int fd, const char *path, err *e)
{
    char pid[PID_MAX + 1];
    int n = snprintf(pid, sizeof pid, "%ld\n", (long)getpid());
    if (ftruncate(fd, 0) < 0 || pwrite(fd, pid, (size_t)n, 0) != n)
        return err_errno(e, errno, "%s.lock", path);
    return 0;
}

int owner_take(const char *path, err *e)
{
    SCOPED(scoped_free) char *file = xasprintf("%s.lock", path);
    SCOPED(scoped_close) int fd = open(file, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    if (fd < 0)
        return err_errno(e, errno, "cannot own %s: %s", path, file);
    if (lock(fd, path, e) < 0 || write_pid(fd, path, e) < 0)
        return -1;
    int taken = fd;
    fd = -1;
    return taken;
}

void owner_release(int *fd)
{
    scoped_close(fd);
}

int64_t owner_since(const char *path)
{
    struct stat written; /* with the PID */
    SCOPED(scoped_free) char *file = xasprintf("%s.lock", path);
    SCOPED(scoped_close) int fd = open(file, O_RDONLY | O_CLOEXEC);
    long pid = fd < 0 ? 0 : read_pid(fd);
    if (pid <= 0 || is_gone(pid) || fstat(fd, &written) < 0)
        return 0;
    return (int64_t)written.st_mtim.tv_sec * 1000 + written.st_mtim.tv_nsec / 1000000;
}
