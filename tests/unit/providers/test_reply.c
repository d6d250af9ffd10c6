/* SPDX-License-Identifier: MIT */
#include "tests/unit/providers/fixture.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/scoped.h"
#include "common/xalloc.h"
#include "providers/reply.h"

static const reply_word words[] = {{"broke", FAULT_QUOTA, false},
                                   {"busy", FAULT_OVERLOADED, false},
                                   {"never", FAULT_SERVER, true},
                                   {NULL, FAULT_NONE, false}};

static void an_empty_reply_says_nothing(void **state)
{
    (void)state;
    reply r SCOPED(reply_fini);
    reply_init(&r);
    assert_false(r.stopped || r.ended);
    assert_int_equal(r.used.in, -1);
    assert_true(isnan(r.cost_usd));
    assert_int_equal(r.fault.class, FAULT_NONE);
}

static void words_come_before_the_status(void **state)
{
    (void)state;
    static const struct {
        int64_t status;
        const char *first, *second;
        fault_class class;
        const char *text;
    } cases[] = {{429, "broke", "busy", FAULT_QUOTA, "HTTP 429: why"},
                 {429, "x", "busy", FAULT_OVERLOADED, "HTTP 429: why"},
                 {429, "x", "y", FAULT_RATE_LIMIT, "HTTP 429: why"},
                 {500, "", "", FAULT_SERVER, "HTTP 500: why"},
                 {200, "broke", "", FAULT_QUOTA, "why"},
                 {200, "", "", FAULT_SERVER, "why"}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        reply r SCOPED(reply_fini);
        const char *said[] = {cases[i].first, cases[i].second, NULL};
        reply_init(&r);
        reply_fail(&r, cases[i].status, words, said, "why");
        assert_int_equal(r.fault.class, cases[i].class);
        assert_string_equal(r.fault.text, cases[i].text);
    }
}

static void an_error_without_a_message_is_told(void **state)
{
    (void)state;
    reply r SCOPED(reply_fini);
    const char *said[] = {"never", NULL};
    reply_init(&r);
    reply_fail(&r, 200, words, said, "");
    assert_true(r.fault.final);
    assert_string_equal(r.fault.text, "the provider reports an error");
}

static void buckets_are_made_disjoint(void **state)
{
    (void)state;
    static const struct {
        int64_t all, read, write, in;
    } cases[] = {
        {100, 30, 20, 50}, {100, -1, -1, 100}, {100, 0, 0, 100}, {-1, -1, -1, -1}, {10, 30, 0, -1}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        reply r SCOPED(reply_fini);
        reply_init(&r);
        reply_split(&r, cases[i].all, cases[i].read, cases[i].write, 7);
        assert_int_equal(r.used.in, cases[i].in);
        assert_int_equal(r.used.cache_read, cases[i].read);
        assert_int_equal(r.used.cache_write, cases[i].write);
        assert_int_equal(r.used.out, 7);
    }
}

static void counts_are_read_with_care(void **state)
{
    (void)state;
    err e;
    static const char text[] = "{\"a\": 3, \"b\": null, \"c\": -2, \"d\": \"7\", \"e\": 1.5}";
    SCOPED(json_destroy) json *object = json_parse_tree(text, strlen(text), "t", &e);
    assert_int_equal(reply_count(object, "a", -1), 3);
    assert_int_equal(reply_count(object, "b", -1), -1);
    assert_int_equal(reply_count(object, "c", -1), -1);
    assert_int_equal(reply_count(object, "d", 0), 0);
    assert_int_equal(reply_count(object, "e", -1), -1);
    assert_int_equal(reply_count(NULL, "a", -1), -1);
}

static void parts_of_a_type_are_joined(void **state)
{
    (void)state;
    static const char text[] =
        "[{\"type\": \"text\", \"text\": \"a\"}, {\"text\": \"b\"}, 7, {\"type\": \"text\"},"
        " {\"type\": \"text\", \"text\": \"c\", \"thought\": true},"
        " {\"type\": \"text\", \"text\": \"d\"}]";
    static const struct {
        const char *parts, *type, *joined;
    } cases[] = {{text, "text", "ad"}, {text, NULL, "abd"},         {text, "other", ""},
                 {"null", NULL, ""},   {"{\"text\": 1}", NULL, ""}, {"\"x\"", NULL, ""}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        reply r SCOPED(reply_fini);
        SCOPED(json_destroy)
        json *parts = json_parse_tree(cases[i].parts, strlen(cases[i].parts), "t", NULL);
        reply_init(&r);
        reply_add_parts(&r, parts, cases[i].type);
        assert_string_equal(buf_text(&r.text), cases[i].joined);
    }
}

