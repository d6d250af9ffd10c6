/* fuzz_http - any bytes as a request to the server of the live page, over a real socket
 *
 * Whatever comes, the server answers with HTTP or hangs up, it tells nothing of the database to whom does not
 * give the token, and it is there for the next one.
 *
 * SPDX-License-Identifier: MIT */
#include <arpa/inet.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/buf.h"
#include "common/scoped.h"
#include "dashboards/server.h"
#include "tests/unit/reports/filled.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Half a request gets no answer, so the wait for one is short. What a busy host says later is not looked at. */
enum { SILENCE_MS = 2, PATIENCE_MS = 60000, ANSWER_MAX = 4 * 1024 * 1024, ASK_EVERY = 256 };

static const char token[] = "0123456789abcdef";
/* Of the run in the database; no answer without the token has it. */
static const char secret[] = "run-cuda";

static struct {
    fixture *f;
    metrics *metrics;
    server *server;
    struct sockaddr_in at;
    size_t asked;
} rig;

static void must(bool truth)
{
    if (!truth)
        abort();
}

static void rig_fini(void)
{
    server_destroy(&rig.server);
    metrics_destroy(&rig.metrics);
    fixture_destroy(&rig.f);
}

static void rig_init(void)
{
    err e = {0};
    rig.f = fixture_create();
    rig.metrics = metrics_create("0.1.0");
    filled_cuda(rig.f);
    const server_options options = {
        .address = "127.0.0.1:0", .token = token, .db = rig.f->db, .metrics = rig.metrics};
    rig.server = server_start(&options, &e);
    must(rig.server != NULL);
    const char *colon = strrchr(server_url(rig.server), ':');
    rig.at = (struct sockaddr_in){.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)strtol(colon + 1, NULL, 10)),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    atexit(rig_fini);
}

static bool has(const void *text, size_t size, const char *word)
{
    return memmem(text, size, word, strlen(word)) != NULL;
}

static int dial(void)
{
    const struct linger none = {.l_onoff =
                                    1}; /* close() resets: nothing of it is left in the kernel */
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    must(fd >= 0 && connect(fd, (struct sockaddr *)&rig.at, sizeof rig.at) == 0);
    must(setsockopt(fd, SOL_SOCKET, SO_LINGER, &none, sizeof none) == 0);
    return fd;
}

/* The server may hang up before it has read all. */
static void put(int fd, const void *data, size_t size)
{
    const char *from = data;
    ssize_t sent;
    for (size_t done = 0; done < size; done += (size_t)sent)
        if ((sent = send(fd, from + done, size - done, MSG_NOSIGNAL)) <= 0)
            return;
}

/* What comes until the server closes or is silent. */
static void ask(const void *data, size_t size, int silence_ms, buf *out)
{
    char piece[16384];
    SCOPED(scoped_close) int fd = dial();
    struct pollfd waiting = {.fd = fd, .events = POLLIN};
    put(fd, data, size);
    while (poll(&waiting, 1, silence_ms) == 1) {
        ssize_t got = recv(fd, piece, sizeof piece, 0);
        if (got <= 0)
            return;
        buf_add(out, piece, (size_t)got);
    }
}

static void is_well(void)
{
    static const char health[] =
        "GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    SCOPED(buf_fini) buf answer = {0};
    buf_init(&answer, ANSWER_MAX);
    ask(health, sizeof health - 1, PATIENCE_MS, &answer);
    must(strncmp(buf_text(&answer), "HTTP/1.1 200 ", 13) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (rig.server == NULL)
        rig_init();
    SCOPED(buf_fini) buf answer = {0};
    buf_init(&answer, ANSWER_MAX);
    ask(data, size, SILENCE_MS, &answer);
    must(answer.size == 0 || strncmp(buf_text(&answer), "HTTP/1.", 7) == 0);
    must(has(data, size, token) || has(data, size, secret) ||
         !has(buf_text(&answer), answer.size, secret));
    if (++rig.asked % ASK_EVERY == 0)
        is_well();
    return 0;
}
