/* test_id - identifiers that sort by time
 *
 * SPDX-License-Identifier: MIT */
/* cmocka wants these first. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdbool.h>
#include <string.h>

#include "common/id.h"

static void known_bits_give_known_text(void **state)
{
    (void)state;
    static const uint8_t zero[10];
    static const uint8_t ones[10] = {255, 255, 255, 255, 255, 255, 255, 255, 255, 255};
    static const uint8_t steps[10] = {0, 0, 0, 0, 31, 0, 0, 0, 4, 0};
    char out[ID_TEXT];
    id_make(0, zero, out);
    assert_string_equal(out, "00000000000000000000000000");
    id_make(0xffffffffffff, ones, out);
    assert_string_equal(out, "7zzzzzzzzzzzzzzzzzzzzzzzzz");
    id_make(1, steps, out);
    assert_string_equal(out, "00000000010000000z00000100");
}

static void later_sorts_behind(void **state)
{
    (void)state;
    static const uint8_t high[10] = {255, 255, 255, 255, 255, 255, 255, 255, 255, 255};
    static const uint8_t low[10];
    char before[ID_TEXT];
    char after[ID_TEXT];
    for (int64_t ms = 1; ms < 0x800000000000; ms = ms * 3 + 1) {
        id_make(ms, high, before);
        id_make(ms + 1, low, after);
        assert_true(strcmp(before, after) < 0);
    }
}

static void fresh_ids_differ(void **state)
{
    (void)state;
    char ids[200][ID_TEXT];
    for (size_t i = 0; i < 200; i++) {
        id_new(ids[i]);
        assert_int_equal(strlen(ids[i]), 26);
        assert_int_equal(strspn(ids[i], "0123456789abcdefghjkmnpqrstvwxyz"), 26);
        for (size_t j = 0; j < i; j++)
            assert_string_not_equal(ids[i], ids[j]);
    }
}

static void random_fills_all_of_it(void **state)
{
    (void)state;
    unsigned char block[1024] = {0};
    id_random(block, 1000);
    size_t zeros = 0;
    for (size_t i = 0; i < 1000; i++)
        zeros += block[i] == 0;
    assert_true(zeros < 100); /* about 4 are expected */
    for (size_t i = 1000; i < sizeof block; i++)
        assert_int_equal(block[i], 0);
    id_random(block, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_bits_give_known_text),
        cmocka_unit_test(later_sorts_behind),
        cmocka_unit_test(fresh_ids_differ),
        cmocka_unit_test(random_fills_all_of_it),
    };
    return cmocka_run_group_tests_name("id", tests, NULL, NULL);
}
