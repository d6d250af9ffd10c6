/* test_json_doc - documents and cursors
 *
 * SPDX-License-Identifier: MIT */
/* cmocka wants these first. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/file.h"
#include "common/json.h"
#include "common/scoped.h"
#include "common/str.h"

static const char document[] = "{\n"
                               "  \"name\": \"rms\", \"odd/~key\": {\"x,]}\": \"a\\\"]\"},\n"
                               "  \"inputs\": [\n"
                               "    {\"dtype\": \"f32\",\n"
                               "     \"count\": 3},\n"
                               "    [], {}, \"[\",\n"
                               "    2.5\n"
                               "  ],\n"
                               "  \"last\": true\n"
                               "}\n";

typedef struct fixture {
    json_doc *doc;
    json_cursor root;
} fixture;

static int open_document(void **state)
{
    err e = {0};
    fixture *f = calloc(1, sizeof *f);
    f->doc = json_parse(document, sizeof document - 1, "p.json", &e);
    if (f->doc == NULL)
        return -1;
    f->root = json_root(f->doc);
    *state = f;
    return 0;
}

static int close_document(void **state)
{
    fixture *f = *state;
    json_doc_destroy(&f->doc);
    free(f);
    return 0;
}

static void assert_complaint(const json_cursor *c, const char *expected)
{
    err e = {0};
    assert_int_equal(json_fail(c, &e, "no %s", "good"), -1);
    assert_int_equal(e.code, ERR_CONFIG);
    assert_string_equal(e.text, expected);
}

static json_cursor member(const json_cursor *c, const char *key)
{
    json_cursor out;
    assert_int_equal(json_member(c, key, &out, NULL), 0);
    return out;
}

static void every_complaint_names_file_line_and_pointer(void **state)
{
    const fixture *f = *state;
    assert_complaint(&f->root, "p.json:1: no good");
    json_cursor odd = member(&f->root, "odd/~key");
    json_cursor inner = member(&odd, "x,]}");
    assert_complaint(&inner, "p.json:2: /odd~1~0key/x,]}: no good");
    json_cursor inputs = member(&f->root, "inputs");
    assert_complaint(&inputs, "p.json:3: /inputs: no good");
    json_cursor first;
    json_element(&inputs, 0, &first);
    json_cursor dtype = member(&first, "dtype");
    json_cursor count = member(&first, "count");
    assert_complaint(&first, "p.json:4: /inputs/0: no good");
    assert_complaint(&dtype, "p.json:4: /inputs/0/dtype: no good");
    assert_complaint(&count, "p.json:5: /inputs/0/count: no good");
    json_cursor fifth;
    json_element(&inputs, 4, &fifth);
    assert_complaint(&fifth, "p.json:7: /inputs/4: no good");
    json_cursor last;
    json_entry(&f->root, 3, &last);
    assert_complaint(&last, "p.json:9: /last: no good");
}

static void an_unknown_key_is_named_with_the_likely_one(void **state)
{
    const fixture *f = *state;
    err e = {0};
    static const char *const all[] = {"name", "odd/~key", "inputs", "last", "more", NULL};
    static const char *const slip[] = {"names", "odd/~key", "inputs", "last", NULL};
    static const char *const none[] = {"odd/~key", "inputs", "last", NULL};
    assert_int_equal(json_only_keys(&f->root, all, &e), 0);
    assert_int_equal(json_only_keys(&f->root, slip, &e), -1);
    assert_string_equal(e.text, "p.json:2: /name: unknown key (did you mean \"names\"?)");
    assert_int_equal(json_only_keys(&f->root, none, &e), -1);
    assert_string_equal(e.text, "p.json:2: /name: unknown key (known: odd/~key, inputs, last)");
    json_cursor name = member(&f->root, "name");
    assert_int_equal(json_only_keys(&name, all, &e), -1);
    assert_string_equal(e.text, "p.json:2: /name: expected an object, found string");
}

static void members_are_required_or_optional(void **state)
{
    const fixture *f = *state;
    err e = {0};
    json_cursor out = f->root;
    assert_int_equal(json_member(&f->root, "absent", &out, &e), -1);
    assert_string_equal(e.text, "p.json:1: \"absent\" is missing");
    assert_ptr_equal(out.value, f->root.value);
    assert_false(json_maybe(&f->root, "absent", &out));
    assert_true(json_maybe(&f->root, "last", &out));
    json_cursor last = out;
    assert_int_equal(json_member(&last, "x", &out, &e), -1);
    assert_string_equal(e.text, "p.json:9: /last: expected an object, found bool");
    assert_false(json_maybe(&last, "x", &out));
}

static void wants_check_type_and_range_and_leave_outputs_alone(void **state)
{
    (void)state;
    static const char text[] =
        "{\"i\": 5, \"r\": 1.5, \"s\": \"sum\", \"n\": \"9x\", \"b\": false, "
        "\"l\": [1, 2], \"z\": null}";
    err e = {0};
    SCOPED(json_doc_destroy) json_doc *doc = json_parse(text, sizeof text - 1, NULL, &e);
    json_cursor root = json_root(doc);
    json_cursor i = member(&root, "i");
    json_cursor r = member(&root, "r");
    json_cursor s = member(&root, "s");
    json_cursor n = member(&root, "n");
    json_cursor b = member(&root, "b");
    json_cursor l = member(&root, "l");
    int64_t number = 77;
    double real = 77;
    bool flag = true;
    const char *string = "untouched";
    size_t count = 77;
    assert_int_equal(json_want_int(&i, 6, 9, &number, &e), -1);
    assert_string_equal(e.text, "json:1: /i: 5 is outside 6..9");
    assert_int_equal(json_want_int(&i, 0, 4, &number, &e), -1);
    assert_int_equal(json_want_int(&r, 0, 9, &number, &e), -1);
    assert_string_equal(e.text, "json:1: /r: expected an integer, found real");
    assert_int_equal(number, 77);
    assert_int_equal(json_want_int(&i, 5, 5, &number, &e), 0);
    assert_int_equal(number, 5);
    assert_int_equal(json_want_real(&s, &real, &e), -1);
    assert_true(real == 77);
    assert_int_equal(json_want_real(&i, &real, &e), 0);
    assert_true(real == 5);
    assert_int_equal(json_want_bool(&i, &flag, &e), -1);
    assert_true(flag);
    assert_int_equal(json_want_bool(&b, &flag, &e), 0);
    assert_false(flag);
    assert_int_equal(json_want_str(&i, &string, &e), -1);
    assert_int_equal(json_want_name(&n, &string, &e), -1);
    assert_string_equal(string, "untouched");
    assert_int_equal(json_want_name(&s, &string, &e), 0);
    assert_string_equal(string, "sum");
    assert_int_equal(json_want_array(&l, 1, &count, &e), -1);
    assert_string_equal(e.text, "json:1: /l: has 2 entries; the maximum is 1");
    assert_int_equal(json_want_object(&l, 9, &count, &e), -1);
    assert_int_equal(count, 77);
    assert_int_equal(json_want_array(&l, 2, &count, &e), 0);
    assert_int_equal(count, 2);
    assert_int_equal(json_want_object(&root, 7, &count, &e), 0);
    assert_int_equal(count, 7);
}

static void a_choice_lists_the_choices(void **state)
{
    const fixture *f = *state;
    static const char *const choices[] = {"max", "rms", NULL};
    static const char *const others[] = {"max", "sum", NULL};
    err e = {0};
    int out = 77;
    json_cursor name = member(&f->root, "name");
    assert_int_equal(json_want_choice(&name, choices, &out, &e), 0);
    assert_int_equal(out, 1);
    assert_int_equal(json_want_choice(&name, others, &out, &e), -1);
    assert_int_equal(out, 1);
    assert_string_equal(e.text, "p.json:2: /name: \"rms\" is none of: max, sum");
}

static void an_optional_text_has_its_room(void **state)
{
    const fixture *f = *state;
    err e = {0};
    char room[5] = "old";
    assert_int_equal(json_maybe_text(&f->root, "absent", room, sizeof room, &e), 0);
    assert_string_equal(room, "old");
    assert_int_equal(json_maybe_text(&f->root, "name", room, sizeof room, &e), 0);
    assert_string_equal(room, "rms");
    char small[3] = "";
    assert_int_equal(json_maybe_text(&f->root, "name", small, sizeof small, &e), -1);
    assert_string_equal(e.text, "p.json:2: /name: longer than 2 bytes");
    assert_int_equal(json_maybe_text(&f->root, "last", room, sizeof room, &e), -1);
}

static void a_tree_without_text_has_pointers_and_marked_lines(void **state)
{
    (void)state;
    json *tree = json_new_object();
    json_set_int(tree, "a", 1);
    json_set_int(tree, "b", 2);
    SCOPED(json_doc_destroy) json_doc *doc = json_doc_of(&tree, "y.yaml");
    assert_null(tree);
    json_doc_mark_line(doc, "/b", 7);
    json_cursor root = json_root(doc);
    json_cursor a = member(&root, "a");
    json_cursor b = member(&root, "b");
    assert_complaint(&a, "y.yaml: /a: no good");
    assert_complaint(&b, "y.yaml:7: /b: no good");
}

static void a_taken_tree_leaves_an_empty_document(void **state)
{
    const fixture *f = *state;
    SCOPED(json_destroy) json *tree = json_doc_take(f->doc);
    assert_int_equal(json_size(tree), 4);
    assert_null(json_doc_root(f->doc));
    json_cursor root = json_root(f->doc);
    size_t n;
    assert_int_equal(json_want_object(&root, 9, &n, NULL), -1);
}

static void a_long_pointer_is_cut_not_overrun(void **state)
{
    const fixture *f = *state;
    json_cursor odd = member(&f->root, "odd/~key");
    json_cursor inner = member(&odd, "x,]}");
    char small[8];
    memset(small, '#', sizeof small);
    json_pointer(&inner, small, 6);
    assert_string_equal(small, "/odd~");
    assert_int_equal(small[6], '#');
}

static void files_load_or_say_why_not(void **state)
{
    (void)state;
    char path[] = "/tmp/ce-test-json-XXXXXX";
    SCOPED(scoped_close) int fd = mkstemp(path);
    assert_true(fd >= 0);
    err e = {0};
    assert_int_equal(file_write(path, "{\"a\":\n1]", 8, &e), 0);
    assert_null(json_load(path, &e));
    assert_int_equal(e.code, ERR_CONFIG);
    assert_true(str_starts(e.text, path));
    assert_true(str_starts(e.text + strlen(path), ":2: "));
    assert_int_equal(file_write(path, "[1]", 3, &e), 0);
    SCOPED(json_doc_destroy) json_doc *doc = json_load(path, &e);
    assert_int_equal(json_size(json_doc_root(doc)), 1);
    unlink(path);
    assert_null(json_load(path, &e));
    assert_int_equal(e.code, ERR_NOT_FOUND);
}

int main(void)
{
#define WITH_DOCUMENT(f) cmocka_unit_test_setup_teardown(f, open_document, close_document)
    const struct CMUnitTest tests[] = {
        WITH_DOCUMENT(every_complaint_names_file_line_and_pointer),
        WITH_DOCUMENT(an_unknown_key_is_named_with_the_likely_one),
        WITH_DOCUMENT(members_are_required_or_optional),
        cmocka_unit_test(wants_check_type_and_range_and_leave_outputs_alone),
        WITH_DOCUMENT(a_choice_lists_the_choices),
        WITH_DOCUMENT(an_optional_text_has_its_room),
        cmocka_unit_test(a_tree_without_text_has_pointers_and_marked_lines),
        WITH_DOCUMENT(a_taken_tree_leaves_an_empty_document),
        WITH_DOCUMENT(a_long_pointer_is_cut_not_overrun),
        cmocka_unit_test(files_load_or_say_why_not),
    };
    return cmocka_run_group_tests_name("json_doc", tests, NULL, NULL);
}
