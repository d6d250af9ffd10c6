/* test_json - the strict document model
 *
 * SPDX-License-Identifier: MIT */
/* cmocka wants these first. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/buf.h"
#include "common/json.h"
#include "common/scoped.h"
#include "common/str.h"

static json *parse(const char *text)
{
    err e = {0};
    json *tree = json_parse_tree(text, strlen(text), "t", &e);
    if (tree == NULL)
        print_message("%s\n", e.text);
    assert_non_null(tree);
    return tree;
}

static void assert_dump(const json *value, const char *expected)
{
    SCOPED(scoped_free) char *text = json_dump(value);
    assert_string_equal(text, expected);
}

static void what_was_built_is_dumped_with_sorted_keys(void **state)
{
    (void)state;
    SCOPED(json_destroy) json *root = json_new_object();
    json *list = json_new_array();
    for (int64_t i = 0; i < 3; i++) {
        json *element = json_new_int(i);
        json_append(list, &element);
        assert_null(element);
    }
    json_set(root, "z", &list);
    assert_null(list);
    json_set_str(root, "b", "text");
    json_set_str(root, "a", NULL);
    json_set_real(root, "r", 0.1);
    json_set_bool(root, "t", true);
    json_set_null(root, "n");
    json_set_int(root, "gone", 1);
    json_remove(root, "gone");
    json_remove(root, "never there");
    json_set_int(root, "b", -5);
    assert_dump(root, "{\"a\":null,\"b\":-5,\"n\":null,\"r\":0.1,\"t\":true,\"z\":[0,1,2]}");
}

static void pretty_keeps_insertion_order(void **state)
{
    (void)state;
    SCOPED(json_destroy) json *root = parse("{\"z\": [1, {}], \"a\": {\"k\": []}}");
    SCOPED(scoped_free) char *text = json_dump_pretty(root);
    assert_string_equal(text,
                        "{\n  \"z\": [\n    1,\n    {}\n  ],\n  \"a\": {\n    \"k\": []\n  }\n}\n");
}

static void reals_are_short_and_read_back_exactly(void **state)
{
    (void)state;
    static const struct {
        double value;
        const char *text;
    } rows[] = {{0.1, "0.1"},
                {1, "1.0"},
                {-0.0, "-0.0"},
                {1e300, "1e+300"},
                {5e-324, "4.94065645841247e-324"},
                {1.0 / 3, "0.3333333333333333"},
                {123456789012345680.0, "1.2345678901234568e+17"}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        SCOPED(json_destroy) json *value = json_new_real(rows[i].value);
        assert_dump(value, rows[i].text);
        SCOPED(json_destroy) json *back = parse(rows[i].text);
        assert_int_equal(json_typeof(back), JSON_TYPE_REAL);
        assert_true(json_equal(value, back));
    }
}

static void a_failed_number_is_never_a_number(void **state)
{
    (void)state;
    const double bad[] = {(double)NAN, (double)INFINITY, -(double)INFINITY};
    for (size_t i = 0; i < 3; i++) {
        SCOPED(json_destroy) json *value = json_new_real(bad[i]);
        assert_int_equal(json_typeof(value), JSON_TYPE_NULL);
        assert_true(json_real(value, -7) == -7);
    }
}

static void bytes_that_are_no_utf8_become_replacements(void **state)
{
    (void)state;
    SCOPED(json_destroy) json *root = json_new_object();
    json_set_str(root, "k\xff", "a\xff\xc3(");
    json *with_nul = json_new_strn("x\0y", 3);
    json_set(root, "n", &with_nul);
    assert_dump(root,
                "{\"k\xef\xbf\xbd\":\"a\xef\xbf\xbd\xef\xbf\xbd(\",\"n\":\"x\xef\xbf\xbdy\"}");
}

static void quoting_escapes_what_must_be_escaped(void **state)
{
    (void)state;
    static const char text[] = "\"\\/\b\f\n\r\t\x01\x1f\x7f\0é\xff";
    SCOPED(buf_fini) buf out;
    buf_init(&out, 1000);
    json_quote(&out, text, sizeof text - 1);
    assert_string_equal(out.data, "\"\\\"\\\\/\\b\\f\\n\\r\\t\\u0001\\u001f\x7f"
                                  "\xef\xbf\xbd\xc3\xa9\xef\xbf\xbd\"");
}

static void getters_say_otherwise_for_the_wrong_type(void **state)
{
    (void)state;
    SCOPED(json_destroy)
    json *o = parse("{\"i\": 3, \"r\": 2.5, \"s\": \"x\", \"b\": true, \"l\": [9], \"n\": null}");
    assert_int_equal(json_int(json_get(o, "i"), 7), 3);
    assert_int_equal(json_int(json_get(o, "r"), 7), 7);
    assert_int_equal(json_int(NULL, 7), 7);
    assert_true(json_real(json_get(o, "i"), 7) == 3.0);
    assert_true(json_real(json_get(o, "r"), 7) == 2.5);
    assert_true(json_real(json_get(o, "s"), 7) == 7.0);
    assert_string_equal(json_str(json_get(o, "s"), "d"), "x");
    assert_string_equal(json_str(json_get(o, "n"), "d"), "d");
    assert_true(json_bool(json_get(o, "b"), false));
    assert_false(json_bool(json_get(o, "i"), false));
    assert_null(json_get(o, "absent"));
    assert_null(json_get(json_get(o, "l"), "x"));
    assert_null(json_at(o, 0));
    assert_null(json_at(json_get(o, "l"), 1));
    assert_int_equal(json_int(json_at(json_get(o, "l"), 0), 0), 9);
    assert_int_equal(json_size(o), 6);
    assert_int_equal(json_size(json_get(o, "s")), 0);
    assert_string_equal(json_key_at(o, 0), "i");
    assert_string_equal(json_key_at(o, 5), "n");
    assert_null(json_key_at(o, 6));
    assert_int_equal(json_typeof(NULL), JSON_TYPE_NULL);
    assert_string_equal(json_type_name(JSON_TYPE_INT), "integer");
    assert_string_equal(json_type_name((json_type)42), "unknown");
}

static void iteration_visits_members_in_order(void **state)
{
    (void)state;
    SCOPED(json_destroy) json *o = parse("{\"b\": 1, \"a\": 2, \"c\": 3}");
    char seen[32] = "";
    for (json_iter it = {0}; json_next(o, &it);) {
        size_t used = strlen(seen);
        snprintf(seen + used, sizeof seen - used, "%s%d", it.key, (int)json_int(it.value, 0));
    }
    assert_string_equal(seen, "b1a2c3");
    json_iter none = {0};
    assert_false(json_next(json_get(o, "a"), &none));
    assert_false(json_next(NULL, &none));
}

static void copies_are_deep_and_equality_is_by_value(void **state)
{
    (void)state;
    SCOPED(json_destroy) json *a = parse("{\"x\": [1, {\"y\": \"z\"}]}");
    SCOPED(json_destroy) json *b = json_copy(a);
    assert_true(json_equal(a, b));
    json_set_int(b, "more", 1);
    assert_false(json_equal(a, b));
    assert_int_equal(json_size(a), 1);
    SCOPED(json_destroy) json *one = parse("1");
    SCOPED(json_destroy) json *one_real = parse("1.0");
    assert_false(json_equal(one, one_real));
    SCOPED(json_destroy) json *null = json_copy(NULL);
    assert_true(json_equal(null, NULL));
    assert_false(json_equal(null, one));
}

/* nested is `depth` arrays around nothing. */
static char *nested(int depth, char *out)
{
    memset(out, '[', (size_t)depth);
    memset(out + depth, ']', (size_t)depth);
    out[2 * depth] = '\0';
    return out;
}

