/* test_json_out - the bytes of json_dump, without a tree
 *
 * SPDX-License-Identifier: MIT */
/* cmocka wants these first. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/json.h"
#include "common/json_out.h"
#include "common/rng.h"
#include "common/scoped.h"

static void bytes_are_those_of_a_tree(void **state)
{
    (void)state;
    SCOPED(buf_fini) buf line;
    buf_init(&line, 4096);
    json_out o = json_out_open(&line);
    json_out_bool(&o, "bool", true);
    json_out_int(&o, "int", -7);
    json_out_real(&o, "nan", (double)NAN);
    json_out_str(&o, "none", NULL);
    json_out_raw(&o, "raw", "[1]");
    json_out_real(&o, "real", 0.1);
    json_out_str(&o, "text", "a\"\n\x01\xff\xc3\xa4");
    json_out_close(&o);
    SCOPED(json_destroy) json *tree = json_new_object();
    json *one = json_new_array(), *number = json_new_int(1);
    json_append(one, &number);
    json_set_str(tree, "text", "a\"\n\x01\xff\xc3\xa4");
    json_set(tree, "raw", &one);
    json_set_real(tree, "real", 0.1);
    json_set_real(tree, "nan", (double)NAN);
    json_set_null(tree, "none");
    json_set_int(tree, "int", -7);
    json_set_bool(tree, "bool", true);
    SCOPED(scoped_free) char *want = json_dump(tree);
    assert_string_equal(buf_text(&line), want);
}

static void an_empty_object(void **state)
{
    (void)state;
    SCOPED(buf_fini) buf line;
    buf_init(&line, 16);
    json_out o = json_out_open(&line);
    json_out_close(&o);
    assert_string_equal(buf_text(&line), "{}");
}

/* The shortest of 15 to 17 digits that reads back, said once more. */
static void shortest(double value, char text[32])
{
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, 32, "%.*g", digits, value);
        if (strtod(text, NULL) == value)
            break;
    }
    const size_t size = strlen(text);
    if (strpbrk(text, ".e") == NULL)
        snprintf(text + size, 32 - size, ".0");
}

static void numbers_are_the_shortest_that_read_back(void **state)
{
    (void)state;
    rng random;
    rng_init(&random, 7);
    for (int i = 0; i < 200000; i++) {
        const double digits = pow(10, (double)(rng_next(&random) % 8));
        double value = (double)(rng_next(&random) >> 40) / digits;
        if (i % 4 == 0)
            value *= 1 + 1e-15 * (double)(rng_next(&random) % 7);
        char want[32];
        shortest(value, want);
        SCOPED(buf_fini) buf got;
        buf_init(&got, 64);
        json_number(&got, value);
        assert_string_equal(buf_text(&got), want);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_are_those_of_a_tree),
        cmocka_unit_test(an_empty_object),
        cmocka_unit_test(numbers_are_the_shortest_that_read_back),
    };
    return cmocka_run_group_tests_name("json_out", tests, NULL, NULL);
}
