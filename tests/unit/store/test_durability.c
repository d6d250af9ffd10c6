/* test_durability - a killed process loses nothing that was acknowledged
 *
 * A child writes as fast as it can and reports each acknowledged job over a pipe; it is killed with
 * SIGKILL at an arbitrary point; what it reported must be in the database.
 *
 * SPDX-License-Identifier: MIT */
/* cmocka wants these first. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/scoped.h"
#include "common/xalloc.h"
#include "store/event.h"
#include "tests/unit/store/fixture.h"

enum { KILLS = 8, IN_FLIGHT = 64 };

typedef struct pair {
    int64_t number;
    int report; /* pipe */
} pair;

/* Two rows a job: after a crash there must be both or none. */
static int pair_fn(store_tx *tx, void *arg, err *e)
{
    pair *p = arg;
    event_row row = {.at_ms = p->number, .kind = "first"};
    if (event_add(tx, &row, e) < 0)
        return -1;
    row.kind = "second";
    return event_add(tx, &row, e);
}

static void pair_done(void *arg, int result, const err *e)
{
    pair *p = arg;
    (void)e;
    if (result == 0 && write(p->report, &p->number, sizeof p->number) != sizeof p->number)
        abort();
    free(p);
}

static void write_until_killed(const char *path, int64_t from, int report)
{
    store *db = store_open(path, STORE_OWN, NULL);
    if (db == NULL)
        _exit(1);
    for (int64_t number = from;; number++) {
        pair *p = xcalloc(1, sizeof *p);
        *p = (pair){number, report};
        if (store_submit(db, pair_fn, p, pair_done, NULL) < 0)
            _exit(1);
        if (number % IN_FLIGHT == 0) /* let the store keep up: the queue is bounded */
            store_run(db, pair_fn, &(pair){-number, report}, NULL);
    }
}

/* Reads acknowledgements; kills the child after `enough` of them; gives the largest one. */
static int64_t kill_after(pid_t child, int pipe_end, int64_t enough)
{
    int64_t number, largest = -1, seen = 0;
    while (read(pipe_end, &number, sizeof number) == sizeof number) {
        largest = number > largest ? number : largest;
        if (++seen == enough)
            kill(child, SIGKILL);
    }
    assert_true(seen >= enough);
    return largest;
}

static void acknowledged_jobs_survive_sigkill(void **state)
{
    (void)state;
    SCOPED(fixture_destroy) fixture *f = fixture_create();
    int64_t acknowledged = 0;
    for (int i = 0; i < KILLS; i++) {
        store_destroy(&f->db);
        int ends[2];
        assert_int_equal(pipe(ends), 0);
        pid_t child = fork();
        if (child == 0) {
            close(ends[0]);
            write_until_killed(f->path, acknowledged + 1, ends[1]);
        }
        close(ends[1]);
        int64_t largest = kill_after(child, ends[0], 37 + 61 * i);
        close(ends[0]);
        waitpid(child, NULL, 0);
        fixture_reopen(f);
        SCOPED(scoped_free)
        char *lost = xasprintf("(SELECT 1 FROM event WHERE kind = 'first' AND at_ms BETWEEN 1 AND "
                               "%lld GROUP BY at_ms)",
                               (long long)largest);
        assert_int_equal(fixture_count(f, lost), largest);
        assert_int_equal(fixture_count(f, "event WHERE kind = 'first'"),
                         fixture_count(f, "event WHERE kind = 'second'"));
        acknowledged = largest;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(acknowledged_jobs_survive_sigkill),
    };
    return cmocka_run_group_tests_name("durability", tests, NULL, NULL);
}
