/* What `ce-node checkout` asks its script.
 *
 * SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "agent-node/cmd_checkout.h"
#include "common/json.h"
#include "common/scoped.h"

/* argv is not const by tradition; nothing writes to it. */
#define WORDS(...) ((char **)(uintptr_t)(const char *const[]){__VA_ARGS__, NULL})

static void options_become_one_object(void **state)
{
    (void)state;
    char **words = WORDS("checkout", "/kb", "--level", "1,3", "--only", "1/19,l3_4", "--admit",
                         "--device", "cuda:0", "--cache", "/c", "--shots", "few");
    err e = {0};
    SCOPED(scoped_free) char *text = cmd_checkout_request(13, words, &e);
    if (text == NULL)
        fail_msg("%s", e.text);
    SCOPED(json_doc_destroy) json_doc *doc = json_parse(text, strlen(text), "test", NULL);
    const json *root = json_doc_root(doc);
    assert_string_equal(json_str(json_get(root, "root"), ""), "/kb");
    assert_int_equal(json_int(json_at(json_get(root, "levels"), 1), 0), 3);
    assert_string_equal(json_str(json_at(json_get(root, "only"), 0), ""), "l1_19");
    assert_string_equal(json_str(json_at(json_get(root, "only"), 1), ""), "l3_4");
    assert_true(json_bool(json_get(root, "admit"), false));
    assert_string_equal(json_str(json_get(root, "device"), ""), "cuda:0");
    assert_string_equal(json_str(json_get(root, "shots"), ""), "few");
}

static void defaults_compute_nothing(void **state)
{
    (void)state;
    SCOPED(scoped_free) char *text = cmd_checkout_request(2, WORDS("checkout", "/kb"), NULL);
    SCOPED(json_doc_destroy) json_doc *doc = json_parse(text, strlen(text), "test", NULL);
    const json *root = json_doc_root(doc);
    assert_int_equal(json_size(json_get(root, "levels")), 3);
    assert_int_equal(json_size(json_get(root, "only")), 0);
    assert_false(json_bool(json_get(root, "admit"), true));
    assert_string_equal(json_str(json_get(root, "shots"), ""), "zero");
    assert_string_equal(json_str(json_get(root, "device"), ""), "cpu");
}

static void wrong_words_are_refused(void **state)
{
    (void)state;
    char **cases[] = {WORDS("checkout", "/kb", "--level", "9"),
                      WORDS("checkout", "/kb", "--shots", "two"),
                      WORDS("checkout", "/kb", "--colour", "red")};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        err e = {0};
        assert_null(cmd_checkout_request(4, cases[i], &e));
        assert_int_equal(e.code, ERR_USAGE);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(options_become_one_object),
        cmocka_unit_test(defaults_compute_nothing),
        cmocka_unit_test(wrong_words_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
