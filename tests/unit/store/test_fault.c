/* test_fault - a failing disk leaves nothing half-written and nobody misled
 *
 * Every writing call to the disk fails in turn (I/O error, disk full; once, or from then on), while
 * jobs run that each write two rows and a task's result. Afterwards every job that was answered 0 is
 * there whole, every job that was answered -1 is absent whole, and the database is sound.
 *
 * SPDX-License-Identifier: MIT */
/* cmocka wants these first. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <sqlite3.h>
#include <stdio.h>
#include <string.h>

#include "common/scoped.h"
#include "common/xalloc.h"
#include "store/artifact.h"
#include "store/event.h"
#include "tests/unit/store/faulty_vfs.h"
#include "tests/unit/store/fixture.h"

enum { JOBS = 12, BLOB = 9000, CALLS_MAX = 400 };

typedef struct writing {
    int number;
    int result; /* 1: not answered */
} writing;

static int write_fn(store_tx *tx, void *arg, err *e)
{
    writing *w = arg;
    char blob[BLOB];
    for (int i = 0; i < BLOB; i++) /* does not compress to nothing */
        blob[i] = (char)((i * 7919 + w->number * 104729) >> 3);
    hash name;
    event_row first = {.at_ms = w->number, .kind = "first"};
    event_row second = {.at_ms = w->number, .kind = "second"};
    if (event_add(tx, &first, e) < 0 || artifact_put(tx, blob, sizeof blob, &name, e) < 0)
        return -1;
    return event_add(tx, &second, e);
}

static void keep_result(void *arg, int result, const err *e)
{
    (void)e;
    ((writing *)arg)->result = result;
}

static int64_t rows_of(fixture *f, const char *kind, int number)
{
    SCOPED(scoped_free)
    char *from = xasprintf("event WHERE kind = '%s' AND at_ms = %d", kind, number);
    return fixture_count(f, from);
}

static void expect_whole(fixture *f, const writing *jobs)
{
    int64_t good = 0;
    for (int i = 0; i < JOBS; i++) {
        int64_t want = jobs[i].result == 0 ? 1 : 0;
        assert_int_not_equal(jobs[i].result, 1);
        assert_int_equal(rows_of(f, "first", jobs[i].number), want);
        assert_int_equal(rows_of(f, "second", jobs[i].number), want);
        good += want;
    }
    assert_int_equal(fixture_count(f, "artifact"), good);
    assert_int_equal(fixture_count(f, "pragma_integrity_check WHERE integrity_check = 'ok'"), 1);
}

/* One disk that fails at call `nth`; false when there were not so many calls. */
static bool try_fault(long nth, int code, bool on)
{
    SCOPED(fixture_destroy) fixture *f = fixture_create();
    writing jobs[JOBS];
    faulty_vfs_arm(nth, code, on);
    for (int i = 0; i < JOBS; i++) {
        jobs[i] = (writing){.number = i + 1, .result = 1};
        assert_int_equal(store_submit(f->db, write_fn, &jobs[i], keep_result, NULL), 0);
        if (i % 3 == 2) /* batches of three or so */
            store_run(f->db, write_fn, &(writing){.number = -1}, NULL);
    }
    store_run(f->db, write_fn, &(writing){.number = -1},
              NULL); /* all are answered after this one */
    bool hit = faulty_vfs_hits() > 0;
    faulty_vfs_arm(0, 0, false);
    fixture_exec(f, "DELETE FROM event WHERE at_ms = -1"); /* works again */
    fixture_reopen(f);
    fixture_exec(f, "CREATE TABLE IF NOT EXISTS scratch (a)");
    char mark[BLOB];
    for (int i = 0; i < BLOB; i++)
        mark[i] = (char)((i * 7919 - 104729) >> 3);
    hash name = hash_of(mark, sizeof mark);
    char hex[HASH_HEX];
    hash_hex(&name, hex);
    SCOPED(scoped_free) char *sql = xasprintf("DELETE FROM artifact WHERE hash = '%s'", hex);
    fixture_exec(f, sql);
    expect_whole(f, jobs);
    return hit;
}

static void every_failing_write_is_all_or_nothing(void **state)
{
    (void)state;
    static const int codes[] = {SQLITE_IOERR_WRITE, SQLITE_FULL, SQLITE_IOERR_FSYNC};
    long faults = 0;
    for (size_t c = 0; c < sizeof codes / sizeof codes[0]; c++)
        for (int on = 0; on < 2; on++)
            for (long nth = 1; nth < CALLS_MAX; nth += 1 + nth / 12) {
                if (!try_fault(nth, codes[c], on == 1))
                    break;
                faults++;
            }
    assert_true(faults > 60);
}

int main(void)
{
    faulty_vfs_install();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_failing_write_is_all_or_nothing),
    };
    return cmocka_run_group_tests_name("fault", tests, NULL, NULL);
}
