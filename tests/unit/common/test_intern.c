/* test_intern - texts that many rows share, kept once
 *
 * SPDX-License-Identifier: MIT */
/* cmocka wants these first. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "common/intern.h"
#include "common/scoped.h"
#include "common/xalloc.h"

static void equal_texts_are_the_same_pointer(void **state)
{
    (void)state;
    SCOPED(intern_destroy) intern *texts = intern_create();
    char mine[] = "eager";
    const char *first = intern_text(texts, mine);
    mine[0] = 'E';
    assert_string_equal(first, "eager"); /* a copy */
    assert_ptr_equal(intern_text(texts, "eager"), first);
    assert_ptr_not_equal(intern_text(texts, "Eager"), first);
    assert_string_equal(intern_text(texts, ""), "");
    assert_null(intern_text(texts, NULL));
}

static void past_the_limit_texts_are_kept_and_not_shared(void **state)
{
    (void)state;
    SCOPED(intern_destroy) intern *texts = intern_create();
    char text[32];
    const char *early = intern_text(texts, "early");
    for (int i = 0; i < INTERN_TEXTS_MAX; i++) {
        snprintf(text, sizeof text, "text %d", i);
        assert_string_equal(intern_text(texts, text), text);
    }
    const char *late = intern_text(texts, "late");
    assert_ptr_not_equal(intern_text(texts, "late"), late);
    assert_ptr_equal(intern_text(texts, "early"), early);
}

static void a_piece_larger_than_a_block_does_not_end_the_one_in_use(void **state)
{
    (void)state;
    SCOPED(intern_destroy) intern *texts = intern_create();
    const size_t size = 1000 * 1000;
    SCOPED(scoped_free) char *large = xcalloc(size, 1);
    const char *first = intern_keep(texts, "abc", 4);
    memset(large, 'x', size);
    const char *copy = intern_keep(texts, large, size);
    assert_memory_equal(copy, large, size);
    assert_ptr_equal(intern_keep(texts, "def", 4), first + 4);
    SCOPED(intern_destroy) intern *other = intern_create();
    assert_memory_equal(intern_keep(other, large, size), large, size); /* as the first piece */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_texts_are_the_same_pointer),
        cmocka_unit_test(past_the_limit_texts_are_kept_and_not_shared),
        cmocka_unit_test(a_piece_larger_than_a_block_does_not_end_the_one_in_use),
    };
    return cmocka_run_group_tests_name("intern", tests, NULL, NULL);
}
