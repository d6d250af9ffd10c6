/* test_clerk - jobs off the loop
 *
 * SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <poll.h>
#include <semaphore.h>
#include <stdio.h>
#include <string.h>

#include "common/scoped.h"
#include "coordinator/clerk.h"

typedef struct notes {
    char text[64]; /* written on the loop only */
    sem_t go, begun;
    err last;
} notes;

static int work(void *arg, err *e)
{
    return *(const char *)arg == 'x' ? err_set(e, ERR_CONFIG, "x") : 0;
}

static int wait_for_go(void *arg, err *e)
{
    notes *n = arg;
    (void)e;
    sem_post(&n->begun);
    while (sem_wait(&n->go) != 0)
        continue;
    return 0;
}

static void note(void *owner, void *arg, int result, const err *e)
{
    notes *n = owner;
    const char letter[] = {arg == n ? 'g' : *(const char *)arg, result ? '-' : '+', '\0'};
    size_t used = strlen(n->text);
    snprintf(n->text + used, sizeof n->text - used, "%s", letter);
    if (result)
        n->last = *e;
}

static char a[] = "a", x[] = "x";

static void submit(clerk *c, notes *n, clerk_fn *fn, void *arg)
{
    const clerk_job job = {.fn = fn, .next = note, .arg = arg, .owner = n};
    assert_int_equal(clerk_submit(c, &job, NULL), 0);
}

static void jobs_are_continued_in_order_with_their_results(void **state)
{
    (void)state;
    notes n = {.text = ""};
    SCOPED(clerk_destroy) clerk *c = clerk_create(NULL);
    submit(c, &n, work, a);
    submit(c, &n, work, x);
    submit(c, &n, work, a);
    while (strlen(n.text) < 6) {
        struct pollfd p = {.fd = clerk_fd(c), .events = POLLIN};
        poll(&p, 1, -1);
        clerk_take(c);
    }
    assert_string_equal(n.text, "a+x-a+");
    assert_int_equal(n.last.code, ERR_CONFIG);
}

static void what_waits_at_the_end_is_continued_as_undone(void **state)
{
    (void)state;
    notes n = {.text = ""};
    sem_init(&n.go, 0, 0);
    sem_init(&n.begun, 0, 0);
    clerk *c = clerk_create(NULL);
    submit(c, &n, wait_for_go, &n);
    while (sem_wait(&n.begun) != 0)
        continue;
    submit(c, &n, work, a);
    submit(c, &n, work, a);
    sem_post(&n.go);
    clerk_destroy(&c);
    assert_null(c);
    assert_int_equal(strlen(n.text), 6);
    assert_non_null(strstr(n.text, "g+"));
    sem_destroy(&n.go);
    sem_destroy(&n.begun);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(jobs_are_continued_in_order_with_their_results),
        cmocka_unit_test(what_waits_at_the_end_is_continued_as_undone),
    };
    return cmocka_run_group_tests_name("clerk", tests, NULL, NULL);
}
