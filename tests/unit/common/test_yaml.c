/* test_yaml - YAML into the JSON model
 *
 * SPDX-License-Identifier: MIT */
/* cmocka wants these first. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/buf.h"
#include "common/scoped.h"
#include "common/str.h"
#include "common/xalloc.h"
#include "common/yaml.h"

static void accepted_yaml_is_the_expected_json(void **state)
{
    (void)state;
    static const char *const rows[][2] = {
        {"a: 1\nb: [x, 2.5, -3, +4]\n", "{\"a\":1,\"b\":[\"x\",2.5,-3,4]}"},
        {"- ~\n- null\n- Null\n-\n- nUll\n", "[null,null,null,null,\"nUll\"]"},
        {"- true\n- FALSE\n- yes\n- on\n- No\n", "[true,false,\"yes\",\"on\",\"No\"]"},
        {"- '1'\n- \"true\"\n- 'null'\n- ''\n", "[\"1\",\"true\",\"null\",\"\"]"},
        {"- 1e3\n- .5\n- 5.\n- 1.e2\n- 1e\n- e1\n- .\n- 1.2.3\n",
         "[1000.0,0.5,5.0,100.0,\"1e\",\"e1\",\".\",\"1.2.3\"]"},
        {"- 9223372036854775807\n- -9223372036854775808\n",
         "[9223372036854775807,-9223372036854775808]"},
        {"- 12:30:45\n- 2026-11-30\n- 1_000\n- 0b1\n",
         "[\"12:30:45\",\"2026-11-30\",\"1_000\",\"0b1\"]"},
        {"t: |\n  a\n  b\nf: >\n  a\n  b\n", "{\"f\":\"a b\\n\",\"t\":\"a\\nb\\n\"}"},
        {"{a: {b: []}, 'c': {}}", "{\"a\":{\"b\":[]},\"c\":{}}"},
        {"%YAML 1.2\n---\nx\n...\n", "\"x\""},
        {"\"1\": quoted key\n'true': y\n", "{\"1\":\"quoted key\",\"true\":\"y\"}"},
        {"e: \"\\u00e9\\n\"\n", "{\"e\":\"\xc3\xa9\\n\"}"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        err e = {0};
        SCOPED(json_doc_destroy)
        json_doc *doc = yaml_parse(rows[i][0], strlen(rows[i][0]), "y", &e);
        if (doc == NULL)
            print_message("row %zu: %s\n", i, e.text);
        assert_non_null(doc);
        SCOPED(scoped_free) char *text = json_dump(json_doc_root(doc));
        assert_string_equal(text, rows[i][1]);
    }
}

static void everything_else_is_refused_with_its_line(void **state)
{
    (void)state;
    static const char *const rows[][2] = {
        {"", "y:1: the file is empty"},
        {"# nothing\n", "y:2: the file is empty"},
        {"a: 1\n---\nb: 2\n", "y:2: more than one document"},
        {"a: &x 1\n", "y:1: anchors are refused"},
        {"a: 1\nb: &l [1]\n", "y:2: anchors are refused"},
        {"&k a: 1\n", "y:1: anchors are refused"},
        {"a: 1\nb: *a\n", "y:2: aliases are refused"},
        {"a: !!str 1\n", "y:1: tags are refused"},
        {"a: !mine {}\n", "y:1: tags are refused"},
        {"a: ! 1\n", "y:1: tags are refused"},
        {"a:\n  <<: {b: 1}\n", "y:2: merge keys are refused"},
        {"a: 1\nc:\n  b: 1\n  b: 2\n", "y:4: /c/b: duplicate key"},
        {"a: 1\n'a': 2\n", "y:2: /a: duplicate key"},
        {"? [a]\n: 1\n", "y:1: a key must be a plain text"},
        {"80: x\n", "y:1: the key 80 is no text; quote it"},
        {"true: x\n", "y:1: the key true is no text; quote it"},
        {"a: 1\n~: x\n", "y:2: the key ~ is no text; quote it"},
        {"a: 9223372036854775808\n", "y:1: the integer does not fit in 64 bits"},
        {"a: 1e999\n", "y:1: the number is too large"},
        {"a: .inf\n", "y:1: infinity and not-a-number are refused"},
        {"a: 0x10\n", "y:1: write the integer in decimal, or quote the text"},
        {"a: 1\nb: \"\\0\"\n", "y:2: a text with a NUL character"},
        {"a: \xff\n", "y:1: not UTF-8"},
        {"a: 1\nb:\n\xc0\x80\n", "y:3: not UTF-8"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        err e = {0};
        SCOPED(json_doc_destroy)
        json_doc *doc = yaml_parse(rows[i][0], strlen(rows[i][0]), "y", &e);
        assert_null(doc);
        assert_int_equal(e.code, ERR_CONFIG);
        assert_string_equal(e.text, rows[i][1]);
    }
}

static void broken_syntax_names_its_line(void **state)
{
    (void)state;
    static const char *const rows[][2] = {{"a: 1\nb: [1, 2\n", "y:3: "},
                                          {"a: 1\n\tb: 2\n", "y:2: "},
                                          {"a: 'x\n", "y:2: "},
                                          {"a: 1\n b: 2\n", "y:2: "},
                                          {"a: }\n", "y:1: "}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        err e = {0};
        assert_null(yaml_parse(rows[i][0], strlen(rows[i][0]), "y", &e));
        if (!str_starts(e.text, rows[i][1]))
            print_message("row %zu: %s\n", i, e.text);
        assert_true(str_starts(e.text, rows[i][1]));
    }
}

static void later_complaints_name_the_yaml_line(void **state)
{
    (void)state;
    static const char text[] =
        "id: x\ninputs:\n  - name: a\n    a/b: 3\n  -\n    name: |\n      t\n";
    err e = {0};
    SCOPED(json_doc_destroy) json_doc *doc = yaml_parse(text, sizeof text - 1, "p.yaml", &e);
    json_cursor root = json_root(doc);
    json_cursor inputs;
    json_cursor first;
    json_cursor odd;
    assert_int_equal(json_member(&root, "inputs", &inputs, &e), 0);
    json_element(&inputs, 0, &first);
    assert_int_equal(json_member(&first, "a/b", &odd, &e), 0);
    json_fail(&odd, &e, "bad");
    assert_string_equal(e.text, "p.yaml:4: /inputs/0/a~1b: bad");
    json_cursor second;
    json_element(&inputs, 1, &second);
    json_fail(&second, &e, "bad");
    assert_string_equal(e.text, "p.yaml:6: /inputs/1: bad");
    json_fail(&root, &e, "bad");
    assert_string_equal(e.text, "p.yaml:1: bad");
}

static void depth_and_size_are_limited(void **state)
{
    (void)state;
    char text[3 * JSON_DEPTH_MAX + 8];
    err e = {0};
    memset(text, '[', JSON_DEPTH_MAX + 1);
    memset(text + JSON_DEPTH_MAX + 1, ']', JSON_DEPTH_MAX + 1);
    assert_null(yaml_parse(text, 2 * JSON_DEPTH_MAX + 2, "y", &e));
    assert_string_equal(e.text, "y:1: nested too deep");
    SCOPED(json_doc_destroy) json_doc *doc = yaml_parse(text + 1, 2 * JSON_DEPTH_MAX, "y", &e);
    assert_non_null(doc);
    SCOPED(scoped_free) char *large = xcalloc(YAML_SIZE_MAX + 1, 1);
    memset(large, ' ', YAML_SIZE_MAX + 1);
    assert_null(yaml_parse(large, YAML_SIZE_MAX + 1, "y", &e));
    assert_string_equal(e.text, "y: 4194305 bytes; the maximum is 4194304");
}

static void very_long_keys_do_not_disturb_their_neighbours(void **state)
{
    (void)state;
    SCOPED(buf_fini) buf text;
    buf_init(&text, 1024 * 1024);
    buf_puts(&text, "? ");
    for (int i = 0; i < 3000; i++)
        buf_puts(&text, "k");
    buf_puts(&text, "\n: {a: {b: [1, 2]}}\nafter: 1\n");
    err e = {0};
    SCOPED(json_doc_destroy) json_doc *doc = yaml_parse(text.data, text.size, "y", &e);
    json_cursor root = json_root(doc);
    json_cursor after;
    assert_int_equal(json_member(&root, "after", &after, &e), 0);
    json_fail(&after, &e, "bad");
    assert_string_equal(e.text, "y:3: /after: bad");
}

static void files_load_or_say_why_not(void **state)
{
    (void)state;
    char path[] = "/tmp/ce-test-yaml-XXXXXX";
    SCOPED(scoped_close) int fd = mkstemp(path);
    assert_int_equal(write(fd, "a: [1]", 6), 6);
    err e = {0};
    SCOPED(json_doc_destroy) json_doc *doc = yaml_load(path, &e);
    assert_non_null(doc);
    unlink(path);
    assert_null(yaml_load(path, &e));
    assert_int_equal(e.code, ERR_NOT_FOUND);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(accepted_yaml_is_the_expected_json),
        cmocka_unit_test(everything_else_is_refused_with_its_line),
        cmocka_unit_test(broken_syntax_names_its_line),
        cmocka_unit_test(later_complaints_name_the_yaml_line),
        cmocka_unit_test(depth_and_size_are_limited),
        cmocka_unit_test(very_long_keys_do_not_disturb_their_neighbours),
        cmocka_unit_test(files_load_or_say_why_not),
    };
    return cmocka_run_group_tests_name("yaml", tests, NULL, NULL);
}
