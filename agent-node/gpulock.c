/* gpulock - see gpulock.h.
 *
 * SPDX-License-Identifier: MIT */
#include "agent-node/gpulock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/scoped.h"
#include "common/xalloc.h"

enum { POLL_MS = 100, NOTE_MAX = 64 };

/* A file of another user in a sticky folder may not be opened for creating, but for reading: enough to
 * lock it. */
static int open_file(const char *path)
{
    int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0 && errno == ENOENT) {
        fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644);
    }
    return fd >= 0 ? fd : open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
}

static int held_elsewhere(int fd, const char *uuid, err *e)
{
    char note[NOTE_MAX + 1] = "";
    ssize_t got = pread(fd, note, NOTE_MAX, 0);
    note[got > 0 ? got : 0] = '\0';
    note[strcspn(note, "\n")] = '\0';
    return err_set(e, ERR_CONFLICT,
                   "%s is used by another ce-node (process %s): two of them would time each other; "
                   "end it, or wait for it",
                   uuid, note[0] != '\0' ? note : "unknown");
}

/* The holder's process, for whom it may concern. */
static void sign(int fd)
{
    char note[NOTE_MAX];
    int size = snprintf(note, sizeof note, "%ld\n", (long)getpid());
    if (ftruncate(fd, 0) != 0 || pwrite(fd, note, (size_t)size, 0) != size) {
        return; /* another user's file: the lock holds without a name on it */
    }
}

int gpulock_take(const char *folder, const char *uuid, int64_t patience_ms, err *e)
{
    SCOPED(scoped_free) char *path = xasprintf("%s/ce-gpu-%s.lock", folder, uuid);
    SCOPED(scoped_close) int fd = open_file(path);
    const struct timespec nap = {0, POLL_MS * 1000000L};
    int64_t until = clock_mono_ms() + patience_ms;
    if (fd < 0) {
        return err_errno(e, errno, "lock of the GPU: %s", path);
    }
    while (flock(fd, LOCK_EX | LOCK_NB) != 0) {
        if (errno != EWOULDBLOCK && errno != EINTR) {
            return err_errno(e, errno, "lock of the GPU: %s", path);
        }
        if (clock_mono_ms() >= until) {
            return held_elsewhere(fd, uuid, e);
        }
        nanosleep(&nap, NULL);
    }
    sign(fd);
    int taken = fd;
    fd = -1;
    return taken;
}
