/* bench_restart - how long a coordinator takes to come back to a large run, and in how much memory
 *
 * Half of the tasks are done, two for each of 256 nodes were on their way, the rest waits. Prints seconds,
 * the seconds that reading the same rows alone takes, and memory. Not a timed test: it fails only when
 * what was read is wrong.
 *
 *   bench_restart [TASKS]    (default 100000)
 *
 * SPDX-License-Identifier: MIT */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "common/clock.h"
#include "common/scoped.h"
#include "common/xalloc.h"
#include "store/db.h"
#include "store/task.h"
#include "tests/unit/coordinator/world.h"

enum { TASKS = 100000, LEASED = 512 };

static int fill(store_tx *tx, void *arg, err *e)
{
    return db_exec(tx, arg, e);
}

/* Copies of the one attempt, with ids and samples of their own. */
static char *more_tasks(size_t count)
{
    return xasprintf(
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %zu) "
        "INSERT INTO task (id, run, kind, problem, entrant, sample, spec, state, token, leases, "
        "node, "
        "outcome, reason, wall_ms) SELECT printf('00%%024d', i), run, kind, problem, entrant, i, "
        "spec, "
        "CASE WHEN i <= %zu THEN 'done' WHEN i <= %zu THEN 'leased' ELSE 'waiting' END, "
        "iif(i <= %zu, i, 0), i <= %zu, iif(i <= %zu, 'box', NULL), iif(i <= %zu, 'ok', NULL), "
        "iif(i <= %zu, 'not measured', NULL), 1.0 FROM n, task t WHERE t.kind = 'synthesize' AND "
        "t.sample = 0",
        count - 1, count / 2, count / 2 + LEASED, count / 2 + LEASED, count / 2 + LEASED,
        count / 2 + LEASED, count / 2, count / 2);
}

static int count_one(store_tx *tx, const task_brief *row, void *arg, err *e)
{
    (void)tx;
    (void)row;
    (void)e;
    ++*(size_t *)arg;
    return 0;
}

typedef struct reading {
    const char *run;
    size_t rows;
} reading;

static int read_alone(store_tx *tx, void *arg, err *e)
{
    reading *r = arg;
    return task_each(tx, r->run, count_one, &r->rows, e);
}

static long memory_kib(void)
{
    long pages = 0;
    SCOPED(scoped_fclose) FILE *in = fopen("/proc/self/statm", "re");
    MUST(in != NULL && fscanf(in, "%*d %ld", &pages) == 1);
    return pages * 4;
}

int main(int argc, char **argv)
{
    size_t tasks = argc > 1 ? strtoul(argv[1], NULL, 10) : TASKS;
    SCOPED(world_destroy) world *w = world_create(&(world_options){.only = "silu_fp16"});
    SCOPED(scoped_free) char *sql = more_tasks(tasks);
    MUST(store_run(w->store, fill, sql, NULL) == 0);
    store_destroy(&w->store);
    malloc_trim(0);
    long before = memory_kib();
    int64_t from = clock_mono_us();
    w->store = store_open(w->db, STORE_OWN, NULL);
    MUST(w->store != NULL);
    SCOPED(run_destroy) run *again = run_open(w->store, "latest", clock_wall_ms(), NULL);
    double seconds = (double)(clock_mono_us() - from) / 1e6;
    MUST(again != NULL);
    long after = memory_kib();
    sched_counts counts = sched_count(again->tasks, SCHED_SYNTHESIZE);
    MUST(counts.planned == tasks && counts.state[SCHED_DONE] == tasks / 2);
    MUST(counts.state[SCHED_WAITING] == tasks - tasks / 2);
    reading alone = {.run = again->id};
    from = clock_mono_us();
    MUST(store_run(w->store, read_alone, &alone, NULL) == 0 && alone.rows == tasks + 1);
    double floor = (double)(clock_mono_us() - from) / 1e6;
    struct rusage use;
    getrusage(RUSAGE_SELF, &use);
    printf("%zu tasks: back in %.2f s, %.2f times reading the rows alone (%.2f s); %ld MiB more, "
           "process %ld MiB at most\n",
           tasks, seconds, seconds / floor, floor, (after - before) / 1024, use.ru_maxrss / 1024);
    return 0;
}