static void bad_documents_are_refused_with_their_line(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        const char *place;
    } rows[] = {
        {"", "t:1: "},
        {"{", "t:1: "},
        {"{\"a\": 1,}", "t:1: "},
        {"[1,\n2,\n]", "t:3: "},
        {"{\"a\": 1,\n \"a\": 2}", "t:2: duplicate"},
        {"[1] x", "t:1: "},
        {"[1]\n[2]", "t:2: "},
        {"\"\xff\"", "t:1: "},
        {"\"\xed\xa0\x80\"", "t:1: "},
        {"\"\\ud800\"", "t:1: "},
        {"\"\\u0000\"", "t:1: "},
        {"\"a\nb\"", "t:"},
        {"01", "t:1: "},
        {"+1", "t:1: "},
        {".5", "t:1: "},
        {"NaN", "t:1: "},
        {"'a'", "t:1: "},
        {"[1] // no", "t:1: "},
        {"\xef\xbb\xbf[]", "t:1: "},
        {"9223372036854775808", "t:1: "},
        {"1e999", "t:1: "},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        err e = {0};
        json *tree = json_parse_tree(rows[i].text, strlen(rows[i].text), "t", &e);
        if (tree != NULL || !str_starts(e.text, rows[i].place))
            print_message("row %zu: %s\n", i, e.text);
        assert_null(tree);
        assert_int_equal(e.code, ERR_CONFIG);
        assert_true(str_starts(e.text, rows[i].place));
    }
    err e;
    assert_null(json_parse_tree("[1]\0", 4, "t", &e));
}

static void depth_ends_exactly_at_the_limit(void **state)
{
    (void)state;
    char text[2 * JSON_DEPTH_MAX + 8];
    SCOPED(json_destroy) json *deepest = parse(nested(JSON_DEPTH_MAX, text));
    assert_non_null(deepest);
    err e = {0};
    nested(JSON_DEPTH_MAX + 1, text);
    assert_null(json_parse_tree(text, strlen(text), "t", &e));
    assert_string_equal(e.text, "t:1: nested more than 64 deep");
    /* brackets inside strings are no depth */
    char quoted[400] = "\"\\\"";
    memset(quoted + 3, '[', 300);
    quoted[303] = '"';
    SCOPED(json_destroy) json *string = parse(quoted);
    assert_int_equal(json_typeof(string), JSON_TYPE_STRING);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_built_is_dumped_with_sorted_keys),
        cmocka_unit_test(pretty_keeps_insertion_order),
        cmocka_unit_test(reals_are_short_and_read_back_exactly),
        cmocka_unit_test(a_failed_number_is_never_a_number),
        cmocka_unit_test(bytes_that_are_no_utf8_become_replacements),
        cmocka_unit_test(quoting_escapes_what_must_be_escaped),
        cmocka_unit_test(getters_say_otherwise_for_the_wrong_type),
        cmocka_unit_test(iteration_visits_members_in_order),
        cmocka_unit_test(copies_are_deep_and_equality_is_by_value),
        cmocka_unit_test(bad_documents_are_refused_with_their_line),
        cmocka_unit_test(depth_ends_exactly_at_the_limit),
    };
    return cmocka_run_group_tests_name("json", tests, NULL, NULL);
}
