/* bench_coord - durable results a second of a whole coordinator
 *
 * Simulated nodes, each with a connection of its own over loopback tcp with CURVE, take leases and answer
 * each with a result at once. Grant and result are two durable steps (synchronous FULL); a result is
 * acknowledged after its commit. The nodes fetch no blobs. The first coordinator dies as soon as all have
 * registered, is gone for two seconds and is started again: the nodes find out by themselves, by the answer to
 * their beats. Prints how long they took to register again, memory before the first lease and at most, tasks
 * a second, how long a node waits from its ack to its next lease, and the processor time of each thread (the
 * store's includes making the run).
 * Not a timed test: it fails only when work fails.
 *
 *   bench_coord [NODES [TASKS]]    (default 256 nodes, 20000 tasks)
 *
 * SPDX-License-Identifier: MIT */
#include <dirent.h>
#include <math.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/file.h"
#include "common/scoped.h"
#include "common/xalloc.h"
#include "coordinator/coord.h"
#include "tests/unit/coordinator/world.h"
#include "wire/record.h"
#include "wire/sock.h"

enum {
    NODES = 256,
    TASKS = 20000,
    CREDIT = 2,
    PAUSE_NS = 200000,
    SWEEP_MS = 100,
    BEAT_MS = 1000,
    GONE_S = 2,
    WAITS = 1 << 20
};

/* One simulated node. */
typedef struct box {
    sock *dealer;
    size_t number;
    uint64_t seq;
    int64_t free_us[CREDIT]; /* since when each free slot waits for a lease, oldest first */
    size_t free;
} box;

typedef struct driver {
    const world *w;
    const curve_file *key;
    const char *record;
    size_t first, count; /* its nodes */
    double *waits;       /* ms */
    size_t wait_count;
    atomic_size_t welcomed;
    atomic_bool again;     /* the second coordinator is there: tasks are taken */
    int64_t registered_us; /* when the last one was welcome */
    bool over;
} driver;

static void say(box *b, message *m)
{
    m->seq = ++b->seq;
    while (sock_send(b->dealer, NULL, m, NULL) < 0)
        nanosleep(&(struct timespec){.tv_nsec = PAUSE_NS}, NULL);
    message_fini(m);
}

static void say_hello(box *b)
{
    char name[32];
    message m;
    message_init(&m, MSG_HELLO);
    snprintf(name, sizeof name, "pool.%zu", b->number);
    m.body.hello.protocol = MESSAGE_PROTOCOL;
    m.body.hello.slots = CREDIT;
    message_set_str(&m.body.hello.node, name);
    message_set_str(&m.body.hello.instance, name);
    message_set_str(&m.body.hello.software, "{}");
    m.body.hello.devices = xcalloc(1, sizeof *m.body.hello.devices);
    m.body.hello.devices_count = 1;
    message_set_str(&m.body.hello.devices[0].kind, "fake");
    say(b, &m);
}

static void beat(box *b)
{
    char name[32];
    message m;
    message_init(&m, MSG_BEAT);
    snprintf(name, sizeof name, "pool.%zu", b->number);
    message_set_str(&m.body.beat.node, name);
    message_set_str(&m.body.beat.instance, name);
    say(b, &m);
}

static void pull(box *b, size_t slots)
{
    message m;
    for (size_t i = 0; i < slots && b->free < CREDIT; i++)
        b->free_us[b->free++] = clock_mono_us();
    message_init(&m, MSG_PULL);
    m.body.pull.credit = (int64_t)b->free;
    say(b, &m);
}

static void answer(driver *d, box *b, const message *given)
{
    message m;
    MUST(b->free > 0);
    if (d->wait_count < WAITS)
        d->waits[d->wait_count++] = (double)(clock_mono_us() - b->free_us[0]) / 1000.0;
    memmove(b->free_us, b->free_us + 1, --b->free * sizeof b->free_us[0]);
    message_init(&m, MSG_RESULT);
    message_set_str(&m.body.result.task, given->body.lease.task);
    m.body.result.token = given->body.lease.token;
    message_set_str(&m.body.result.record, d->record);
    say(b, &m);
}

