/* SPDX-License-Identifier: MIT */
#include "tests/unit/providers/fixture.h"

#include <math.h>
#include <string.h>

#include "common/json.h"
#include "common/scoped.h"
#include "providers/catalog.h"
#include "providers/price.h"

/* 2026-11-30, 2026-12-01 and 2027-01-01 at noon, as Unix ms. */
static const int64_t last_november = 1796040000000, first_december = 1796126400000,
                     new_year = 1798804800000;

static void near(double got, double want)
{
    assert_true(fabs(got - want) < 1e-9);
}

static void every_row_of_the_table_is_complete(void **state)
{
    (void)state;
    static const char *const keys[] = {"provider",   "model",       "from",  "until",  "in", "out",
                                       "cache_read", "cache_write", "above", "source", NULL};
    err e = {0};
    SCOPED(json_doc_destroy) json_doc *doc = json_load(CE_SOURCE_DIR "/providers/prices.json", &e);
    assert_non_null(doc);
    json_cursor root = json_root(doc), models;
    size_t count = 0;
    assert_int_equal(json_member(&root, "models", &models, &e), 0);
    assert_int_equal(json_want_array(&models, 1000, &count, &e), 0);
    assert_true(count > 20);
    for (size_t i = 0; i < count; i++) {
        json_cursor row;
        const json *value = json_at(models.value, i);
        json_element(&models, i, &row);
        assert_int_equal(json_only_keys(&row, keys, &e), 0);
        assert_true(json_real(json_get(value, "in"), 0.0) > 0.0);
        assert_true(json_real(json_get(value, "out"), 0.0) > json_real(json_get(value, "in"), 0.0));
        assert_true(json_str(json_get(value, "source"), "")[0] != '\0');
        const char *name = json_str(json_get(value, "provider"), "");
        assert_non_null(ability_of(name, json_str(json_get(value, "model"), "")));
    }
    assert_int_equal(strlen(price_as_of()), strlen("2026-11-30"));
}

static void a_price_is_found_by_model_day_and_length(void **state)
{
    (void)state;
    static const struct {
        const char *provider, *model;
        const int64_t *when;
        int64_t prompt;
        double in; /* NaN: no price */
    } cases[] = {{"anthropic", "claude-opus-5-5", &last_november, 1, 4},
                 {"anthropic", "claude-opus-5", &last_november, 1, 5},
                 {"anthropic", "claude-haiku-4-5-20251001", &last_november, 1, 1},
                 {"anthropic", "claude-haiku-4-5-latest", &last_november, 1, (double)NAN},
                 {"anthropic", "claude-opus-5-7", &last_november, 1, (double)NAN},
                 {"anthropic", "claude-haiku-5-5", &last_november, 100000, 0.1},
                 {"anthropic", "claude-haiku-5-5", &last_november, 100001, 0.5},
                 {"openai", "gpt-6.1-sol-2026-09-29", &last_november, 1, 2},
                 {"openai", "gpt-5.6-sol", &last_november, 1, (double)NAN}, /* price ran out */
                 {"openai", "claude-opus-5", &last_november, 1, (double)NAN},
                 {"gemini", "gemini-4-argon", &last_november, 1, 2},
                 {"gemini", "gemini-4-argon", &first_december, 1, 4},
                 {"gemini", "gemini-3.8-flash", &new_year, 1, 1.5},
                 {"compat", "llama-3", &last_november, 1, (double)NAN}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        price found;
        bool known =
            price_find(cases[i].provider, cases[i].model, *cases[i].when, cases[i].prompt, &found);
        assert_true(known == !isnan(cases[i].in));
        if (known) {
            near(found.in, cases[i].in);
        }
    }
}

static void buckets_are_charged_apart(void **state)
{
    (void)state;
    const price each = {.in = 4, .out = 20, .cache_read = 0.2, .cache_write = 5};
    const price_tokens used = {.in = 1000, .out = 500, .cache_read = 100000, .cache_write = 2000};
    near(price_cost(&each, &used), 0.004 + 0.01 + 0.02 + 0.01);
}

static void what_is_not_known_costs_null(void **state)
{
    (void)state;
    const price each = {.in = 4, .out = 20, .cache_read = 0.2, .cache_write = (double)NAN};
    const price_tokens no_in = {.in = -1, .out = 5}, no_out = {.in = 5, .out = -1};
    const price_tokens unpriced = {.in = 1, .out = 1, .cache_write = 1};
    const price_tokens silent = {.in = 1000000, .out = 0, .cache_read = -1, .cache_write = -1};
    assert_true(isnan(price_cost(&each, &no_in)));
    assert_true(isnan(price_cost(&each, &no_out)));
    assert_true(isnan(price_cost(&each, &unpriced)));
    near(price_cost(&each, &silent), 4);
    assert_true(isnan(price_of_call("compat", "x", last_november, &silent)));
    near(price_of_call("anthropic", "claude-opus-5-5", last_november, &silent), 4);
}

/* Google answers for some models with their successors: what is reserved must be enough for those. */
static void a_known_successor_costs_no_more(void **state)
{
    (void)state;
    static const struct {
        const char *asked, *served;
    } pairs[] = {{"gemini-3.7-flash", "gemini-3.8-flash"}};
    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
        for (int64_t when = last_november; when <= new_year; when += PRICE_LATER_MS) {
            double asked = price_worst("gemini", pairs[i].asked, when, 1000000, 1000000);
            assert_true(price_worst("gemini", pairs[i].served, when, 1000000, 1000000) <= asked);
        }
    }
}

static void a_long_prompt_counts_with_its_cached_part(void **state)
{
    (void)state;
    const price_tokens used = {.in = 1000, .out = 0, .cache_read = 300000, .cache_write = 0};
    near(price_of_call("openai", "gpt-6.2-sol", last_november, &used), 0.004 + 0.06);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_row_of_the_table_is_complete),
                                       cmocka_unit_test(a_price_is_found_by_model_day_and_length),
                                       cmocka_unit_test(buckets_are_charged_apart),
                                       cmocka_unit_test(what_is_not_known_costs_null),
                                       cmocka_unit_test(a_known_successor_costs_no_more),
                                       cmocka_unit_test(a_long_prompt_counts_with_its_cached_part)};
    return cmocka_run_group_tests_name("price", tests, NULL, NULL);
}
