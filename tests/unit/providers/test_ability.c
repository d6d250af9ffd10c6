/* SPDX-License-Identifier: MIT */
#include "tests/unit/providers/fixture.h"

#include <math.h>
#include <string.h>

#include "providers/catalog.h"

#define UNSET ((double)NAN)

static void the_longest_prefix_decides_what_a_model_takes(void **state)
{
    (void)state;
    static const struct {
        const char *provider, *model;
        ability_sampling sampling;
        const char *cap;
        const char *api;
    } cases[] = {
        {"anthropic", "claude-opus-5-5", ABILITY_SAMPLING_NEVER, "max_tokens", "2026-10-21"},
        {"anthropic", "claude-haiku-4-5-20251001", ABILITY_SAMPLING_NEVER, "max_tokens",
         "2026-10-21"},
        {"openai", "gpt-4o-mini", ABILITY_SAMPLING_YES, "max_completion_tokens", "chat"},
        {"openai", "gpt-6.1-sol", ABILITY_SAMPLING_NEVER, "max_output_tokens", "responses"},
        {"openai", "gpt-6.1-terra", ABILITY_SAMPLING_WITHOUT_EFFORT, "max_output_tokens",
         "responses"},
        {"openai", "o4-mini", ABILITY_SAMPLING_NEVER, "max_output_tokens", "responses"},
        {"gemini", "gemini-4-neon", ABILITY_SAMPLING_IGNORED, "maxOutputTokens", "generateContent"},
        {"compat", "anything", ABILITY_SAMPLING_YES, "max_tokens", "chat"}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const ability_row *f = ability_of(cases[i].provider, cases[i].model);
        assert_non_null(f);
        assert_int_equal(f->sampling, cases[i].sampling);
        assert_string_equal(f->cap_field, cases[i].cap);
        assert_string_equal(f->api, cases[i].api);
    }
    assert_null(ability_of("gold", ""));
}

static void every_family_is_of_a_remote_provider(void **state)
{
    (void)state;
    size_t families = 0, entries = 0;
    const ability_row *f = ability_list(&families);
    const catalog_entry *entry = catalog_entries(&entries);
    for (size_t i = 0; i < families; i++) {
        const char *model = NULL;
        char id[64] = "";
        strncpy(id, f[i].provider, sizeof(id) - 2);
        id[strlen(id)] = ':';
        assert_true(catalog_split(id, &model, NULL)->remote);
        assert_true(f[i].output_max >= 8192);
        /* Anthropic refuses to answer at length without a stream. */
        assert_true(f[i].stream || f[i].output_max <= 21333);
        /* Anthropic's field that switches thinking off is there exactly where thinking is on. */
        assert_true((f[i].thinking_off != NULL) == (f[i].thinking == ABILITY_THINKING_ON));
        assert_true(f[i].temperature_max > 0.0 && f[i].api != NULL);
    }
    for (size_t i = 0; i < entries; i++) {
        assert_true((ability_of(entry[i].name, "any") != NULL) == entry[i].remote);
        assert_true(entry[i].paid == entry[i].remote);
    }
}

/* What a user demands, and what becomes of it. */
typedef struct demand_case {
    const char *provider, *model;
    ability_demand demand;
    const char *api;      /* NULL: refused */
    const char *told;     /* a part of the refusal, or of what is degraded */
    bool effort, sampled; /* sent */
} demand_case;

