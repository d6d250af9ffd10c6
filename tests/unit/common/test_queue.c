/* test_queue - a bounded queue between threads
 *
 * SPDX-License-Identifier: MIT */
/* cmocka wants these first. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

#include "common/clock.h"
#include "common/queue.h"
#include "common/scoped.h"

enum { WRITERS = 4, READERS = 3, EACH = 5000 };

static int numbers[WRITERS * EACH];

static bool readable(const queue *q)
{
    struct pollfd fd = {.fd = queue_fd(q), .events = POLLIN};
    return poll(&fd, 1, 0) == 1;
}

static void items_come_out_in_order_and_the_limit_holds(void **state)
{
    (void)state;
    SCOPED(queue_destroy) queue *q = queue_create(3, NULL);
    err e = {0};
    for (int round = 0; round < 5; round++) { /* the ring wraps */
        for (int i = 0; i < 3; i++)
            assert_int_equal(queue_push(q, &numbers[i], &e), 0);
        assert_int_equal(queue_push(q, &numbers[3], &e), -1);
        assert_int_equal(e.code, ERR_LIMIT);
        assert_true(e.retry);
        assert_int_equal(queue_size(q), 3);
        assert_ptr_equal(queue_pop(q, 0), &numbers[0]);
        assert_int_equal(queue_push(q, &numbers[3], &e), 0);
        for (int i = 1; i < 4; i++)
            assert_ptr_equal(queue_pop(q, 0), &numbers[i]);
        assert_null(queue_pop(q, 0));
    }
}

static void the_descriptor_is_readable_while_there_is_something(void **state)
{
    (void)state;
    SCOPED(queue_destroy) queue *q = queue_create(4, NULL);
    assert_false(readable(q));
    queue_push(q, &numbers[0], NULL);
    queue_push(q, &numbers[1], NULL);
    assert_true(readable(q));
    queue_pop(q, 0);
    assert_true(readable(q));
    queue_pop(q, 0);
    assert_false(readable(q));
    queue_push(q, &numbers[0], NULL);
    queue_close(q);
    queue_close(q);
    assert_true(readable(q));
    queue_pop(q, 0);
    assert_true(readable(q)); /* closed: a loop must wake up and see it */
    assert_null(queue_pop(q, -1));
    assert_true(readable(q));
}

static void a_closed_queue_drains_and_refuses(void **state)
{
    (void)state;
    SCOPED(queue_destroy) queue *q = queue_create(4, NULL);
    err e = {0};
    queue_push(q, &numbers[0], NULL);
    queue_close(q);
    assert_int_equal(queue_push(q, &numbers[1], &e), -1);
    assert_int_equal(e.code, ERR_CONFLICT);
    assert_int_equal(queue_push_wait(q, &numbers[1], -1, &e), -1);
    assert_ptr_equal(queue_pop(q, -1), &numbers[0]);
    assert_null(queue_pop(q, -1));
}

static void waiting_ends_at_the_timeout(void **state)
{
    (void)state;
    SCOPED(queue_destroy) queue *q = queue_create(1, NULL);
    err e = {0};
    int64_t start = clock_mono_ms();
    assert_null(queue_pop(q, 20));
    assert_true(clock_mono_ms() - start >= 19);
    queue_push(q, &numbers[0], NULL);
    start = clock_mono_ms();
    assert_int_equal(queue_push_wait(q, &numbers[1], 20, &e), -1);
    assert_int_equal(e.code, ERR_LIMIT);
    assert_true(clock_mono_ms() - start >= 19);
    assert_int_equal(queue_size(q), 1);
}

static int dropped;

static void drop_item(void *item)
{
    dropped++;
    free(item);
}

static void what_is_left_is_dropped(void **state)
{
    (void)state;
    queue *q = queue_create(8, drop_item);
    for (int i = 0; i < 5; i++)
        queue_push(q, malloc(8), NULL);
    free(queue_pop(q, 0));
    dropped = 0;
    queue_destroy(&q);
    assert_null(q);
    assert_int_equal(dropped, 4);
    queue_destroy(&q);
}

static void *pop_for_ever(void *arg)
{
    return queue_pop(arg, -1);
}

static void closing_wakes_a_waiting_reader(void **state)
{
    (void)state;
    SCOPED(queue_destroy) queue *q = queue_create(1, NULL);
    pthread_t reader;
    assert_int_equal(pthread_create(&reader, NULL, pop_for_ever, q), 0);
    queue_close(q);
    void *got = &dropped;
    pthread_join(reader, &got);
    assert_null(got);
}

static void *push_for_ever(void *arg)
{
    return queue_push_wait(arg, &numbers[1], -1, NULL) == 0 ? arg : NULL;
}

static void a_waiting_writer_wakes_for_room_and_for_the_end(void **state)
{
    (void)state;
    SCOPED(queue_destroy) queue *q = queue_create(1, NULL);
    pthread_t writer;
    void *result = NULL;
    queue_push(q, &numbers[0], NULL);
    assert_int_equal(pthread_create(&writer, NULL, push_for_ever, q), 0);
    assert_ptr_equal(queue_pop(q, -1), &numbers[0]);
    pthread_join(writer, &result);
    assert_ptr_equal(result, q);
    assert_int_equal(pthread_create(&writer, NULL, push_for_ever, q), 0);
    queue_close(q);
    pthread_join(writer, &result);
    assert_null(result);
}

static void *write_numbers(void *arg)
{
    static int next;
    int mine = __atomic_fetch_add(&next, 1, __ATOMIC_RELAXED) % WRITERS;
    for (int i = 0; i < EACH; i++)
        if (queue_push_wait(arg, &numbers[mine * EACH + i], -1, NULL) < 0)
            return arg;
    return NULL;
}

static void *count_numbers(void *arg)
{
    for (int *item; (item = queue_pop(arg, -1)) != NULL;)
        __atomic_fetch_add(item, 1, __ATOMIC_RELAXED);
    return NULL;
}

static void many_threads_lose_and_double_nothing(void **state)
{
    (void)state;
    SCOPED(queue_destroy) queue *q = queue_create(16, NULL);
    pthread_t writers[WRITERS];
    pthread_t readers[READERS];
    for (int i = 0; i < READERS; i++)
        assert_int_equal(pthread_create(&readers[i], NULL, count_numbers, q), 0);
    for (int i = 0; i < WRITERS; i++)
        assert_int_equal(pthread_create(&writers[i], NULL, write_numbers, q), 0);
    for (int i = 0; i < WRITERS; i++) {
        void *failed = q;
        pthread_join(writers[i], &failed);
        assert_null(failed);
    }
    queue_close(q);
    for (int i = 0; i < READERS; i++)
        pthread_join(readers[i], NULL);
    for (int i = 0; i < WRITERS * EACH; i++)
        assert_int_equal(numbers[i], 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(items_come_out_in_order_and_the_limit_holds),
        cmocka_unit_test(the_descriptor_is_readable_while_there_is_something),
        cmocka_unit_test(a_closed_queue_drains_and_refuses),
        cmocka_unit_test(waiting_ends_at_the_timeout),
        cmocka_unit_test(what_is_left_is_dropped),
        cmocka_unit_test(closing_wakes_a_waiting_reader),
        cmocka_unit_test(a_waiting_writer_wakes_for_room_and_for_the_end),
        cmocka_unit_test(many_threads_lose_and_double_nothing),
    };
    return cmocka_run_group_tests_name("queue", tests, NULL, NULL);
}
