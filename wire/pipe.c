/* pipe - messages over a socketpair to a child process
 *
 * SPDX-License-Identifier: MIT */
#include "wire/pipe.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/scoped.h"
#include "common/xalloc.h"

enum { PREFIX = 4, FIRST_PIECE = 64 * 1024 };

int pipe_pair(int fds[2], err *e)
{
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
        return err_errno(e, errno, "cannot make a socketpair");
    fds[0] = pair[0];
    fds[1] = pair[1];
    return 0;
}

static int closed(err *e)
{
    return err_set(e, ERR_UNAVAILABLE, "peer closed");
}

/* ---- send ---- */

static int send_all(int fd, const char *data, size_t size, err *e)
{
    while (size > 0) {
        ssize_t n = send(fd, data, size, MSG_NOSIGNAL);
        if (n < 0 && (errno == EPIPE || errno == ECONNRESET))
            return closed(e);
        if (n < 0 && errno != EINTR)
            return err_errno(e, errno, "cannot send to the peer");
        if (n > 0) {
            data += n;
            size -= (size_t)n;
        }
    }
    return 0;
}

int pipe_send(int fd, const message *m, err *e)
{
    SCOPED(buf_fini) buf out;
    buf_init(&out, PREFIX + MESSAGE_SIZE_MAX);
    buf_add(&out, "\0\0\0\0", PREFIX);
    if (message_encode(m, &out, e) < 0)
        return -1;
    uint32_t size = (uint32_t)(out.size - PREFIX);
    for (int i = 0; i < PREFIX; i++)
        out.data[i] = (char)(uint8_t)(size >> (8 * (PREFIX - 1 - i)));
    return send_all(fd, out.data, out.size, e);
}

/* ---- receive ---- */

/* wait_readable waits until the deadline (monotonic ms, -1: for ever). */
static int wait_readable(int fd, int64_t deadline, err *e)
{
    for (;;) {
        int64_t left = -1;
        if (deadline >= 0) {
            left = deadline - clock_mono_ms();
            left = left < 0 ? 0 : left > INT32_MAX ? INT32_MAX : left;
        }
        struct pollfd p = {.fd = fd, .events = POLLIN};
        int n = poll(&p, 1, (int)left);
        if (n > 0)
            return 0;
        if (n < 0 && errno != EINTR)
            return err_errno(e, errno, "cannot wait for the peer");
        if (n == 0 && left == 0)
            return err_set(e, ERR_TIMEOUT, "no message from the peer in time");
    }
}

/* recv_some reads 1..size bytes into data and returns how many; -1 on failure. */
static ssize_t recv_some(int fd, void *data, size_t size, int64_t deadline, err *e)
{
    for (;;) {
        if (wait_readable(fd, deadline, e) < 0)
            return -1;
        ssize_t n = recv(fd, data, size, MSG_DONTWAIT);
        if (n > 0)
            return n;
        if (n == 0 || errno == ECONNRESET)
            return closed(e);
        if (errno != EINTR && errno != EAGAIN)
            return err_errno(e, errno, "cannot receive from the peer");
    }
}

static int recv_all(int fd, void *data, size_t size, int64_t deadline, err *e)
{
    for (size_t at = 0; at < size;) {
        ssize_t n = recv_some(fd, (char *)data + at, size - at, deadline, e);
        if (n < 0)
            return -1;
        at += (size_t)n;
    }
    return 0;
}

/* recv_body grows as bytes arrive: a peer's claim of 80 MiB alone costs no memory. */
static char *recv_body(int fd, size_t size, int64_t deadline, err *e)
{
    SCOPED(scoped_free) char *body = NULL;
    for (size_t at = 0, room = FIRST_PIECE; at < size; room *= 2) {
        size_t end = size - at > room ? at + room : size;
        body = xreallocarray(body, end, 1);
        if (recv_all(fd, body + at, end - at, deadline, e) < 0)
            return NULL;
        at = end;
    }
    return TAKE(body);
}

int pipe_recv(int fd, int64_t timeout_ms, message *out, err *e)
{
    int64_t deadline = timeout_ms < 0 ? -1 : clock_mono_ms() + timeout_ms;
    uint8_t prefix[PREFIX];
    if (recv_all(fd, prefix, PREFIX, deadline, e) < 0)
        return -1;
    size_t size = 0;
    for (int i = 0; i < PREFIX; i++)
        size = size << 8 | prefix[i];
    if (size == 0 || size > MESSAGE_SIZE_MAX)
        return err_set(e, ERR_PROTOCOL, "the peer announces a message of %zu bytes", size);
    SCOPED(scoped_free) char *body = recv_body(fd, size, deadline, e);
    if (body == NULL)
        return -1;
    return message_decode(body, size, out, e);
}
