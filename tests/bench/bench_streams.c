/* bench_streams - what 64 concurrent streams cost in CPU time
 *
 *   bench_streams [STREAMS]     default 64; target: 10 % of one core or less
 *
 * A plain server in this process's child sends each stream an event of about 200 bytes every 20 ms for
 * five seconds (50 a second is a fast model). What counts is the user and system time of this process.
 *
 * SPDX-License-Identifier: MIT */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/json.h"
#include "common/scoped.h"
#include "common/str.h"
#include "common/xalloc.h"
#include "providers/anthropic.h"
#include "providers/http.h"
#include "providers/sse.h"

enum { STREAMS_MAX = 256, TICKS = 250, TICK_MS = 20, DATA_MAX = 1 << 20 };

/* ---- the server: one thread, one tick for all ---- */

static const char head[] =
    "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
    "Connection: close\r\n\r\n"
    "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{}}\n\n";
static const char piece[] =
    "event: content_block_delta\ndata: "
    "{\"type\":\"content_block_delta\",\"index\":1,\"delta\":{\"type\":"
    "\"text_delta\",\"text\":\"    float value = input[row * columns + column];\"}}\n\n";
static const char tail[] =
    "event: message_delta\ndata: "
    "{\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"}}\n\n"
    "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n";

static void send_text(int fd, const char *text)
{
    if (send(fd, text, strlen(text), MSG_NOSIGNAL) < 0) {
        _exit(1);
    }
}

static void tick(void)
{
    const struct timespec wait = {.tv_nsec = TICK_MS * 1000000};
    nanosleep(&wait, NULL);
}

static void serve(int listener, int streams)
{
    int fds[STREAMS_MAX];
    char request[4096];
    for (int i = 0; i < streams; i++) {
        fds[i] = accept(listener, NULL, NULL);
        if (fds[i] < 0 || recv(fds[i], request, sizeof(request), 0) <= 0) {
            _exit(1);
        }
        send_text(fds[i], head);
    }
    for (int t = 0; t < TICKS; t++) {
        for (int i = 0; i < streams; i++) {
            send_text(fds[i], piece);
        }
        tick();
    }
    for (int i = 0; i < streams; i++) {
        send_text(fds[i], tail);
        close(fds[i]);
    }
    _exit(0);
}

/* ---- the client ---- */

typedef struct stream {
    http *client;
    const char *url;
    pthread_t thread;
    reply reply;
    bool whole;
} stream;

static int on_event(void *arg, const char *name, const char *data, size_t size, err *e)
{
    stream *self = arg;
    SCOPED(json_destroy) json *value = json_parse_tree(data, size, "event", e);
    if (value == NULL) {
        return -1;
    }
    anthropic_remote.read_event(&self->reply, name, value);
    return 0;
}

static int on_bytes(void *arg, const char *bytes, size_t size, err *e)
{
    return sse_feed(arg, bytes, size, e);
}

static void *run(void *arg)
{
    stream *self = arg;
    err e = {0};
    SCOPED(sse_fini) sse events;
    http_reply got SCOPED(http_reply_fini);
    sse_init(&events, DATA_MAX, on_event, self);
    const http_request request = {.url = self->url,
                                  .body = "{}",
                                  .body_size = 2,
                                  .body_max = DATA_MAX,
                                  .connect_ms = 10000,
                                  .idle_ms = 10000,
                                  .total_ms = 60000,
                                  .stream = on_bytes,
                                  .arg = &events};
    self->whole = http_post(self->client, &request, &got, &e) == 0 && self->reply.ended &&
                  self->reply.text.size > TICKS * 40;
    return NULL;
}

static double cpu_s(void)
{
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    return (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
           (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6;
}

static int run_streams(const char *url, int count)
{
    static stream all[STREAMS_MAX];
    err e = {0};
    int whole = 0;
    SCOPED(http_destroy) http *client = http_create(NULL, &e);
    int64_t start = clock_mono_ms();
    double before = cpu_s();
    for (int i = 0; i < count; i++) {
        all[i] = (stream){.client = client, .url = url};
        reply_init(&all[i].reply);
        pthread_create(&all[i].thread, NULL, run, &all[i]);
    }
    for (int i = 0; i < count; i++) {
        pthread_join(all[i].thread, NULL);
        whole += all[i].whole;
        reply_fini(&all[i].reply);
    }
    double wall = (double)(clock_mono_ms() - start) / 1000.0;
    printf("%d streams, %d whole, %.1f s: %.1f %% of one core\n", count, whole, wall,
           100.0 * (cpu_s() - before) / wall);
    return whole == count ? 0 : 1;
}

int main(int argc, char **argv)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof(at);
    int64_t count = 64;
    char url[64];
    if (argc > 1 && (!str_to_i64(argv[1], &count) || count < 1 || count > STREAMS_MAX)) {
        fprintf(stderr, "usage: bench_streams [1..%d]\n", STREAMS_MAX);
        return 2;
    }
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    if (listener < 0 || bind(listener, (struct sockaddr *)&at, size) != 0 ||
        listen(listener, STREAMS_MAX) != 0 ||
        getsockname(listener, (struct sockaddr *)&at, &size) != 0) {
        perror("listen");
        return 1;
    }
    pid_t server = fork();
    if (server == 0) {
        serve(listener, (int)count);
    }
    close(listener);
    snprintf(url, sizeof(url), "http://127.0.0.1:%d/v1/messages", ntohs(at.sin_port));
    int rc = run_streams(url, (int)count);
    waitpid(server, NULL, 0);
    return rc;
}
