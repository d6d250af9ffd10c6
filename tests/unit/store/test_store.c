/* test_store - one owner, group commit, answers only after COMMIT
 *
 * SPDX-License-Identifier: MIT */
/* cmocka wants these first. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/file.h"
#include "common/scoped.h"
#include "store/db.h"
#include "store/event.h"
#include "tests/unit/store/fixture.h"

enum { NOBODY = 65534 };

static int note_fn(store_tx *tx, void *arg, err *e)
{
    event_row row = {.at_ms = 1, .kind = "note", .detail = arg};
    return event_add(tx, &row, e);
}

static int note_and_fail_fn(store_tx *tx, void *arg, err *e)
{
    if (note_fn(tx, arg, e) < 0)
        return -1;
    return err_set(e, ERR_TIMEOUT, "planned failure of %s", (const char *)arg);
}

static store *reader(const fixture *f, err *e)
{
    return store_open(f->path, STORE_READ, e);
}

static void a_new_database_gets_folder_file_and_schema(void **state)
{
    (void)state;
    SCOPED(fixture_destroy) fixture *f = fixture_create();
    char path[128];
    snprintf(path, sizeof path, "%s/a/b/new.db", f->folder);
    err e = {0};
    SCOPED(store_destroy) store *db = store_open(path, STORE_OWN, &e);
    assert_non_null(db);
    assert_string_equal(store_path(db), path);
    assert_true(file_exists(path));
    assert_int_equal(store_run(db, note_fn, (char[]){"x"}, &e), 0);
}

static void what_was_stored_is_there_after_reopening(void **state)
{
    (void)state;
    SCOPED(fixture_destroy) fixture *f = fixture_create();
    fixture_do(f, note_fn, (char[]){"kept"});
    fixture_reopen(f);
    assert_int_equal(fixture_count(f, "event WHERE detail = 'kept'"), 1);
}

static void a_failing_job_undoes_only_itself(void **state)
{
    (void)state;
    SCOPED(fixture_destroy) fixture *f = fixture_create();
    fixture_do(f, note_fn, (char[]){"before"});
    const char *text = fixture_fails(f, note_and_fail_fn, (char[]){"middle"}, ERR_TIMEOUT);
    assert_string_equal(text, "planned failure of middle");
    fixture_do(f, note_fn, (char[]){"after"});
    assert_int_equal(fixture_count(f, "event"), 2);
    assert_int_equal(fixture_count(f, "event WHERE detail = 'middle'"), 0);
}

/* ---- one transaction with several jobs ---- */

typedef struct answers {
    sem_t all, go;
    int expected, count;
    int results[8];
    char order[9];
} answers;

typedef struct labelled {
    answers *to;
    const char *name;
} labelled;

static void keep_answer(void *arg, int result, const err *e)
{
    labelled *l = arg;
    (void)e;
    l->to->results[l->to->count] = result;
    l->to->order[l->to->count] = l->name[0];
    if (++l->to->count == l->to->expected)
        sem_post(&l->to->all);
}

static int labelled_note(store_tx *tx, void *arg, err *e)
{
    return note_fn(tx, (void *)(uintptr_t)((labelled *)arg)->name, e);
}

static int labelled_fail(store_tx *tx, void *arg, err *e)
{
    return note_and_fail_fn(tx, (void *)(uintptr_t)((labelled *)arg)->name, e);
}

/* Holds the store thread until the test has queued the rest, so that they share its transaction. */
static int labelled_wait(store_tx *tx, void *arg, err *e)
{
    sem_wait(&((labelled *)arg)->to->go);
    return labelled_note(tx, arg, e);
}

static void jobs_of_one_transaction_succeed_and_fail_apart(void **state)
{
    (void)state;
    SCOPED(fixture_destroy) fixture *f = fixture_create();
    answers a = {.expected = 4};
    sem_init(&a.all, 0, 0);
    sem_init(&a.go, 0, 0);
    labelled jobs[4] = {{&a, "1"}, {&a, "2"}, {&a, "3"}, {&a, "4"}};
    store_fn *fns[4] = {labelled_wait, labelled_note, labelled_fail, labelled_note};
    for (int i = 0; i < 4; i++)
        assert_int_equal(store_submit(f->db, fns[i], &jobs[i], keep_answer, NULL), 0);
    sem_post(&a.go);
    sem_wait(&a.all);
    assert_string_equal(a.order, "1234");
    assert_int_equal(a.results[0], 0);
    assert_int_equal(a.results[1], 0);
    assert_int_equal(a.results[2], -1);
    assert_int_equal(a.results[3], 0);
    assert_int_equal(fixture_count(f, "event WHERE detail IN ('1', '2', '4')"), 3);
    assert_int_equal(fixture_count(f, "event"), 3);
}

