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
    assert_non_null(strstr(e.text, "gold, mock:FILE, replay:RUN"));
}

static void the_form_of_an_id_is_checked(void **state)
{
    (void)state;
    static const struct {
        const char *id;
        int rc;
    } cases[] = {{"gold", 0},    {"gold:x", -1},  {"replay:01abc", 0},
                 {"replay", -1}, {"replay:", -1}, {"mock", -1},
                 {"golden", -1}, {"", -1},        {"mock:/nonexistent.json", -1}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        err e = {0};
        assert_int_equal(provider_check(cases[i].id, &e), cases[i].rc);
        assert_true((e.text[0] != '\0') == (cases[i].rc != 0));
    }
}

static void local_providers_cost_nothing(void **state)
{
    (void)state;
    assert_false(provider_is_paid("gold"));
    assert_false(provider_is_paid("mock:a"));
    assert_false(provider_is_paid("replay:a"));
    assert_false(provider_is_paid("nobody:a"));
}

static void splitting_gives_what_follows_the_first_colon(void **state)
{
    (void)state;
    const char *model = NULL;
    err e;
    assert_string_equal(catalog_split("mock:a:b.json", &model, &e)->name, "mock");
    assert_string_equal(model, "a:b.json");
    assert_string_equal(catalog_split("gold", &model, &e)->name, "gold");
    assert_string_equal(model, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_unknown_provider_is_named_with_the_known_ones),
        cmocka_unit_test(the_form_of_an_id_is_checked),
        cmocka_unit_test(local_providers_cost_nothing),
        cmocka_unit_test(splitting_gives_what_follows_the_first_colon)};
    return cmocka_run_group_tests_name("catalog", tests, NULL, NULL);
}
