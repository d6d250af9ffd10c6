/* SPDX-License-Identifier: MIT */
#include "tests/unit/providers/fixture.h"

#include "providers/hint.h"

/* 2026-11-30T12:00:00Z */
static const int64_t noon = 1796040000000;

static void durations_come_in_many_forms(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t ms; /* -1: none */
    } cases[] = {
        {"120ms", 120},   {"7.66s", 7660},     {"1m26.4s", 86400},
        {"6m0s", 360000}, {"1h2m3s", 3723000}, {"37s", 37000},
        {"1.5s", 1500},   {"12", 12000},       {"1.5", 1500},
        {"0", 0},         {"0s", 0},           {"1d", 86400000},
        {"", -1},         {"s", -1},           {"1x", -1},
        {"-5", -1},       {"1m5", -1},         {"1e9", -1},
        {"1.2.3s", -1},   {" 5", -1},          {"99999999999999999999", (int64_t)366 * 86400000}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        int64_t ms = -1;
        assert_true(hint_duration(cases[i].text, &ms) == (cases[i].ms >= 0));
        assert_int_equal(ms, cases[i].ms);
    }
}

static void dates_come_in_many_forms(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t after_noon_ms; /* INT64_MIN: none */
    } cases[] = {{"Mon, 30 Nov 2026 12:00:59 GMT", 59000},
                 {"Monday, 30-Nov-26 12:00:01 GMT", 1000},
                 {"Mon Nov 30 12:00:02 2026", 2000},
                 {"2026-11-30T12:40:59Z", 2459000},
                 {"2026-11-30T12:00:00.5Z", 500},
                 {"2026-11-30T13:00:00+01:00", 0},
                 {"2026-11-30T11:59:59Z", -1000},
                 {"2026-11-30", INT64_MIN},
                 {"2026-11-30T12:00:00", INT64_MIN},
                 {"2026-11-30T12:00:00+0x", INT64_MIN},
                 {"soon", INT64_MIN},
                 {"", INT64_MIN}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        int64_t ms = 0;
        bool known = hint_date(cases[i].text, &ms);
        assert_true(known == (cases[i].after_noon_ms != INT64_MIN));
        if (known) {
            assert_int_equal(ms - noon, cases[i].after_noon_ms);
        }
    }
}

static hint of(http_field *fields, size_t count)
{
    const http_reply reply = {.fields = fields, .field_count = count};
    return hint_of_reply(&reply, noon);
}

static void retry_after_has_four_forms(void **state)
{
    (void)state;
    static const struct {
        const char *name, *value;
        int64_t ms;
    } cases[] = {{"retry-after", "3", 3000},
                 {"retry-after", "0", 0},
                 {"retry-after", "1.5", 1500},
                 {"retry-after", "Mon, 30 Nov 2026 12:00:10 GMT", 10000},
                 {"retry-after", "Mon, 30 Nov 2026 11:00:00 GMT", 0},
                 {"retry-after", "whenever", -1},
                 {"retry-after-ms", "250", 250},
                 {"retry-after-ms", "250.5", 251},
                 {"retry-after-ms", "x", -1}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        http_field field = {cases[i].name, cases[i].value};
        assert_int_equal(of(&field, 1).retry_ms, cases[i].ms);
    }
    http_field both[] = {{"retry-after", "2"}, {"retry-after-ms", "1700"}};
    assert_int_equal(of(both, 2).retry_ms, 1700);
    assert_int_equal(of(NULL, 0).retry_ms, -1);
}

static void what_is_left_is_told_by_two_families(void **state)
{
    (void)state;
    http_field anthropic[] = {{"anthropic-ratelimit-requests-remaining", "0"},
                              {"anthropic-ratelimit-requests-reset", "2026-11-30T12:00:30Z"},
                              {"anthropic-ratelimit-tokens-remaining", "80000"},
                              {"anthropic-ratelimit-tokens-reset", "2026-11-30T12:00:05Z"}};
    http_field openai[] = {{"x-ratelimit-remaining-requests", "59"},
                           {"x-ratelimit-reset-requests", "1s"},
                           {"x-ratelimit-remaining-tokens", "0"},
                           {"x-ratelimit-reset-tokens", "6m0s"}};
    hint a = of(anthropic, 4), o = of(openai, 4), none = of(NULL, 0);
    assert_int_equal(a.requests_left, 0);
    assert_int_equal(a.requests_reset_ms, 30000);
    assert_int_equal(a.tokens_left, 80000);
    assert_int_equal(a.tokens_reset_ms, 5000);
    assert_int_equal(o.requests_left, 59);
    assert_int_equal(o.requests_reset_ms, 1000);
    assert_int_equal(o.tokens_left, 0);
    assert_int_equal(o.tokens_reset_ms, 360000);
    assert_int_equal(none.requests_left, -1);
    assert_int_equal(none.tokens_reset_ms, -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(durations_come_in_many_forms),
                                       cmocka_unit_test(dates_come_in_many_forms),
                                       cmocka_unit_test(retry_after_has_four_forms),
                                       cmocka_unit_test(what_is_left_is_told_by_two_families)};
    return cmocka_run_group_tests_name("hint", tests, NULL, NULL);
}