static void what_is_too_large_is_not_kept(void **state)
{
    (void)state;
    reply r SCOPED(reply_fini);
    SCOPED(scoped_free) char *large = xmalloc(REPLY_TEXT_MAX + 2);
    SCOPED(json_destroy) json *usage = json_new_object();
    memset(large, 'x', REPLY_TEXT_MAX + 1);
    large[REPLY_TEXT_MAX + 1] = '\0';
    json_set_str(usage, "x", large);
    reply_init(&r);
    reply_keep_usage(&r, usage);
    assert_null(r.usage);
    reply_add_text(&r, large);
    assert_int_equal(r.fault.class, FAULT_BAD_RESPONSE);
    assert_true(r.fault.final);
    SCOPED(json_destroy) json *word = json_new_str(large);
    reply_keep(r.served, word);
    assert_int_equal(strlen(r.served), REPLY_WORD_MAX - 1);
}

static void a_refusal_is_a_whole_answer(void **state)
{
    (void)state;
    reply r SCOPED(reply_fini);
    reply_init(&r);
    reply_refuse(&r, "no");
    assert_true(r.stopped && r.ended && r.stop == PROVIDER_STOP_REFUSED);
    assert_int_equal(r.fault.class, FAULT_NONE);
    assert_string_equal(buf_text(&r.text), "no");
}

static void an_odd_stop_and_a_bad_reply_are_faults(void **state)
{
    (void)state;
    reply r SCOPED(reply_fini);
    reply_init(&r);
    reply_stop(&r, PROVIDER_STOP_LENGTH);
    assert_true(r.stopped && !r.ended);
    reply_odd_stop(&r, "bored");
    assert_non_null(strstr(r.fault.text, "bored"));
    reply_bad(&r, "no sense");
    assert_int_equal(r.fault.class, FAULT_BAD_RESPONSE);
    assert_null(reply_find_word(words, "unknown"));
    assert_int_equal(reply_find_word(words, "busy")->class, FAULT_OVERLOADED);
}

static void the_word_of_an_end_is_looked_up(void **state)
{
    (void)state;
    static const char text[] = "[null, \"full\", \"bored\"]";
    static const reply_end ends[] = {{"full", PROVIDER_STOP_LENGTH}, {NULL, PROVIDER_STOP_OK}};
    err e;
    json *words_said SCOPED(json_destroy) = json_parse_tree(text, sizeof text - 1, "words", &e);
    assert_non_null(words_said);
    reply r SCOPED(reply_fini);
    reply_init(&r);
    reply_end_by(&r, ends, json_at(words_said, 0));
    assert_false(r.stopped);
    reply_end_by(&r, ends, json_at(words_said, 1));
    assert_true(r.stopped && r.stop == PROVIDER_STOP_LENGTH && r.fault.class == FAULT_NONE);
    reply_end_by(&r, ends, json_at(words_said, 2));
    assert_non_null(strstr(r.fault.text, "bored"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(an_empty_reply_says_nothing),
                                       cmocka_unit_test(words_come_before_the_status),
                                       cmocka_unit_test(an_error_without_a_message_is_told),
                                       cmocka_unit_test(buckets_are_made_disjoint),
                                       cmocka_unit_test(counts_are_read_with_care),
                                       cmocka_unit_test(parts_of_a_type_are_joined),
                                       cmocka_unit_test(what_is_too_large_is_not_kept),
                                       cmocka_unit_test(a_refusal_is_a_whole_answer),
                                       cmocka_unit_test(an_odd_stop_and_a_bad_reply_are_faults),
                                       cmocka_unit_test(the_word_of_an_end_is_looked_up)};
    return cmocka_run_group_tests_name("reply", tests, NULL, NULL);
}
