/* SPDX-License-Identifier: MIT */
#include "tests/unit/providers/fixture.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "providers/catalog.h"

static void an_unknown_provider_is_named_with_the_known_ones(void **state)
{
    (void)state;
    err e = {0};
    assert_int_equal(provider_check("gpt:x", NULL, &e), -1);
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
        if (provider_check(cases[i].id, NULL, &e) != cases[i].rc) {
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

static void a_name_of_a_server_stands_for_its_address(void **state)
{
    (void)state;
    static const catalog_endpoint own[] = {{"lab", "http://gpu7:8000/v1", "LAB"},
                                           {"ollama", "http://gpu8:11434/v1", NULL}};
    static const struct {
        const char *id, *url; /* NULL: no endpoint */
    } cases[] = {{"groq:llama-3", "https://api.groq.com/openai/v1"},
                 {"openrouter:a/b", "https://openrouter.ai/api/v1"},
                 {"llama.cpp:x", "http://127.0.0.1:8080/v1"},
                 {"lab:m", "http://gpu7:8000/v1"},
                 {"ollama:m", "http://gpu8:11434/v1"},
                 {"lab", NULL},
                 {"openai:gpt-4o", NULL},
                 {"labs:m", NULL},
                 {"", NULL}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const catalog_endpoint *found = catalog_endpoint_of(cases[i].id, own, 2);
        assert_true((found != NULL) == (cases[i].url != NULL));
        if (found != NULL) {
            assert_string_equal(found->url, cases[i].url);
        }
    }
    size_t count = 0;
    const catalog_endpoint *known = catalog_endpoints(&count);
    for (size_t i = 0; i < count; i++) {
        char id[128];
        err e = {0};
        snprintf(id, sizeof(id), "compat:m@%s", known[i].url);
        assert_int_equal(provider_check(id, NULL, &e), 0);
    }
}

static void a_key_has_a_name_that_cannot_be_another_secrets(void **state)
{
    (void)state;
    static const char *const wrong[] = {
        "", "lab", "LAB KEY", "A=B", "LAB_API_KEY\n", "ABCDEFGHIJKLMNOPQRSTUVWXYZABCDEFG"};
    char variable[CATALOG_KEY_MAX];
    err e;
    assert_int_equal(catalog_key_variable("LAB_2", variable, &e), 0);
    assert_string_equal(variable, "CE_LAB_2_API_KEY");
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        assert_int_equal(catalog_key_variable(wrong[i], variable, &e), -1);
        assert_int_equal(e.code, ERR_USAGE);
    }
}

static void a_demand_is_checked_with_the_id(void **state)
{
    (void)state;
    static const struct {
        const char *id;
        ability_demand demand;
        int rc;
    } cases[] = {
        {"gold", {.temperature = (double)NAN, .top_p = (double)NAN}, 0},
        {"gold", {.effort = "high", .temperature = (double)NAN, .top_p = (double)NAN}, -1},
        {"replay:x", {.temperature = 0.5, .top_p = (double)NAN}, -1},
        {"openai:gpt-6.2-sol",
         {.effort = "max", .temperature = (double)NAN, .top_p = (double)NAN},
         0},
        {"openai:gpt-4o", {.effort = "max", .temperature = (double)NAN, .top_p = (double)NAN}, -1},
        {"openai:gpt-4o", {.key = "LAB", .temperature = (double)NAN, .top_p = (double)NAN}, -1},
        {"compat:m@http://h/v1",
         {.key = "LAB", .temperature = (double)NAN, .top_p = (double)NAN},
         0},
        {"compat:m@http://h/v1",
         {.key = "lab", .temperature = (double)NAN, .top_p = (double)NAN},
         -1},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        err e = {0};
        assert_int_equal(provider_check(cases[i].id, &cases[i].demand, &e), cases[i].rc);
        assert_int_equal(e.code, cases[i].rc != 0 ? ERR_USAGE : ERR_NONE);
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
        cmocka_unit_test(a_name_of_a_server_stands_for_its_address),
        cmocka_unit_test(a_key_has_a_name_that_cannot_be_another_secrets),
        cmocka_unit_test(a_demand_is_checked_with_the_id)};
    return cmocka_run_group_tests_name("catalog", tests, NULL, NULL);
}
