/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "common/grammar.h"
#include "common/scoped.h"

static const char *const kinds[] = {"red", "blue", NULL};
static const grammar_node text = {.kind = GRAMMAR_TEXT};
static const grammar_node number = {.kind = GRAMMAR_NUMBER, .help = "how many"};
static const grammar_node kind = {.kind = GRAMMAR_WORD, .words = kinds};
static const grammar_member i32_members[] = {{"i32", &number, NULL}, {0}};
static const grammar_node i32 = {.kind = GRAMMAR_OBJECT, .members = i32_members};
static const grammar_node *const options[] = {&text, &i32, NULL};
static const grammar_node any = {
    .kind = GRAMMAR_ANY_OF, .options = options, .help = "a name or a value"};
static const grammar_node list = {.kind = GRAMMAR_LIST, .items = &any, .min = 1, .max = 2};
static const grammar_member members[] = {{"name", &text, NULL},
                                         {"size", &number, "\"0\""},
                                         {"kind", &kind, "\"red\""},
                                         {"args", &list, NULL},
                                         {0}};
static const grammar_node object = {.kind = GRAMMAR_OBJECT, .members = members};

static void a_schema_requires_all_and_allows_no_more(void **state)
{
    (void)state;
    SCOPED(json_destroy) json *schema = grammar_schema(&object);
    SCOPED(scoped_free) char *dump = json_dump(schema);
    assert_string_equal(
        dump,
        "{\"additionalProperties\":false,\"properties\":{\"args\":{\"items\":{\"anyOf\":[{\"type\":"
        "\"string\"},{\"additionalProperties\":false,\"properties\":{\"i32\":{\"description\":"
        "\"how many\",\"type\":\"string\"}},\"required\":[\"i32\"],\"type\":\"object\"}],"
        "\"description\":\"a name or a value\"},\"type\":\"array\"},\"kind\":{\"enum\":[\"red\","
        "\"blue\"],\"type\":\"string\"},\"name\":{\"type\":\"string\"},\"size\":{\"description\":"
        "\"how many\",\"type\":\"string\"}},\"required\":[\"name\",\"size\",\"kind\",\"args\"],"
        "\"type\":\"object\"}");
    const char *keys[GRAMMAR_MEMBERS_MAX + 1];
    grammar_keys(&object, keys);
    assert_string_equal(keys[3], "args");
    assert_null(keys[4]);
}

static void a_text_is_checked_with_its_place(void **state)
{
    (void)state;
    static const struct {
        const char *text, *complaint; /* NULL: it fits */
    } cases[] = {
        {"{\"name\": \"n\", \"args\": [\"x\", {\"i32\": 3}]}", NULL},
        {"{\"name\": \"n\", \"args\": [\"x\"], \"size\": 1.5, \"kind\": \"blue\"}", NULL},
        {"{\"args\": [\"x\"]}", "\"name\" is missing"},
        {"{\"name\": \"n\"}", "\"args\" is missing"},
        {"{\"name\": \"n\", \"args\": []}", "/args: has 0 entries, at least 1 are needed"},
        {"{\"name\": \"n\", \"args\": [\"a\", \"b\", \"c\"]}", "/args"},
        {"{\"name\": \"n\", \"args\": [7]}", "/args/0: expected a name or a value"},
        {"{\"name\": \"n\", \"args\": [{\"i64\": 7}]}", "/args/0: expected a name or a value"},
        {"{\"name\": \"n\", \"args\": [\"x\"], \"kind\": \"pink\"}",
         "/kind: \"pink\" is none of: red, blue"},
        {"{\"name\": \"n\", \"args\": [\"x\"], \"size\": null}",
         "/size: expected a number or text, found null"},
        {"{\"name\": 1, \"args\": [\"x\"]}", "/name: expected a string"},
        {"{\"name\": \"n\", \"args\": [\"x\"], \"sizes\": 1}", "did you mean \"size\"?"},
        {"[]", "expected an object"}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        err e = {0};
        SCOPED(json_doc_destroy)
        json_doc *doc = json_parse(cases[i].text, strlen(cases[i].text), "t", &e);
        json_cursor root = json_root(doc);
        int rc = grammar_check(&object, &root, &e);
        assert_int_equal(rc, cases[i].complaint != NULL ? -1 : 0);
        if (rc != 0 && strstr(e.text, cases[i].complaint) == NULL) {
            fail_msg("case %zu: %s", i, e.text);
        }
    }
}

static void texts_of_one_meaning_have_one_normal_form(void **state)
{
    (void)state;
    static const struct {
        const char *text, *normal;
    } cases[] = {
        {"{\"name\":\"n\",\"args\":[\"x\",{\"i32\":3}]}",
         "{\"args\":[\"x\",{\"i32\":\"3\"}],\"kind\":\"red\",\"name\":\"n\",\"size\":\"0\"}"},
        {"{\"name\":\"n\",\"args\":[\"x\",{\"i32\":\"3\"}],\"size\":0,\"kind\":\"red\"}",
         "{\"args\":[\"x\",{\"i32\":\"3\"}],\"kind\":\"red\",\"name\":\"n\",\"size\":\"0\"}"},
        {"{\"args\":[{\"i32\":1e-5},{\"i32\":\"0.00001\"}]}",
         "{\"args\":[{\"i32\":\"1.0000000000000001e-05\"},{\"i32\":\"1.0000000000000001e-05\"}],"
         "\"kind\":\"red\",\"size\":\"0\"}"},
        {"{\"args\":[7,{\"i64\":1}],\"kind\":3,\"odd\":1}",
         "{\"args\":[7,{\"i64\":1}],\"kind\":3,\"odd\":1,\"size\":\"0\"}"},
        {"[1]", "[1]"}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        SCOPED(json_destroy)
        json *value = json_parse_tree(cases[i].text, strlen(cases[i].text), "t", NULL);
        SCOPED(json_destroy) json *normal = grammar_normal(&object, value);
        SCOPED(scoped_free) char *dump = json_dump(normal);
        assert_string_equal(dump, cases[i].normal);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_schema_requires_all_and_allows_no_more),
                                       cmocka_unit_test(a_text_is_checked_with_its_place),
                                       cmocka_unit_test(texts_of_one_meaning_have_one_normal_form)};
    return cmocka_run_group_tests_name("grammar", tests, NULL, NULL);
}
