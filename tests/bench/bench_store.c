/* bench_store - durable jobs a second
 *
 * Queues small jobs (one event row each) as fast as the store takes them and prints how many became
 * durable a second. Not a timed test: it fails only when a job fails.
 *
 * SPDX-License-Identifier: MIT */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/clock.h"
#include "common/file.h"
#include "common/scoped.h"
#include "common/xalloc.h"
#include "store/event.h"

enum { JOBS = 50000 };

static atomic_int durable, failed;

static int note_fn(store_tx *tx, void *arg, err *e)
{
    event_row row = {.at_ms = 1, .run = "run", .task = arg, .node = "node", .kind = "granted"};
    return event_add(tx, &row, e);
}

static void note_done(void *arg, int result, const err *e)
{
    (void)arg;
    (void)e;
    atomic_fetch_add(result == 0 ? &durable : &failed, 1);
}

static void fill(store *db, char *task)
{
    for (int i = 0; i < JOBS; i++)
        while (store_submit(db, note_fn, task, note_done, NULL) < 0)
            nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
}

static int measure(const char *path)
{
    err e = {0};
    store *db = store_open(path, STORE_OWN, &e);
    if (db == NULL) {
        fprintf(stderr, "bench_store: %s\n", e.text);
        return 1;
    }
    char task[] = "01arz3ndektsv4rrffq69g5fav";
    int64_t from = clock_mono_us();
    fill(db, task);
    store_destroy(&db); /* answers all */
    double seconds = (double)(clock_mono_us() - from) / 1e6;
    printf("%d durable jobs in %.3f s: %.0f a second\n", atomic_load(&durable), seconds,
           JOBS / seconds);
    return atomic_load(&failed) == 0 && atomic_load(&durable) == JOBS ? 0 : 1;
}

int main(void)
{
    char folder[] = "/tmp/ce-bench-XXXXXX";
    if (mkdtemp(folder) == NULL)
        return 1;
    SCOPED(scoped_free) char *path = file_join(folder, "ce.db");
    int code = measure(path);
    file_remove_tree(folder, NULL);
    return code;
}
