/* test_schema - messages.def as data
 *
 * SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "wire/message.h"
#include "wire/schema.h"

static void check_fields(const schema *s, size_t capacity)
{
    assert_in_range(s->field_count, 1, 64);
    assert_true(s->size <= capacity);
    assert_true(strlen(s->doc) > 3);
    size_t end = 0;
    for (size_t i = 0; i < s->field_count; i++) {
        const schema_field *f = &s->fields[i];
        assert_true(f->offset >= end);
        end = f->offset + 1;
        assert_true(end <= s->size);
        assert_true(strlen(f->doc) > 2);
        assert_true(f->min <= f->max);
        if (f->type == SCHEMA_STR || f->type == SCHEMA_BYTES || f->type == SCHEMA_LIST)
            assert_true(f->max > 0 && f->max < MESSAGE_SIZE_MAX);
        if (f->type == SCHEMA_LIST)
            assert_non_null(f->row()->name);
        for (size_t j = 0; j < i; j++)
            assert_string_not_equal(f->name, s->fields[j].name);
    }
}

static void every_message_is_found_by_its_number(void **state)
{
    (void)state;
    const schema *s;
    size_t count = 0;
    for (; (s = schema_at(count)) != NULL; count++) {
        assert_ptr_equal(schema_of(s->number), s);
        assert_null(schema_retired(s->number));
        assert_string_equal(message_name((message_type)s->number), s->name);
        assert_string_equal(message_from((message_type)s->number), s->from);
        check_fields(s, sizeof(((message *)NULL)->body));
    }
    assert_true(count > 20);
}

static void a_row_has_no_number_and_no_list_of_its_own(void **state)
{
    (void)state;
    const schema *s;
    for (size_t i = 0; (s = schema_row_at(i)) != NULL; i++) {
        assert_int_equal(s->number, 0);
        check_fields(s, 4096);
        for (size_t j = 0; j < s->field_count; j++)
            assert_int_not_equal(s->fields[j].type, SCHEMA_LIST);
    }
}

static void numbers_on_the_wire_do_not_move(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        int number;
    } pinned[] = {
        {"hello", 1},         {"welcome", 2},       {"refused", 3},       {"beat", 4},
        {"pull", 5},          {"lease", 6},         {"call", 7},          {"stage", 8},
        {"result", 9},        {"give_back", 10},    {"progress", 11},     {"ack", 12},
        {"blob_get", 13},     {"blob_data", 14},    {"blob_put", 15},     {"baseline_get", 16},
        {"baseline", 17},     {"baseline_put", 18}, {"cancel", 19},       {"bye", 20},
        {"compile", 40},      {"compiled", 41},     {"runner_hello", 50}, {"runner_failed", 51},
        {"runner_load", 52},  {"runner_check", 53}, {"runner_done", 54},  {"runner_arm", 58},
        {"runner_block", 59}, {"runner_timed", 60}, {"runner_kept", 61},  {"runner_disarm", 62},
    };
    for (size_t i = 0; i < sizeof(pinned) / sizeof(pinned[0]); i++)
        assert_string_equal(message_name((message_type)pinned[i].number), pinned[i].name);
}

static void a_retired_number_says_why_and_is_no_message(void **state)
{
    (void)state;
    assert_non_null(schema_retired(0));
    assert_null(schema_of(0));
    assert_null(schema_of(65535));
    assert_null(schema_retired(65535));
    assert_string_equal(message_name((message_type)0), "?");
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_message_is_found_by_its_number),
        cmocka_unit_test(a_row_has_no_number_and_no_list_of_its_own),
        cmocka_unit_test(numbers_on_the_wire_do_not_move),
        cmocka_unit_test(a_retired_number_says_why_and_is_no_message),
    };
    return cmocka_run_group_tests_name("schema", tests, NULL, NULL);
}
