/* test_feed - readers and what they hear
 *
 * SPDX-License-Identifier: MIT */
/* cmocka wants these first. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/scoped.h"
#include "dashboards/feed.h"
#include "tests/unit/store/fixture.h"

enum { MAX = 4 * 1024 * 1024 };

/* Counts looks, so that a test waits for one instead of a time. */
typedef struct looks {
    sem_t any;
} looks;

static void on_tick(void *arg, bool news)
{
    (void)news;
    sem_post(&((looks *)arg)->any);
}

typedef struct rig {
    fixture *f;
    store *db;
    looks looks;
    feed *feed;
} rig;

static void rig_open(rig *r)
{
    err e = {0};
    sem_init(&r->looks.any, 0, 0);
    r->db = store_open(r->f->path, STORE_READ, &e);
    assert_non_null(r->db);
    r->feed = feed_create(r->db, on_tick, &r->looks, &e);
    assert_non_null(r->feed);
}

static void rig_close(rig *r)
{
    feed_destroy(&r->feed);
    store_destroy(&r->db);
    sem_destroy(&r->looks.any);
}

/* Two whole looks after what the test did: the second began after it. */
static void wait_for_a_look(rig *r)
{
    while (sem_trywait(&r->looks.any) == 0) {
    }
    sem_wait(&r->looks.any);
    sem_wait(&r->looks.any);
}

static void add_events(fixture *f, int count)
{
    char sql[256];
    snprintf(sql, sizeof sql,
             "INSERT INTO event (at_ms, run, task, kind) WITH RECURSIVE n(i) AS (SELECT 1 UNION "
             "ALL SELECT i + 1 FROM n WHERE i < %d) SELECT i, 'run1', 'task1', 'granted' FROM n",
             count);
    fixture_exec(f, sql);
}

static size_t times_in(const buf *text, const char *word)
{
    size_t count = 0;
    for (const char *at = buf_text(text); (at = strstr(at, word)) != NULL; at += strlen(word))
        count++;
    return count;
}

/* The feed's thread knows where its rig is: it stays there. */
static void rig_init(rig *r)
{
    *r = (rig){.f = fixture_create()};
    fixture_seed(r->f);
    fixture_exec(r->f, "DELETE FROM event");
    rig_open(r);
}

static void a_reader_hears_each_event_once(void **state)
{
    (void)state;
    rig r;
    rig_init(&r);
    feed_cursor at = feed_begin(r.feed, -1);
    SCOPED(buf_fini) buf out = {0};
    buf_init(&out, MAX);
    assert_false(feed_read(r.feed, &at, &out));
    add_events(r.f, 3);
    wait_for_a_look(&r);
    assert_true(feed_read(r.feed, &at, &out));
    assert_int_equal(times_in(&out, "event: change\n"), 3);
    assert_non_null(strstr(buf_text(&out), "id: 1\n"));
    assert_non_null(strstr(buf_text(&out), "\"problem\":\"add\""));
    assert_false(feed_read(r.feed, &at, &out));
    rig_close(&r);
    fixture_destroy(&r.f);
}

static void a_reader_goes_on_after_a_new_start(void **state)
{
    (void)state;
    rig r;
    rig_init(&r);
    add_events(r.f, 5);
    wait_for_a_look(&r);
    rig_close(&r);
    add_events(r.f, 2);
    rig_open(&r);
    SCOPED(buf_fini) buf out = {0};
    buf_init(&out, MAX);
    feed_cursor at = feed_begin(r.feed, 4); /* saw 4 of 7 */
    assert_true(feed_read(r.feed, &at, &out));
    assert_int_equal(times_in(&out, "event: change\n"), 3);
    assert_null(strstr(buf_text(&out), "id: 4\n"));
    rig_close(&r);
    fixture_destroy(&r.f);
}

static void who_fell_behind_is_told_how_much(void **state)
{
    (void)state;
    rig r;
    rig_init(&r);
    feed_cursor at = feed_begin(r.feed, -1);
    add_events(r.f, FEED_BEHIND + 1);
    wait_for_a_look(&r);
    SCOPED(buf_fini) buf out = {0};
    buf_init(&out, MAX);
    assert_true(feed_read(r.feed, &at, &out));
    assert_string_equal(buf_text(&out), "id: 257\nevent: many\ndata: {\"missed\": 257}\n\n");
    /* An id that this database never had: another file stands behind the same address now. */
    at = feed_begin(r.feed, 100000);
    buf_clear(&out);
    assert_true(feed_read(r.feed, &at, &out));
    assert_non_null(strstr(buf_text(&out), "event: many"));
    rig_close(&r);
    fixture_destroy(&r.f);
}

static void the_ring_forgets_the_oldest(void **state)
{
    (void)state;
    rig r;
    rig_init(&r);
    add_events(r.f, FEED_RING + 100);
    wait_for_a_look(&r);
    SCOPED(buf_fini) buf out = {0};
    buf_init(&out, MAX);
    feed_cursor at = feed_begin(r.feed, 50);
    assert_true(feed_read(r.feed, &at, &out));
    assert_int_equal(times_in(&out, "event: many"), 1);
    at = feed_begin(r.feed, FEED_RING + 98);
    buf_clear(&out);
    assert_true(feed_read(r.feed, &at, &out));
    assert_int_equal(times_in(&out, "event: change"), 2);
    rig_close(&r);
    fixture_destroy(&r.f);
}

static void a_topic_is_its_newest_text(void **state)
{
    (void)state;
    rig r;
    rig_init(&r);
    feed_cursor at = feed_begin(r.feed, -1);
    SCOPED(buf_fini) buf out = {0};
    buf_init(&out, MAX);
    feed_set(r.feed, FEED_NOW, "{\"done\":1}");
    feed_set(r.feed, FEED_NOW, "{\"done\":2}");
    assert_true(feed_read(r.feed, &at, &out));
    assert_string_equal(buf_text(&out), "event: now\ndata: {\"done\":2}\n\n");
    feed_set(r.feed, FEED_NOW, "{\"done\":2}");
    assert_false(feed_read(r.feed, &at, &out));
    SCOPED(scoped_free) char *text = feed_get(r.feed, FEED_NODES);
    assert_string_equal(text, "null");
    rig_close(&r);
    fixture_destroy(&r.f);
}

static void a_database_that_breaks_is_told(void **state)
{
    (void)state;
    rig r;
    rig_init(&r);
    err e = {0};
    feed_error(r.feed, &e);
    assert_int_equal(e.code, ERR_NONE);
    fixture_exec(r.f, "ALTER TABLE event RENAME TO elsewhere");
    wait_for_a_look(&r);
    feed_error(r.feed, &e);
    assert_int_not_equal(e.code, ERR_NONE);
    rig_close(&r);
    fixture_destroy(&r.f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_reader_hears_each_event_once),
        cmocka_unit_test(a_reader_goes_on_after_a_new_start),
        cmocka_unit_test(who_fell_behind_is_told_how_much),
        cmocka_unit_test(the_ring_forgets_the_oldest),
        cmocka_unit_test(a_topic_is_its_newest_text),
        cmocka_unit_test(a_database_that_breaks_is_told),
    };
    return cmocka_run_group_tests_name("feed", tests, NULL, NULL);
}
