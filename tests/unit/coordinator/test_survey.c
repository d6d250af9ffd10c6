/* test_survey - what is told of a checkout (service/kernelbench.py reads a real one)
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
#include "coordinator/survey.h"

static const char rows[] =
    "{\"layout\":\"v0\",\"root\":\"/kb\",\"files\":2,\"identity\":\"ab\"}\n"
    "{\"id\":\"l1_1\",\"title\":\"level 1: One\",\"category\":\"operator\",\"file\":\"/kb/1.py\","
    "\"hash\":\"aa\",\"supported\":true,\"reason\":null,\"degenerate\":[\"zeros\"],"
    "\"admission\":{\"status\":\"admitted\"},\"bytes\":{\"inputs\":1073741824,\"needs\":"
    "3221225472},\"prompt\":\"p\",\"reference\":\"r\",\"gold_source\":null,\"gold_plan\":null,"
    "\"contract\":{\"problem\":\"l1_1\",\"dims\":[],\"inputs\":[],\"scalars\":[],\"outputs\":"
    "[{\"name\":\"y\",\"dtype\":\"f32\",\"shape\":[]}],\"reduction\":\"1\",\"values\":[\"own\"],"
    "\"order_free\":false,\"shapes\":[{}],\"benchmark\":{}}}\n"
    "{\"id\":\"l1_2\",\"title\":\"level 1: Two\",\"supported\":false,\"reason\":\"needs x\"}\n";

static kernelbench *read_rows(void)
{
    err e = {0};
    kernelbench *k = kernelbench_read(rows, strlen(rows), "zero", &e);
    if (k == NULL)
        fail_msg("%s", e.text);
    return k;
}

static void each_file_has_a_line_and_all_are_counted(void **state)
{
    (void)state;
    SCOPED(kernelbench_destroy) kernelbench *k = read_rows();
    SCOPED(scoped_free) char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    survey_print(k, out);
    fclose(out);
    assert_non_null(strstr(text, "l1_1     degenerate      1.00 GiB in,    3.00 GiB to check"));
    assert_non_null(strstr(text, "level 1: One (zeros)"));
    assert_non_null(strstr(text, "l1_2     unsupported  level 1: Two (needs x)"));
    assert_non_null(strstr(text, "2 files: 1 supported, 1 unsupported; 1 admitted, 1 of them"));
}

static void the_object_says_the_same(void **state)
{
    (void)state;
    SCOPED(kernelbench_destroy) kernelbench *k = read_rows();
    SCOPED(json_destroy) json *root = survey_json(k);
    const json *list = json_get(root, "problems");
    assert_string_equal(json_str(json_get(root, "layout"), ""), "v0");
    assert_string_equal(json_str(json_get(json_at(list, 0), "status"), ""), "degenerate");
    assert_string_equal(json_str(json_get(json_at(list, 0), "reason"), ""), "zeros");
    assert_int_equal(json_int(json_get(json_at(list, 0), "check_bytes"), 0), 3221225472);
    assert_string_equal(json_str(json_get(json_at(list, 1), "status"), ""), "unsupported");
    assert_string_equal(json_str(json_get(json_at(list, 1), "reason"), ""), "needs x");
}

static void what_was_found_lies_beside_the_database(void **state)
{
    (void)state;
    SCOPED(scoped_free) char *beside = survey_found("/data/ce/ce.db");
    SCOPED(scoped_free) char *here = survey_found("ce.db");
    assert_string_equal(beside, "/data/ce/kernelbench");
    assert_string_equal(here, "kernelbench");
}

static void a_node_that_is_not_there_is_an_error(void **state)
{
    (void)state;
    err e = {0};
    const survey_request request = {.root = "/nowhere"};
    assert_null(survey_read(&request, &e)); /* this test has no ce-node beside it */
    assert_int_not_equal(e.code, ERR_NONE);
    assert_non_null(strstr(e.text, "/nowhere"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_file_has_a_line_and_all_are_counted),
        cmocka_unit_test(the_object_says_the_same),
        cmocka_unit_test(what_was_found_lies_beside_the_database),
        cmocka_unit_test(a_node_that_is_not_there_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
