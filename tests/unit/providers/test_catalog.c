/* SPDX-License-Identifier: MIT */
#include "tests/unit/providers/fixture.h"

#include <string.h>

#include "providers/catalog.h"

static void an_unknown_provider_is_named_with_the_known_ones(void **state)
{
    (void)state;
    err e = {0};
    assert_int_equal(provider_check("gpt:x", &e), -1);
    assert_int_equal(e.code, ERR_USAGE);
    assert_non_null(strstr(e.text, "gpt:x"));
    size_t count = 0;
    const catalog_entry *entries = catalog_entries(&count);
    for (size_t i = 0; i < count; i++) {
        assert_non_null(strstr(e.text, entries[i].form));
    }
}

static void the_form_of_an_id_is_checked(void **state)
{
    (void)state;
    static const struct {
        const char *id;
        int rc;
    } cases[] = {{"gold", 0},
                 {"gold:x", -1},
                 {"replay:01abc", 0},
                 {"replay", -1},
                 {"replay:", -1},
                 {"mock", -1},
                 {"", -1},
                 {"mock:/nonexistent.json", -1},
                 {"claude-opus-5-5", 0},
                 {"claude-opus-5-5@http://127.0.0.1:1", 0},
                 {"anthropic:claude-opus-5-5", 0},
                 {"anthropic", -1},
                 {"anthropic:", -1},
                 {"anthropic:@http://127.0.0.1:1", -1},
                 {"openai:gpt-4o", 0},
                 {"openai:gpt-4o@https://gateway.example/v1/", 0},
                 {"openai:gpt-4o@http://gateway.example/v1", -1},
                 {"openai:two words", -1},
                 {"openai:gpt-4o@ftp://host", -1},
                 {"openai:gpt-4o@https://user:key@host/v1", -1},
                 {"gemini:gemini-4-neon", 0},
                 {"gemini:../../x", -1},
                 {"compat:llama3:8b@http://localhost:11434/v1", 0},
                 {"compat:a/b@c@http://gpu-box:8000/v1", 0},
                 {"compat:llama3", -1},
                 {"compat:llama3@https://host/v1?key=1", -1}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        err e = {0};
        if (provider_check(cases[i].id, &e) != cases[i].rc) {
            fail_msg("%s: %s", cases[i].id, e.text);
        }
        assert_true((e.text[0] != '\0') == (cases[i].rc != 0));
    }
}

static void models_behind_http_cost_money_and_local_ones_do_not(void **state)
{
    (void)state;
    static const char *const paid[] = {"claude-x", "anthropic:a", "openai:a", "gemini:a",
                                       "compat:a@http://127.0.0.1:1"};
    static const char *const local[] = {"gold", "mock:a", "replay:a", "nobody:a", ""};
    for (size_t i = 0; i < sizeof(paid) / sizeof(paid[0]); i++) {
        assert_true(provider_is_paid(paid[i]));
    }
    for (size_t i = 0; i < sizeof(local) / sizeof(local[0]); i++) {
        assert_false(provider_is_paid(local[i]));
    }
}

static void splitting_gives_provider_and_model(void **state)
{
    (void)state;
    static const struct {
        const char *id, *name, *model;
    } cases[] = {
        {"mock:a:b.json", "mock", "a:b.json"},
        {"gold", "gold", ""},
        {"claude-opus-5", "anthropic", "claude-opus-5"},
        {"claude-opus-5@http://127.0.0.1:1", "anthropic", "claude-opus-5@http://127.0.0.1:1"},
        {"compat:m@http://h/v1", "compat", "m@http://h/v1"}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const char *model = NULL;
        err e;
        assert_string_equal(catalog_split(cases[i].id, &model, &e)->name, cases[i].name);
        assert_string_equal(model, cases[i].model);
    }
}

static void an_address_is_a_model_and_a_url(void **state)
{
    (void)state;
    catalog_address a;
    err e;
    assert_int_equal(catalog_locate("gpt-4o", &a, &e), 0);
    assert_string_equal(a.model, "gpt-4o");
    assert_string_equal(a.url, "");
    assert_int_equal(catalog_locate("a@b:c@https://h/v1/", &a, &e), 0);
    assert_string_equal(a.model, "a@b:c");
    assert_string_equal(a.url, "https://h/v1");
    char longer[CATALOG_MODEL_MAX + 8];
    memset(longer, 'm', sizeof(longer));
    longer[sizeof(longer) - 1] = '\0';
    assert_int_equal(catalog_locate(longer, &a, &e), -1);
}

static void the_longest_prefix_decides_what_a_model_takes(void **state)
{
    (void)state;
    static const struct {
        const char *provider, *model;
        catalog_sampling sampling;
        const char *cap;
        bool responses;
    } cases[] = {
        {"anthropic", "claude-opus-5-5", CATALOG_SAMPLING_NEVER, "max_tokens", false},
        {"anthropic", "claude-haiku-4-5-20251001", CATALOG_SAMPLING_YES, "max_tokens", false},
        {"openai", "gpt-4o-mini", CATALOG_SAMPLING_YES, "max_completion_tokens", false},
        {"openai", "gpt-6.1-sol", CATALOG_SAMPLING_NEVER, "max_output_tokens", true},
        {"openai", "gpt-6.1-terra", CATALOG_SAMPLING_WITHOUT_EFFORT, "max_output_tokens", true},
        {"openai", "o4-mini", CATALOG_SAMPLING_NEVER, "max_output_tokens", true},
        {"gemini", "gemini-4-neon", CATALOG_SAMPLING_IGNORED, "maxOutputTokens", false},
        {"compat", "anything", CATALOG_SAMPLING_YES, "max_tokens", false}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const catalog_family *f = catalog_family_of(cases[i].provider, cases[i].model);
        assert_non_null(f);
        assert_int_equal(f->sampling, cases[i].sampling);
        assert_string_equal(f->cap_field, cases[i].cap);
        assert_true(f->responses == cases[i].responses);
    }
    assert_null(catalog_family_of("gold", ""));
}

static void every_family_is_of_a_remote_provider(void **state)
{
    (void)state;
    size_t families = 0, entries = 0;
    const catalog_family *f = catalog_families(&families);
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
    }
    for (size_t i = 0; i < entries; i++) {
        assert_true((catalog_family_of(entry[i].name, "any") != NULL) == entry[i].remote);
        assert_true(entry[i].paid == entry[i].remote);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_unknown_provider_is_named_with_the_known_ones),
        cmocka_unit_test(the_form_of_an_id_is_checked),
        cmocka_unit_test(models_behind_http_cost_money_and_local_ones_do_not),
        cmocka_unit_test(splitting_gives_provider_and_model),
        cmocka_unit_test(an_address_is_a_model_and_a_url),
        cmocka_unit_test(the_longest_prefix_decides_what_a_model_takes),
        cmocka_unit_test(every_family_is_of_a_remote_provider)};
    return cmocka_run_group_tests_name("catalog", tests, NULL, NULL);
}