static int lose_the_transaction(store_tx *tx, void *arg, err *e)
{
    if (db_exec(tx, "ROLLBACK", e) < 0) /* what SQLite itself does on a full disk */
        return -1;
    (void)arg;
    return err_set(e, ERR_LIMIT, "the disk is full");
}

static void a_lost_transaction_takes_its_jobs_and_spares_the_next(void **state)
{
    (void)state;
    SCOPED(fixture_destroy) fixture *f = fixture_create();
    answers a = {.expected = 4};
    sem_init(&a.all, 0, 0);
    sem_init(&a.go, 0, 0);
    labelled jobs[4] = {{&a, "1"}, {&a, "2"}, {&a, "3"}, {&a, "4"}};
    store_fn *fns[4] = {labelled_wait, labelled_note, lose_the_transaction, labelled_note};
    for (int i = 0; i < 4; i++)
        assert_int_equal(store_submit(f->db, fns[i], &jobs[i], keep_answer, NULL), 0);
    sem_post(&a.go);
    sem_wait(&a.all);
    static const int want[4] = {-1, -1, -1, 0};
    assert_memory_equal(a.results, want, sizeof want);
    assert_int_equal(fixture_count(f, "event"), 1);
    assert_int_equal(fixture_count(f, "event WHERE detail = '4'"), 1);
}

static void destroying_answers_every_accepted_job(void **state)
{
    (void)state;
    SCOPED(fixture_destroy) fixture *f = fixture_create();
    answers a = {.expected = 3};
    sem_init(&a.all, 0, 0);
    sem_init(&a.go, 0, 0);
    labelled jobs[3] = {{&a, "1"}, {&a, "2"}, {&a, "3"}};
    store_fn *fns[3] = {labelled_wait, labelled_note, labelled_note};
    for (int i = 0; i < 3; i++)
        assert_int_equal(store_submit(f->db, fns[i], &jobs[i], keep_answer, NULL), 0);
    sem_post(&a.go);
    fixture_reopen(f);
    assert_int_equal(a.count, 3);
    assert_int_equal(fixture_count(f, "event"), 3);
}

static void a_full_queue_refuses_and_takes_nothing(void **state)
{
    (void)state;
    SCOPED(fixture_destroy) fixture *f = fixture_create();
    answers a = {.expected = 1};
    sem_init(&a.all, 0, 0);
    sem_init(&a.go, 0, 0);
    labelled first = {&a, "1"};
    assert_int_equal(store_submit(f->db, labelled_wait, &first, keep_answer, NULL), 0);
    err e = {0};
    int accepted = 0;
    char detail[] = "x"; /* alive until the queue is drained */
    while (accepted <= STORE_QUEUE_MAX && store_submit(f->db, note_fn, detail, NULL, &e) == 0)
        accepted++;
    assert_in_range(accepted, STORE_QUEUE_MAX - 1, STORE_QUEUE_MAX);
    assert_int_equal(e.code, ERR_LIMIT);
    sem_post(&a.go);
    sem_wait(&a.all);
    fixture_reopen(f);
    assert_int_equal(fixture_count(f, "event"), accepted + 1);
}

/* ---- who may open ---- */

static void a_reader_works_beside_the_owner_and_changes_nothing(void **state)
{
    (void)state;
    SCOPED(fixture_destroy) fixture *f = fixture_create();
    fixture_do(f, note_fn, (char[]){"seen"});
    err e = {0};
    SCOPED(store_destroy) store *db = reader(f, &e);
    assert_non_null(db);
    fixture beside = {.db = db};
    assert_int_equal(fixture_count(&beside, "event"), 1);
    fixture_do(f, note_fn, (char[]){"seen later"});
    assert_int_equal(fixture_count(&beside, "event"), 2);
    fixture_fails(&beside, note_fn, (char[]){"x"}, ERR_DENIED);
    assert_int_equal(store_submit(db, note_fn, (char[]){"x"}, NULL, &e), -1);
    assert_int_equal(e.code, ERR_CONFLICT);
    assert_int_equal(fixture_count(f, "event"), 2);
}

