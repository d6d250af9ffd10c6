/* test_kernelbench - lines of `ce-node checkout` become a suite
 *
 * SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "common/scoped.h"
#include "common/xalloc.h"
#include "suites/kernelbench.h"

#define HEAD "{\"layout\":\"main\",\"root\":\"/kb\",\"files\":2,\"identity\":\"ab\"}\n"
#define ROW                                                                                   \
    "{\"id\":\"l1_19\",\"title\":\"level 1: "                                                 \
    "ReLU\",\"category\":\"operator\",\"file\":\"/kb/19.py\","                                \
    "\"hash\":\"aa\",\"supported\":true,\"reason\":null,\"degenerate\":%s,\"admission\":%s,"  \
    "\"bytes\":{\"inputs\":4096,\"needs\":99},\"prompt\":\"p\",\"reference\":\"r\","          \
    "\"gold_source\":null,\"gold_plan\":%s,\"contract\":{\"problem\":\"l1_19\",\"dims\":[],"  \
    "\"inputs\":[{\"name\":\"x\",\"dtype\":\"f32\",\"shape\":[16,64]}],\"scalars\":[],"       \
    "\"outputs\":[{\"name\":\"y\",\"dtype\":\"f32\",\"shape\":[16,64]}],\"reduction\":\"1\"," \
    "\"values\":[\"own\",\"signed\"],\"order_free\":false,\"shapes\":[{}],\"benchmark\":{},"  \
    "\"memory\":99}}\n"
#define OTHER                                                                               \
    "{\"id\":\"l2_9\",\"title\":\"level 2: Other\",\"supported\":false,\"reason\":\"needs " \
    "einops\","                                                                             \
    "\"degenerate\":null,\"admission\":null}\n"

static kernelbench *read_rows(const char *degenerate, const char *admission, const char *plan,
                              err *e)
{
    SCOPED(scoped_free) char *text = xasprintf(HEAD ROW OTHER, degenerate, admission, plan);
    return kernelbench_read(text, strlen(text), "zero", e);
}

static void rows_become_a_suite(void **state)
{
    (void)state;
    err e = {0};
    SCOPED(kernelbench_destroy) kernelbench *k = read_rows("null", "null", "null", &e);
    if (k == NULL)
        fail_msg("%s", e.text);
    const problem *p = &k->problems->problems[0];
    assert_int_equal(k->file_count, 2);
    assert_int_equal(k->problems->problem_count, 1);
    assert_string_equal(k->problems->version, "main/zero-shot");
    assert_string_equal(p->category, "operator");
    assert_string_equal(p->reference_file, "/kb/19.py");
    assert_int_equal(p->terms->dim_count, 0);
    assert_int_equal(p->terms->needs.memory, 99);
    assert_true(k->files[0].is == p);
    assert_int_equal(k->files[0].inputs, 4096);
    assert_false(k->files[1].supported);
    assert_string_equal(k->files[1].reason, "needs einops");
}

static void a_degenerate_problem_has_a_category_and_a_hash_of_its_own_contract(void **state)
{
    (void)state;
    SCOPED(kernelbench_destroy)
    kernelbench *plain = read_rows("null", "{\"status\":\"admitted\"}", "null", NULL);
    SCOPED(kernelbench_destroy)
    kernelbench *weak =
        read_rows("[\"zeros\",\"copy\"]", "{\"status\":\"admitted\"}", "null", NULL);
    assert_string_equal(weak->files[0].degenerate, "zeros, copy");
    assert_string_equal(weak->problems->problems[0].category, KERNELBENCH_DEGENERATE);
    assert_true(plain->files[0].admitted);
    assert_null(plain->files[0].degenerate);
    /* What admission finds changes no question, so no hash. */
    assert_memory_equal(&plain->problems->content, &weak->problems->content, sizeof(hash));
}

static void what_is_wrong_is_told(void **state)
{
    (void)state;
    static const struct {
        const char *text, *says;
    } cases[] = {{"", "it ended after 0"},
                 {"{\"fault\":\"--root x: there is nothing\"}\n", "there is nothing"},
                 {HEAD, "it ended after 0 of 2"},
                 {HEAD OTHER, "it ended after 1 of 2"},
                 {HEAD OTHER OTHER OTHER, "more rows than files"},
                 {HEAD "{\"title\":\"t\"}\n", "no id or title"},
                 {HEAD "{\"id\":\"a\",\"title\":\"t\",\"supported\":true}\n", "no id, title"},
                 {"{\"files\":-2}\n", "number of files"},
                 {"nonsense\n", "checkout"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        err e = {0};
        assert_null(kernelbench_read(cases[i].text, strlen(cases[i].text), "zero", &e));
        if (strstr(e.text, cases[i].says) == NULL)
            fail_msg("%s: %s", cases[i].text, e.text);
    }
    err e = {0};
    assert_null(read_rows("null", "null", "\"{}\"", &e));
    assert_non_null(strstr(e.text, "gold of l1_19"));
}

static void a_suite_may_be_taken(void **state)
{
    (void)state;
    SCOPED(kernelbench_destroy) kernelbench *k = read_rows("null", "null", "null", NULL);
    SCOPED(suite_destroy) suite *taken = kernelbench_take_suite(k);
    assert_non_null(suite_find(taken, "l1_19"));
    assert_null(k->files[0].is);
}

static void words_for_problems_and_levels(void **state)
{
    (void)state;
    static const char *const words[][2] = {{"1/19", "l1_19"}, {"l1_19", "l1_19"}, {"a/1", "a/1"},
                                           {"1/", "1/"},      {"1/x", "1/x"},     {"3", "3"}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        SCOPED(scoped_free) char *id = kernelbench_id(words[i][0]);
        assert_string_equal(id, words[i][1]);
    }
    SCOPED(json_destroy) json *usual = kernelbench_levels(NULL, NULL);
    SCOPED(json_destroy) json *some = kernelbench_levels("2,4", NULL);
    assert_int_equal(json_size(usual), 3);
    assert_int_equal(json_int(json_at(some, 1), 0), 4);
    err e = {0};
    assert_null(kernelbench_levels("5", &e));
    assert_int_equal(e.code, ERR_USAGE);
    assert_null(kernelbench_levels("1,two", &e));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_become_a_suite),
        cmocka_unit_test(a_degenerate_problem_has_a_category_and_a_hash_of_its_own_contract),
        cmocka_unit_test(what_is_wrong_is_told),
        cmocka_unit_test(a_suite_may_be_taken),
        cmocka_unit_test(words_for_problems_and_levels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
