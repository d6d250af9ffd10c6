/* test_keyscan - keys are found, and words that only begin like keys are not
 *
 * SPDX-License-Identifier: MIT */
/* cmocka wants these first. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "common/scoped.h"
#include "reports/keyscan.h"

static const char *const known[] = {"own-secret-77", "short", NULL};

static void keys_are_masked(void **state)
{
    (void)state;
    static const struct {
        const char *text, *masked;
        size_t count;
    } cases[] = {
        {"", "", 0},
        {"nothing here", "nothing here", 0},
        {"a sk-ant-api03-abcdefghijklmnop0 b", "a [key removed] b", 1},
        {"{\"k\":\"sk-proj-0123456789abcdefghij\"}", "{\"k\":\"[key removed]\"}", 1},
        {"AIzaSyA1234567890123456789012345678901x", "[key removed]", 1},
        {"gsk_0123456789abcdefghij!", "[key removed]!", 1},
        {"Authorization: Bearer 0123456789abcdefghij0", "Authorization: [key removed]", 1},
        {"x own-secret-77 own-secret-77", "x [key removed] [key removed]", 2},
        {"a key -----BEGIN OPENSSH PRIVATE KEY-----\nabc", "a key [key removed]", 1},
        /* no keys */
        {"short words stay", "short words stay", 0},
        {"task-0123456789abcdefghijk", "task-0123456789abcdefghijk", 0},
        {"sk-tooshort1", "sk-tooshort1", 0},
        {"sk-only-letters-without-any-figure", "sk-only-letters-without-any-figure", 0},
        {"Bearer of good news and of many more words", "Bearer of good news and of many more words",
         0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        SCOPED(buf_fini) buf out = {0};
        buf_init(&out, 4096);
        const char *text = cases[i].text;
        assert_int_equal(keyscan_mask(known, text, strlen(text), &out), cases[i].count);
        assert_string_equal(buf_text(&out), cases[i].masked);
        assert_int_equal(keyscan_in(known, text, strlen(text)), cases[i].count > 0);
    }
}

static void without_known_values_forms_are_found(void **state)
{
    (void)state;
    assert_false(keyscan_in(NULL, "own-secret-77", 13));
    assert_true(keyscan_in(NULL, "hf_0123456789abcdefghij", 23));
    /* a text that ends inside a key's beginning, and one with zeros in it */
    assert_false(keyscan_in(NULL, "gsk", 3));
    assert_true(keyscan_in(NULL, "\0\0gsk_0123456789abcdefghij", 26));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_are_masked),
        cmocka_unit_test(without_known_values_forms_are_found),
    };
    return cmocka_run_group_tests_name("keyscan", tests, NULL, NULL);
}