static const demand_case demands[] = {
    {"anthropic",
     "claude-opus-5-5",
     {NULL, "max", UNSET, UNSET, NULL},
     "2026-10-21",
     "",
     true,
     false},
    {"anthropic",
     "claude-opus-5-5",
     {NULL, "none", UNSET, UNSET, NULL},
     NULL,
     "does not take effort 'none' (by 2026-10-21 it takes: low medium high xhigh max)",
     0,
     0},
    {"anthropic",
     "claude-opus-5",
     {NULL, "none", UNSET, UNSET, NULL},
     "2026-10-21",
     "",
     true,
     false},
    {"anthropic",
     "claude-opus-5-5",
     {NULL, NULL, 0.0, UNSET, NULL},
     NULL,
     "refuses temperature and top_p",
     0,
     0},
    {"anthropic",
     "claude-haiku-4-5",
     {NULL, NULL, 0.5, UNSET, NULL},
     "2023-06-01",
     "",
     false,
     true},
    {"anthropic",
     "claude-haiku-4-5",
     {NULL, NULL, UNSET, UNSET, NULL},
     "2026-10-21",
     "",
     false,
     false},
    {"anthropic",
     "claude-haiku-4-5",
     {"2026-10-21", NULL, 0.5, UNSET, NULL},
     NULL,
     "refuses",
     0,
     0},
    {"anthropic", "claude-haiku-4-5", {NULL, NULL, 1.5, UNSET, NULL}, NULL, "refuses", 0, 0},
    {"anthropic",
     "claude-haiku-4-5",
     {"2023-06-01", NULL, 1.5, UNSET, NULL},
     NULL,
     "at most 1",
     0,
     0},
    {"anthropic",
     "claude-haiku-4-5",
     {NULL, "low", UNSET, UNSET, NULL},
     NULL,
     "has no effort setting",
     0,
     0},
    {"anthropic",
     "claude-sonnet-4-6",
     {NULL, NULL, 1.0, UNSET, NULL},
     "2023-06-01",
     "",
     false,
     true},
    {"anthropic", "claude-sonnet-4-6", {NULL, "high", 1.0, UNSET, NULL}, NULL, "refuses", 0, 0},
    {"anthropic",
     "claude-x",
     {"chat", NULL, UNSET, UNSET, NULL},
     NULL,
     "anthropic has no API 'chat'; it has: 2026-10-21, 2023-06-01",
     0,
     0},
    {"openai", "gpt-4o", {NULL, NULL, 0.2, 0.9, NULL}, "chat", "", false, true},
    {"openai", "gpt-4o", {"responses", NULL, 0.2, UNSET, NULL}, "responses", "", false, true},
    {"openai", "gpt-4o", {NULL, "high", UNSET, UNSET, NULL}, NULL, "has no effort setting", 0, 0},
    {"openai", "gpt-6.1-sol", {NULL, "max", UNSET, UNSET, NULL}, "responses", "", true, false},
    {"openai",
     "gpt-6.1-sol",
     {"chat", "max", UNSET, UNSET, NULL},
     NULL,
     "by chat it takes: low",
     0,
     0},
    {"openai", "gpt-6.1-sol", {"chat", "xhigh", UNSET, UNSET, NULL}, "chat", "", true, false},
    {"openai",
     "gpt-6.1-sol",
     {NULL, "none", UNSET, UNSET, NULL},
     NULL,
     "does not take effort 'none'",
     0,
     0},
    {"openai",
     "gpt-6.1-terra",
     {NULL, NULL, 0.2, UNSET, NULL},
     NULL,
     "only with effort none",
     0,
     0},
    {"openai",
     "gpt-6.1-terra",
     {NULL, "high", UNSET, 0.2, NULL},
     NULL,
     "only with effort none",
     0,
     0},
    {"openai", "gpt-6.1-terra", {NULL, "none", 0.2, UNSET, NULL}, "responses", "", true, true},
    {"openai", "gpt-5.5-pro", {NULL, "low", UNSET, UNSET, NULL}, NULL, "medium high xhigh", 0, 0},
    {"openai", "o4-mini", {NULL, "", UNSET, UNSET, NULL}, NULL, "does not take effort ''", 0, 0},
    {"gemini",
     "gemini-4-neon",
     {NULL, "xhigh", 0.5, UNSET, NULL},
     "generateContent",
     "temperature and top_p are not sent",
     true,
     false},
    {"gemini",
     "gemini-3.8-flash",
     {NULL, "high", 0.5, 0.9, NULL},
     "generateContent",
     "",
     true,
     true},
    {"gemini",
     "gemini-2.5-pro",
     {NULL, "high", UNSET, UNSET, NULL},
     NULL,
     "has no effort setting",
     0,
     0},
    {"compat", "any", {NULL, "minimal", 1.9, 0.9, "LAB"}, "chat", "", true, true},
    {"compat", "any", {"chat+schema", "low", 0.9, UNSET, NULL}, "chat+schema", "", true, true},
    {"compat",
     "any",
     {NULL, "lots", UNSET, UNSET, NULL},
     NULL,
     "does not take effort 'lots'",
     0,
     0}};

static void a_demand_is_sent_left_out_or_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(demands) / sizeof(demands[0]); i++) {
        const demand_case *c = &demands[i];
        ability_terms terms;
        err e = {0};
        int rc = ability_settle(c->provider, c->model, &c->demand, &terms, &e);
        if ((rc == 0) != (c->api != NULL)) {
            fail_msg("case %zu: %s", i, e.text);
        }
        const char *told = rc == 0 ? terms.degraded : e.text;
        if (strstr(told, c->told) == NULL || (c->told[0] == '\0' && told[0] != '\0')) {
            fail_msg("case %zu: '%s'", i, told);
        }
        if (rc != 0) {
            assert_int_equal(e.code, ERR_USAGE);
            continue;
        }
        assert_string_equal(terms.family->api, c->api);
        assert_true((terms.effort != NULL) == c->effort);
        assert_true((!isnan(terms.temperature) || !isnan(terms.top_p)) == c->sampled);
    }
}

static void without_a_demand_nothing_is_sent(void **state)
{
    (void)state;
    size_t count = 0;
    const ability_row *f = ability_list(&count);
    assert_true(ability_demands_nothing(&ability_no_demand));
    for (size_t i = 0; i < count; i++) {
        ability_terms terms;
        err e = {0};
        assert_int_equal(ability_settle(f[i].provider, f[i].prefix, NULL, &terms, &e), 0);
        assert_ptr_equal(terms.family, ability_of(f[i].provider, f[i].prefix));
        assert_true(terms.effort == NULL && isnan(terms.temperature) && isnan(terms.top_p));
        assert_string_equal(terms.degraded, "");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_longest_prefix_decides_what_a_model_takes),
        cmocka_unit_test(every_family_is_of_a_remote_provider),
        cmocka_unit_test(a_demand_is_sent_left_out_or_refused),
        cmocka_unit_test(without_a_demand_nothing_is_sent)};
    return cmocka_run_group_tests_name("ability", tests, NULL, NULL);
}
