/* test_straggler - who runs much longer than the others did
 *
 * SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>

#include "common/scoped.h"
#include "reports/straggler.h"
#include "store/task.h"
#include "tests/unit/store/fixture.h"

enum { START_MS = 1000 };

/* Tasks that were all handed out at START_MS; those that took > 0 seconds are done. */
typedef struct plan {
    hash spec;
    int64_t entrant;
    const int64_t *took_s;
    size_t count;
} plan;

static int find_entrant(store_tx *tx, void *arg, err *e)
{
    SCOPED(entrant_list_fini) entrant_list list = {0};
    if (entrant_list_read(tx, "run1", &list, e) < 0)
        return -1;
    *(int64_t *)arg = list.rows[0].id;
    return 0;
}

static int put(store_tx *tx, void *arg, err *e)
{
    const plan *p = arg;
    const result_row ok = fixture_ok_result(1.0, 2.0);
    for (size_t i = 0; i < p->count; i++) {
        char id[32];
        snprintf(id, sizeof id, "p%zu", i);
        const task_row row = {.id = id,
                              .run = "run1",
                              .kind = "synthesize",
                              .problem = "add",
                              .entrant = p->entrant,
                              .sample = 10 + (int64_t)i,
                              .spec = p->spec};
        if (task_insert(tx, &row, e) < 0 || task_grant(tx, id, "box", 1, START_MS, e) < 0)
            return -1;
        if (p->took_s[i] > 0 && result_put(tx, id, 1, &ok, START_MS + p->took_s[i] * 1000, e) < 0)
            return -1;
    }
    return 0;
}

typedef struct look {
    int64_t now_ms;
    straggler_list found;
} look;

static int find(store_tx *tx, void *arg, err *e)
{
    look *l = arg;
    return straggler_find(tx, "run1", l->now_ms, &l->found, e);
}

static look looked(const int64_t *took_s, size_t count, int64_t after_s)
{
    look l = {.now_ms = START_MS + after_s * 1000};
    fixture *f = fixture_create();
    fixture_seed(f);
    plan p = {.spec = fixture_text(f, "{}"), .took_s = took_s, .count = count};
    fixture_do(f, find_entrant, &p.entrant);
    fixture_do(f, put, &p);
    fixture_do(f, find, &l);
    fixture_destroy(&f);
    return l;
}

static void far_above_the_median_of_five_is_a_straggler(void **state)
{
    (void)state;
    static const int64_t five[] = {30, 20, 40, 90, 10, 0, 0}; /* median 30 s */
    static const int64_t four[] = {30, 20, 40, 90, 0};        /* too few to say */
    static const int64_t quick[] = {1, 1, 1, 1, 1, 0};        /* nobody waits for a minute */
    const struct {
        const int64_t *took_s;
        size_t count;
        int64_t after_s;
        size_t found;
    } rows[] = {{five, 7, 90, 0},
                {five, 7, 91, 2},
                {four, 5, 1000, 0},
                {quick, 6, 59, 0},
                {quick, 6, 60, 1}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        look l = looked(rows[i].took_s, rows[i].count, rows[i].after_s);
        assert_int_equal(l.found.count, rows[i].found);
        straggler_list_fini(&l.found);
    }
}

static void it_is_named_with_both_times(void **state)
{
    (void)state;
    static const int64_t took_s[] = {30, 20, 40, 90, 10, 0};
    look l = looked(took_s, 6, 100);
    assert_int_equal(l.found.count, 1);
    assert_string_equal(l.found.rows[0].task, "p5");
    assert_int_equal(l.found.rows[0].ran_ms, 100000);
    assert_int_equal(l.found.rows[0].median_ms, 30000);
    straggler_list_fini(&l.found);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(far_above_the_median_of_five_is_a_straggler),
        cmocka_unit_test(it_is_named_with_both_times),
    };
    return cmocka_run_group_tests_name("straggler", tests, NULL, NULL);
}
