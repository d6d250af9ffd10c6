/* test_plan_life - scratch buffers that are not alive together share memory
 *
 * SPDX-License-Identifier: MIT */
/* cmocka wants these first. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>

#include "common/scoped.h"
#include "common/xalloc.h"
#include "suites/plan_life.h"

enum { BUFFERS_MAX = 6 };

typedef struct life_case {
    const char *what;
    struct {
        int64_t bytes;
        size_t first, last;
    } buffers[BUFFERS_MAX];
    size_t count, places;
    size_t place[BUFFERS_MAX];
    bool inherits[BUFFERS_MAX];
    int64_t total; /* of all places */
} life_case;

static const life_case cases[] = {
    {.what = "nothing needs no place"},
    {.what = "one after the other shares",
     .buffers = {{100, 0, 1}, {300, 2, 3}, {200, 4, 4}},
     .count = 3,
     .places = 1,
     .inherits = {false, true, true},
     .total = 300},
    {.what = "a step that uses two keeps them apart",
     .buffers = {{100, 0, 1}, {100, 1, 2}, {100, 2, 3}},
     .count = 3,
     .places = 2,
     .place = {0, 1, 0},
     .inherits = {false, false, true},
     .total = 200},
    {.what = "the larger opens a place first, whatever was written first",
     .buffers = {{10, 0, 5}, {400, 0, 2}, {300, 3, 5}},
     .count = 3,
     .places = 2,
     .place = {1, 0, 0},
     .inherits = {false, false, true},
     .total = 410},
    {.what = "a buffer that nobody uses costs nothing where another one is",
     .buffers = {{100, 0, 9}, {100, 1, 0}},
     .count = 2,
     .places = 1,
     .total = 100},
    {.what = "a chain of layers needs two places",
     .buffers = {{8, 0, 1}, {8, 1, 2}, {8, 2, 3}, {8, 3, 4}, {8, 4, 5}, {8, 5, 6}},
     .count = 6,
     .places = 2,
     .place = {0, 1, 0, 1, 0, 1},
     .inherits = {false, false, true, true, true, true},
     .total = 16},
};

static void buffers_get_the_places_that_are_written_down(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const life_case *c = &cases[i];
        SCOPED(scoped_free) plan_steps *steps = xcalloc(1, sizeof *steps);
        steps->scratch_count = c->count;
        for (size_t k = 0; k < c->count; k++)
            steps->scratch[k] = (plan_life){.bytes = c->buffers[k].bytes,
                                            .first = c->buffers[k].first,
                                            .last = c->buffers[k].last};
        plan_life_place(steps);
        int64_t total = 0;
        for (size_t p = 0; p < steps->place_count; p++)
            total += steps->place_bytes[p];
        if (steps->place_count != c->places || total != c->total)
            fail_msg("%s: %zu places of %lld bytes", c->what, steps->place_count, (long long)total);
        for (size_t k = 0; k < c->count; k++)
            if (steps->scratch[k].place != c->place[k] ||
                steps->scratch[k].inherits != c->inherits[k])
                fail_msg("%s: buffer %zu is in place %zu", c->what, k, steps->scratch[k].place);
    }
}

/* Any lives: two that overlap never share, and a place is as large as its largest buffer. */
static void no_two_live_buffers_share(void **state)
{
    (void)state;
    uint64_t random = 1;
    SCOPED(scoped_free) plan_steps *steps = xcalloc(1, sizeof *steps);
    for (int round = 0; round < 50; round++) {
        steps->scratch_count = 40;
        for (size_t i = 0; i < steps->scratch_count; i++) {
            random = random * 6364136223846793005u + 1442695040888963407u;
            const size_t first = random >> 40 & 63;
            steps->scratch[i] = (plan_life){.bytes = (int64_t)(random >> 33 & 1023),
                                            .first = first,
                                            .last = first + (random >> 50 & 7)};
        }
        plan_life_place(steps);
        for (size_t i = 0; i < steps->scratch_count; i++) {
            const plan_life *a = &steps->scratch[i];
            assert_true(a->place < steps->place_count);
            assert_true(a->bytes <= steps->place_bytes[a->place]);
            for (size_t k = 0; k < i; k++) {
                const plan_life *b = &steps->scratch[k];
                assert_true(a->place != b->place || a->last < b->first || b->last < a->first);
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(buffers_get_the_places_that_are_written_down),
        cmocka_unit_test(no_two_live_buffers_share),
    };
    return cmocka_run_group_tests_name("plan_life", tests, NULL, NULL);
}
