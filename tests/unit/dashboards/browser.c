/* browser - connect, send, read
 *
 * SPDX-License-Identifier: MIT */
/* cmocka wants these first. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/unit/dashboards/browser.h"

#include <arpa/inet.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/buf.h"
#include "common/scoped.h"
#include "common/xalloc.h"

enum { SILENCE_MS = 20000, ANSWER_MAX = 64 * 1024 * 1024 };

int browser_open(const char *url, const char *bytes)
{
    const char *colon = strrchr(url, ':');
    assert_non_null(colon);
    struct sockaddr_in at = {.sin_family = AF_INET,
                             .sin_port = htons((uint16_t)strtol(colon + 1, NULL, 10)),
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(fd >= 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&at, sizeof at), 0);
    size_t size = strlen(bytes);
    assert_int_equal(send(fd, bytes, size, MSG_NOSIGNAL), (ssize_t)size);
    return fd;
}

char *browser_read(int fd, const char *until)
{
    buf text;
    char piece[4096];
    buf_init(&text, ANSWER_MAX);
    while (until == NULL || strstr(buf_text(&text), until) == NULL) {
        struct pollfd waiting = {.fd = fd, .events = POLLIN};
        if (poll(&waiting, 1, SILENCE_MS) != 1)
            fail_msg("silence after: %s", buf_text(&text));
        ssize_t got = recv(fd, piece, sizeof piece, 0);
        if (got <= 0)
            break;
        buf_add(&text, piece, (size_t)got);
    }
    return buf_take(&text);
}

char *browser_get(const char *url, const char *path, const char *lines)
{
    SCOPED(scoped_free)
    char *request =
        xasprintf("GET %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n%s\r\n", path, lines);
    int fd = browser_open(url, request);
    char *answer = browser_read(fd, NULL);
    close(fd);
    return answer;
}
