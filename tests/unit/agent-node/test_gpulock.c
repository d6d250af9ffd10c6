/* test_gpulock - a GPU has one holder at a time
 *
 * SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent-node/gpulock.h"
#include "common/file.h"

typedef struct place {
    char folder[32];
} place;

static int set_up(void **state)
{
    static place p;
    snprintf(p.folder, sizeof p.folder, "/tmp/ce-lock-XXXXXX");
    *state = &p;
    return mkdtemp(p.folder) != NULL ? 0 : -1;
}

static int tear_down(void **state)
{
    const place *p = *state;
    return file_remove_tree(p->folder, NULL);
}

static void a_second_holder_is_told_who_has_it(void **state)
{
    const place *p = *state;
    err e = {0};
    char me[32];
    int first = gpulock_take(p->folder, "GPU-1", 0, &e);
    assert_true(first >= 0);
    assert_int_equal(gpulock_take(p->folder, "GPU-1", 0, &e), -1);
    assert_int_equal(e.code, ERR_CONFLICT);
    snprintf(me, sizeof me, "process %ld", (long)getpid());
    assert_non_null(strstr(e.text, me));
    assert_non_null(strstr(e.text, "GPU-1"));
    int other = gpulock_take(p->folder, "GPU-2", 0, &e);
    assert_true(other >= 0);
    close(first);
    int again = gpulock_take(p->folder, "GPU-1", 0, &e);
    assert_true(again >= 0);
    close(again);
    close(other);
}

static void the_end_of_the_holder_gives_it_back(void **state)
{
    const place *p = *state;
    int ready[2];
    char byte = 0;
    err e = {0};
    assert_int_equal(pipe(ready), 0);
    pid_t child = fork();
    if (child == 0) {
        bool taken = gpulock_take(p->folder, "GPU-1", 0, NULL) >= 0;
        _exit(taken && write(ready[1], "x", 1) == 1 && pause() ? 0 : 1);
    }
    assert_int_equal(read(ready[0], &byte, 1), 1);
    assert_int_equal(gpulock_take(p->folder, "GPU-1", 0, &e), -1);
    kill(child, SIGKILL);
    assert_int_equal(waitpid(child, NULL, 0), child);
    int fd = gpulock_take(p->folder, "GPU-1", 0, &e);
    assert_true(fd >= 0);
    close(fd);
    close(ready[0]);
    close(ready[1]);
}

static void patience_waits_for_who_is_about_to_end(void **state)
{
    const place *p = *state;
    int ready[2];
    char byte = 0;
    err e = {0};
    assert_int_equal(pipe(ready), 0);
    pid_t child = fork();
    if (child == 0) {
        bool taken = gpulock_take(p->folder, "GPU-1", 0, NULL) >= 0;
        bool told = write(ready[1], "x", 1) == 1;
        usleep(300000);
        _exit(taken && told ? 0 : 1);
    }
    assert_int_equal(read(ready[0], &byte, 1), 1);
    int fd = gpulock_take(p->folder, "GPU-1", 60000, &e);
    assert_true(fd >= 0);
    assert_int_equal(waitpid(child, NULL, 0), child);
    close(fd);
    close(ready[0]);
    close(ready[1]);
}

static void a_folder_that_is_not_there_is_named(void **state)
{
    (void)state;
    err e = {0};
    assert_int_equal(gpulock_take("/nowhere", "GPU-1", 0, &e), -1);
    assert_non_null(strstr(e.text, "/nowhere"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_second_holder_is_told_who_has_it, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_end_of_the_holder_gives_it_back, set_up, tear_down),
        cmocka_unit_test_setup_teardown(patience_waits_for_who_is_about_to_end, set_up, tear_down),
        cmocka_unit_test(a_folder_that_is_not_there_is_named)};
    return cmocka_run_group_tests_name("gpulock", tests, NULL, NULL);
}
