/* test_owner - one process writes; a dead one is in nobody's way
 *
 * SPDX-License-Identifier: MIT */
/* cmocka wants these first. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/scoped.h"
#include "common/xalloc.h"
#include "store/owner.h"
#include "tests/unit/store/fixture.h"

static void a_second_owner_is_told_the_first_ones_pid(void **state)
{
    (void)state;
    SCOPED(fixture_destroy) fixture *f = fixture_create();
    int ready[2];
    assert_int_equal(pipe(ready), 0);
    pid_t child = fork();
    if (child == 0) { /* a process of its own: flock is per open file, and PIDs differ */
        err e = {0};
        char text[ERR_TEXT_MAX] = "opened";
        if (store_open(f->path, STORE_OWN, &e) == NULL)
            memcpy(text, e.text, sizeof text);
        _exit(write(ready[1], text, sizeof text) == sizeof text && e.code == ERR_CONFLICT ? 0 : 1);
    }
    char text[ERR_TEXT_MAX], want[ERR_TEXT_MAX];
    assert_int_equal(read(ready[0], text, sizeof text), sizeof text);
    int status;
    waitpid(child, &status, 0);
    assert_int_equal(status, 0);
    snprintf(want, sizeof want, "%s is owned by PID %ld: use --coordinator URI, or wait for it",
             f->path, (long)getpid());
    assert_string_equal(text, want);
}

static void a_killed_owner_leaves_no_lock_behind(void **state)
{
    (void)state;
    SCOPED(fixture_destroy) fixture *f = fixture_create();
    store_destroy(&f->db);
    int ready[2];
    assert_int_equal(pipe(ready), 0);
    pid_t child = fork();
    if (child == 0) {
        err e = {0};
        store *db = store_open(f->path, STORE_OWN, &e);
        if (db == NULL || write(ready[1], "r", 1) != 1)
            _exit(1);
        pause();
    }
    char byte;
    assert_int_equal(read(ready[0], &byte, 1), 1);
    err e = {0};
    assert_null(store_open(f->path, STORE_OWN, &e));
    assert_int_equal(e.code, ERR_CONFLICT);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    fixture_reopen(f);
}

static void an_owner_is_there_until_its_process_has_ended(void **state)
{
    (void)state;
    SCOPED(fixture_destroy) fixture *f = fixture_create();
    SCOPED(scoped_free) char *path = xasprintf("%s/other", f->folder);
    assert_int_equal(owner_since(path), 0); /* nobody ever was */
    const int64_t before_ms = clock_wall_ms();
    pid_t child = fork();
    if (child == 0) {
        if (owner_take(path, NULL) < 0)
            _exit(1);
        pause();
    }
    while (owner_since(path) == 0)
        usleep(1000);
    const int64_t since_ms = owner_since(path);
    assert_true(since_ms >= before_ms - 1000 &&
                since_ms <= clock_wall_ms()); /* a file's time is coarse */
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    assert_int_equal(owner_since(path), 0);
    assert_true(store_owned_since(f->db) > 0); /* by this process */
}

static void a_lock_can_be_taken_again_after_release(void **state)
{
    (void)state;
    SCOPED(fixture_destroy) fixture *f = fixture_create();
    SCOPED(scoped_free) char *path = xasprintf("%s/free", f->folder);
    err e = {0};
    int first = owner_take(path, &e);
    assert_true(first >= 0);
    assert_int_equal(owner_take(path, &e), -1); /* also from the same process */
    assert_int_equal(e.code, ERR_CONFLICT);
    owner_release(&first);
    int second = owner_take(path, &e);
    assert_true(second >= 0);
    owner_release(&second);
    SCOPED(scoped_free) char *nowhere = xasprintf("%s/no/such/folder/x", f->folder);
    assert_int_equal(owner_take(nowhere, &e), -1);
    assert_int_equal(e.code, ERR_NOT_FOUND);
}

/* What kill -9 between fork and exec leaves: the lock in the hands of a child. */
static void a_killed_owners_child_is_waited_for(void **state)
{
    (void)state;
    SCOPED(fixture_destroy) fixture *f = fixture_create();
    store_destroy(&f->db);
    pid_t owner = fork();
    if (owner == 0) {
        if (owner_take(f->path, NULL) < 0)
            _exit(1);
        if (fork() == 0) { /* holds the same open file */
            usleep(300000);
            _exit(0);
        }
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(owner, &status, 0), owner);
    assert_int_equal(status, 0);
    err e = {0};
    int fd = owner_take(f->path, &e);
    if (fd < 0)
        fail_msg("%s", e.text);
    owner_release(&fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_second_owner_is_told_the_first_ones_pid),
        cmocka_unit_test(a_killed_owner_leaves_no_lock_behind),
        cmocka_unit_test(a_killed_owners_child_is_waited_for),
        cmocka_unit_test(an_owner_is_there_until_its_process_has_ended),
        cmocka_unit_test(a_lock_can_be_taken_again_after_release),
    };
    return cmocka_run_group_tests_name("owner", tests, NULL, NULL);
}
