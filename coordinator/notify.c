/* notify - one datagram a word
 *
 * SPDX-License-Identifier: MIT */
#include "coordinator/notify.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "common/scoped.h"
#include "common/str.h"

static void say(const char *words)
{
    const char *path = getenv("NOTIFY_SOCKET");
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    if (!path || !*path || strlen(path) >= sizeof to.sun_path)
        return;
    memcpy(to.sun_path, path, strlen(path));
    if (*path == '@')
        to.sun_path[0] = '\0'; /* an abstract socket */
    SCOPED(scoped_close) int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return;
    socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(path));
    sendto(fd, words, strlen(words), MSG_NOSIGNAL, (const struct sockaddr *)&to, size);
}

void notify_ready(void)
{
    say("READY=1");
}

void notify_alive(void)
{
    say("WATCHDOG=1");
}

void notify_stopping(void)
{
    say("STOPPING=1");
}

int64_t notify_every_ms(void)
{
    const char *text = getenv("WATCHDOG_USEC");
    int64_t micros;
    return text && str_to_i64(text, &micros) && micros > 0 ? micros / 2000 : 0;
}