static void react(driver *d, box *b, const message *m)
{
    if (m->type == MSG_LEASE)
        answer(d, b, m);
    if (m->type == MSG_REFUSED)
        say_hello(b);
    if (m->type == MSG_WELCOME && ++d->welcomed == d->count)
        d->registered_us = clock_mono_us();
    if ((m->type == MSG_WELCOME && d->again) || m->type == MSG_ACK)
        pull(b, m->type == MSG_ACK ? 1 : CREDIT);
    d->over |= m->type == MSG_BYE;
}

/* A ZeroMQ descriptor tells a change, not a state: what is there is taken to the end. */
static void listen_to(driver *d, box *b)
{
    message m;
    while (!d->over && sock_recv(b->dealer, NULL, &m, NULL) > 0) {
        react(d, b, &m);
        message_fini(&m);
    }
}

static void *drive(void *arg)
{
    driver *d = arg;
    SCOPED(sock_ctx_destroy) sock_ctx *context = sock_ctx_create(NULL);
    SCOPED(scoped_free) box *boxes = xcalloc(d->count, sizeof *boxes);
    SCOPED(scoped_free) struct pollfd *polls = xcalloc(d->count, sizeof *polls);
    for (size_t i = 0; i < d->count; i++) {
        boxes[i].number = d->first + i;
        boxes[i].dealer = sock_create(context, SOCK_DEALER, &(sock_options){.key = d->key}, NULL);
        MUST(sock_connect(boxes[i].dealer, d->w->coord->joined, NULL) == 0);
        polls[i] = (struct pollfd){.fd = sock_fd(boxes[i].dealer), .events = POLLIN};
    }
    for (size_t i = 0; i < d->count; i++)
        say_hello(&boxes[i]);
    for (size_t i = 0; i < d->count; i++)
        listen_to(d, &boxes[i]);
    int64_t beat_us = clock_mono_us();
    while (!d->over) {
        bool due = clock_mono_us() - beat_us > BEAT_MS * 1000;
        for (size_t i = 0; due && i < d->count; i++)
            beat(&boxes[i]);
        beat_us = due ? clock_mono_us() : beat_us;
        MUST(poll(polls, d->count, SWEEP_MS) >= 0);
        for (size_t i = 0; i < d->count; i++) {
            if (due || polls[i].revents) /* what was sent may have taken the signal of what came */
                listen_to(d, &boxes[i]);
        }
    }
    for (size_t i = 0; i < d->count; i++)
        sock_destroy(&boxes[i].dealer);
    return NULL;
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static char *make_record(void)
{
    char reason[] = "not measured", words[] = "";
    result_record record = {.speedup = (double)NAN,
                            .reason = reason,
                            .candidate_ms = (double)NAN,
                            .ci_low = (double)NAN,
                            .ci_high = (double)NAN,
                            .floor_ms = (double)NAN,
                            .baseline_ms = (double)NAN,
                            .text = words,
                            .wall_ms = 1};
    return result_record_write(&record);
}

/* Processor time of each thread, by name: the store's, the loop's, ZeroMQ's (one context a side). */
static void print_threads(void)
{
    DIR *all = opendir("/proc/self/task");
    MUST(all != NULL);
    for (struct dirent *one; (one = readdir(all)) != NULL;) {
        SCOPED(scoped_free) char *path = xasprintf("/proc/self/task/%s/stat", one->d_name);
        char line[1024], name[32];
        unsigned long user = 0, kernel = 0;
        SCOPED(scoped_fclose) FILE *in = fopen(path, "re");
        if (in == NULL || fgets(line, sizeof line, in) == NULL)
            continue;
        sscanf(line, "%*d (%31[^)]) %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", name,
               &user, &kernel);
        if (user + kernel > 5)
            printf("  %-16s %5.2f s user, %5.2f s kernel\n", name, (double)user / 100,
                   (double)kernel / 100);
    }
    closedir(all);
}

static long memory_mib(void)
{
    long pages = 0;
    SCOPED(scoped_fclose) FILE *in = fopen("/proc/self/statm", "re");
    MUST(in != NULL && fscanf(in, "%*d %ld", &pages) == 1);
    return pages * sysconf(_SC_PAGESIZE) / (1024 * 1024);
}

static void report(size_t tasks, double seconds, driver *d)
{
    struct rusage use;
    getrusage(RUSAGE_SELF, &use);
    qsort(d->waits, d->wait_count, sizeof *d->waits, by_size);
    printf(
        "%zu nodes, %zu tasks in %.2f s: %.0f results/s; lease after pull: p50 %.2f ms, p99 %.2f "
        "ms; process %ld MiB\n",
        d->count, tasks, seconds, (double)tasks / seconds, d->waits[d->wait_count / 2],
        d->waits[d->wait_count * 99 / 100], use.ru_maxrss / 1024);
}

static void on_look(void *arg)
{
    driver *d = arg;
    if (d->welcomed == d->count)
        coord_stop(d->w->coord, COORD_INTERRUPTED, NULL);
}

/* The second one comes to the same address and reads the run anew. */
static void die_when_all_are_there(world *w, driver *d)
{
    coord_end end;
    err e = {0};
    SCOPED(scoped_free) char *address = xstrdup(w->coord->joined);
    SCOPED(scoped_free) char *keys = file_join(w->folder, "keys");
    SCOPED(scoped_free) char *id = xstrdup(w->run->id);
    loop_add_timer(w->coord->events, SWEEP_MS, SWEEP_MS, on_look, d);
    MUST(coord_run(w->coord, &end, NULL) == 0 && end == COORD_INTERRUPTED);
    coord_options how = w->coord->options;
    coord_destroy(&w->coord);
    run_destroy(&w->run);
    sleep(GONE_S);
    w->run = run_open(w->store, id, clock_wall_ms(), &e);
    MUST(w->run != NULL);
    how.run = w->run;
    how.bind = address;
    how.keys = keys;
    d->welcomed = 0;
    d->again = true;
    w->coord = coord_create(&how, &e);
    MUST(w->coord != NULL);
}

int main(int argc, char **argv)
{
    size_t fleet = argc > 1 ? strtoul(argv[1], NULL, 10) : NODES;
    size_t tasks = argc > 2 ? strtoul(argv[2], NULL, 10) : TASKS;
    SCOPED(scoped_free) char *record = make_record();
    SCOPED(world_destroy)
    world *w = world_create(&(world_options){
        .only = "silu_fp16", .samples = (int64_t)tasks, .secure = true, .lost_ms = 600000});
    curve_file key = world_key(w, "pool");
    SCOPED(scoped_free) double *waits = xcalloc(WAITS, sizeof *waits);
    driver d = {.w = w, .key = &key, .record = record, .count = fleet, .waits = waits};
    pthread_t thread;
    coord_end end;
    MUST(pthread_create(&thread, NULL, drive, &d) == 0);
    die_when_all_are_there(w, &d);
    long before_mib = memory_mib();
    int64_t began = clock_mono_us();
    MUST(coord_run(w->coord, &end, NULL) == 0 && end == COORD_FINISHED);
    double seconds = (double)(clock_mono_us() - began) / 1e6;
    print_threads();
    coord_goodbye(w->coord, "done");
    pthread_join(thread, NULL);
    printf("registered again after %.2f s; memory before the first node %ld MiB\n",
           (double)(d.registered_us - began) / 1e6, before_mib);
    report(tasks, seconds, &d);
    return sched_count(w->run->tasks, SCHED_SYNTHESIZE).scored == tasks ? 0 : 1;
}
