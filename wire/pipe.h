/* pipe - messages over a socketpair to a child process
 *
 * Purpose:   a length prefix (u32, big endian) and a frame, over a connected stream socket.
 * Ownership: the descriptor stays the caller's; a received message is the caller's (message_fini).
 * Threads:   one sender and one receiver per descriptor.
 * Errors:    ERR_UNAVAILABLE "peer closed" when the other end is gone, ERR_TIMEOUT past the deadline,
 *            ERR_PROTOCOL for a bad message. After a timeout or a protocol error in the middle of a
 *            message the stream is out of step: close it. Never raises SIGPIPE.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_WIRE_PIPE_H
#define CE_WIRE_PIPE_H

#include <stdint.h>

#include "common/err.h"
#include "wire/message.h"

/* pipe_pair makes two connected descriptors, close-on-exec. */
int pipe_pair(int fds[2], err *e);
/* pipe_send writes the whole message; it waits as long as the peer does not read. */
int pipe_send(int fd, const message *m, err *e);
/* pipe_recv waits up to timeout_ms (-1: for ever) for one whole message. */
int pipe_recv(int fd, int64_t timeout_ms, message *out, err *e);

#endif
