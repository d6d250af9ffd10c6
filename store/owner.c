/* owner - one process may write a database (inside store/ only)
 *
 * SPDX-License-Identifier: MIT */
#include "store/owner.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "common/scoped.h"
#include "common/xalloc.h"

enum { PID_MAX = 31 };

static int refuse(int fd, const char *path, err *e)
{
    char pid[PID_MAX + 1] = "";
    ssize_t n = pread(fd, pid, PID_MAX, 0);
    pid[n > 0 ? n : 0] = '\0';
    pid[strspn(pid, "0123456789")] = '\0';
    return err_set(e, ERR_CONFLICT, "%s is owned by PID %s: use --coordinator URI, or wait for it",
                   path, pid[0] != '\0' ? pid : "(unknown)");
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
    SCOPED(scoped_free) char *lock = xasprintf("%s.lock", path);
    SCOPED(scoped_close) int fd = open(lock, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    if (fd < 0)
        return err_errno(e, errno, "cannot own %s: %s", path, lock);
    if (flock(fd, LOCK_EX | LOCK_NB) < 0)
        return errno == EWOULDBLOCK ? refuse(fd, path, e) : err_errno(e, errno, "%s", lock);
    if (write_pid(fd, path, e) < 0)
        return -1;
    int taken = fd;
    fd = -1;
    return taken;
}

void owner_release(int *fd)
{
    scoped_close(fd);
}