static int count_for_ever(store_tx *tx, void *arg, err *e)
{
    (void)arg;
    return db_exec(tx,
                   "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) "
                   "SELECT count(*) FROM n",
                   e);
}

typedef struct reading {
    store *db;
    err error;
    int result;
    atomic_bool over;
} reading;

static void *read_for_ever(void *arg)
{
    reading *r = arg;
    r->result = store_run(r->db, count_for_ever, NULL, &r->error);
    atomic_store(&r->over, true);
    return NULL;
}

static void a_reader_can_be_interrupted(void **state)
{
    (void)state;
    SCOPED(fixture_destroy) fixture *f = fixture_create();
    err e = {0};
    SCOPED(store_destroy) store *reader = store_open(f->path, STORE_READ, &e);
    assert_non_null(reader);
    reading r = {.db = reader};
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, read_for_ever, &r), 0);
    while (!atomic_load(&r.over)) { /* the first one may come too early */
        store_interrupt(reader);
        usleep(1000);
    }
    pthread_join(thread, NULL);
    assert_int_equal(r.result, -1);
    assert_non_null(strstr(r.error.text, "interrupt"));
}

static void a_missing_file_is_a_sentence_for_readers(void **state)
{
    (void)state;
    err e = {0};
    assert_null(store_open("/tmp/ce-there-is-no-such.db", STORE_READ, &e));
    assert_int_equal(e.code, ERR_NOT_FOUND);
    assert_string_equal(e.text,
                        "there is no database /tmp/ce-there-is-no-such.db yet: run ce-coord "
                        "eval, or name one with --db");
    assert_false(file_exists("/tmp/ce-there-is-no-such.db"));
}

/* Runs in a child that is not root, to whom permissions mean something. */
static void expect_as_nobody(const char *path, store_mode mode, err_code code, const char *part)
{
    pid_t child = fork();
    if (child == 0) {
        if (geteuid() == 0 && setuid(NOBODY) != 0)
            _exit(3);
        err e = {0};
        store *db = store_open(path, mode, &e);
        store_destroy(&db);
        bool as_wanted = e.code == code && strstr(e.text, part) != NULL;
        if (!as_wanted)
            fprintf(stderr, "%s: %s\n", err_code_name(e.code), e.text);
        _exit(as_wanted ? 0 : 1);
    }
    int status;
    waitpid(child, &status, 0);
    assert_int_equal(status, 0);
}

static void read_only_places_are_sentences(void **state)
{
    (void)state;
    SCOPED(fixture_destroy) fixture *f = fixture_create();
    fixture_do(f, note_fn, (char[]){"x"});
    store_destroy(&f->db);
    char lock[128];
    snprintf(lock, sizeof lock, "%s.lock", f->path);
    chmod(f->folder, 0777);
    chmod(lock, 0666);
    chmod(f->path, 0444);
    expect_as_nobody(f->path, STORE_OWN, ERR_DENIED,
                     "ce.db is read-only: results cannot be stored");
    chmod(f->folder, 0555);
    chmod(lock, 0444);
    expect_as_nobody(f->path, STORE_OWN, ERR_DENIED, "ce.db.lock: Permission denied");
    expect_as_nobody(f->path, STORE_READ, ERR_NONE, "");
    chmod(f->path, 0);
    expect_as_nobody(f->path, STORE_READ, ERR_DENIED, "unable to open");
    chmod(f->folder, 0755);
    chmod(f->path, 0644);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_new_database_gets_folder_file_and_schema),
        cmocka_unit_test(what_was_stored_is_there_after_reopening),
        cmocka_unit_test(a_failing_job_undoes_only_itself),
        cmocka_unit_test(jobs_of_one_transaction_succeed_and_fail_apart),
        cmocka_unit_test(a_lost_transaction_takes_its_jobs_and_spares_the_next),
        cmocka_unit_test(destroying_answers_every_accepted_job),
        cmocka_unit_test(a_full_queue_refuses_and_takes_nothing),
        cmocka_unit_test(a_reader_works_beside_the_owner_and_changes_nothing),
        cmocka_unit_test(a_reader_can_be_interrupted),
        cmocka_unit_test(a_missing_file_is_a_sentence_for_readers),
        cmocka_unit_test(read_only_places_are_sentences),
    };
    return cmocka_run_group_tests_name("store", tests, NULL, NULL);
}
