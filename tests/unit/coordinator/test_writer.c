/* test_writer - continuations run on the loop's thread, in order, after the commit
 *
 * SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "common/scoped.h"
#include "coordinator/writer.h"
#include "store/artifact.h"
#include "world.h"

enum { JOBS = 200 };

typedef struct ledger {
    int order[JOBS];
    int results[JOBS];
    size_t count;
    pthread_t loop;
} ledger;

typedef struct job {
    int number;
} job;

/* Odd jobs fail after they have written. */
static int write_one(store_tx *tx, void *arg, err *e)
{
    const job *j = arg;
    char text[32];
    snprintf(text, sizeof text, "writer job %d", j->number);
    if (artifact_put_text(tx, text, NULL, e))
        return -1;
    return j->number % 2 ? err_set(e, ERR_CONFLICT, "job %d is odd", j->number) : 0;
}

static void note(void *owner, void *arg, int result, const err *e)
{
    ledger *l = owner;
    job *j = arg;
    assert_true(pthread_equal(pthread_self(), l->loop));
    if (result)
        assert_int_equal(e->code, ERR_CONFLICT);
    l->order[l->count] = j->number;
    l->results[l->count++] = result;
    free(j);
}

static void submit(writer *self, ledger *l, int number)
{
    job *j = calloc(1, sizeof *j);
    j->number = number;
    const writer_job how = {.fn = write_one, .arg = j, .next = note, .owner = l};
    assert_int_equal(writer_submit(self, &how, NULL), 0);
}

static void jobs_are_continued_in_order_on_the_loops_thread(void **state)
{
    (void)state;
    SCOPED(world_destroy) world *w = world_create(&(world_options){.only = "vector_add_fp32"});
    SCOPED(writer_destroy) writer *self = writer_create(w->store);
    ledger l = {.count = 0, .loop = pthread_self()};
    for (int i = 0; i < JOBS; i++)
        submit(self, &l, i);
    while (l.count < JOBS) {
        struct pollfd p = {.fd = writer_fd(self), .events = POLLIN};
        assert_int_equal(poll(&p, 1, 10000), 1);
        writer_take(self);
    }
    for (int i = 0; i < JOBS; i++) {
        assert_int_equal(l.order[i], i);
        assert_int_equal(l.results[i], i % 2 ? -1 : 0);
    }
    assert_int_equal(writer_pending(self), 0);
    /* a job that failed left nothing */
    hash even = hash_of_text("writer job 2"), odd = hash_of_text("writer job 3");
    char hex[HASH_HEX], from[128];
    hash_hex(&even, hex);
    snprintf(from, sizeof from, "artifact WHERE hash = '%s'", hex);
    assert_int_equal(world_count(w, from), 1);
    hash_hex(&odd, hex);
    snprintf(from, sizeof from, "artifact WHERE hash = '%s'", hex);
    assert_int_equal(world_count(w, from), 0);
}

/* Each continuation submits the next job. */
typedef struct chain {
    writer *self;
    int left;
} chain;

static int write_nothing(store_tx *tx, void *arg, err *e)
{
    (void)tx;
    (void)arg;
    (void)e;
    return 0;
}

static void go_on(void *owner, void *arg, int result, const err *e)
{
    chain *c = owner;
    (void)arg;
    (void)e;
    assert_int_equal(result, 0);
    const writer_job how = {.fn = write_nothing, .next = go_on, .owner = c};
    if (c->left-- > 0)
        assert_int_equal(writer_submit(c->self, &how, NULL), 0);
}

static void flushing_waits_for_what_continuations_submit(void **state)
{
    (void)state;
    SCOPED(world_destroy) world *w = world_create(&(world_options){.only = "vector_add_fp32"});
    SCOPED(writer_destroy) writer *self = writer_create(w->store);
    chain c = {.self = self, .left = 10};
    const writer_job how = {.fn = write_nothing, .next = go_on, .owner = &c};
    assert_int_equal(writer_submit(self, &how, NULL), 0);
    writer_flush(self);
    assert_int_equal(c.left, -1);
    assert_int_equal(writer_pending(self), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(jobs_are_continued_in_order_on_the_loops_thread),
        cmocka_unit_test(flushing_waits_for_what_continuations_submit),
    };
    return cmocka_run_group_tests_name("coordinator/writer", tests, NULL, NULL);
}
