/* SPDX-License-Identifier: MIT */
#include "tests/unit/providers/fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/scoped.h"
#include "providers/catalog.h"

static void every_catalog_entry_has_a_back_end(void **state)
{
    (void)state;
    size_t count = 0;
    const catalog_entry *entries = catalog_entries(&count);
    setenv("ANTHROPIC_API_KEY", "k", 1);
    setenv("OPENAI_API_KEY", "k", 1);
    setenv("GEMINI_API_KEY", "k", 1);
    for (size_t i = 0; i < count; i++) {
        err e = {0};
        char id[128];
        const char *rest = entries[i].remote ? "m@http://127.0.0.1:9/v1" : "/nonexistent";
        snprintf(id, sizeof(id), "%s:%s", entries[i].name, rest);
        SCOPED(provider_destroy) provider *p = provider_create(id, NULL, &e);
        if (p == NULL) {
            assert_non_null(strstr(e.text, "/nonexistent")); /* it opened its file, or tried to */
        } else {
            assert_string_equal(provider_name(p), entries[i].name);
            assert_string_equal(provider_model(p), rest);
        }
    }
}

static void a_bare_id_is_a_model_of_anthropic(void **state)
{
    (void)state;
    err e = {0};
    setenv("ANTHROPIC_API_KEY", "k", 1);
    SCOPED(provider_destroy) provider *p = provider_create("claude-opus-5-5", NULL, &e);
    assert_non_null(p);
    assert_string_equal(provider_name(p), "anthropic");
    assert_string_equal(provider_model(p), "claude-opus-5-5");
}

static void an_unknown_id_opens_nothing(void **state)
{
    (void)state;
    err e = {0};
    assert_null(provider_create("nobody:x", NULL, &e));
    assert_int_equal(e.code, ERR_USAGE);
}

static void stops_survive_their_names(void **state)
{
    (void)state;
    for (int i = 0; i < PROVIDER_STOP_COUNT; i++) {
        provider_stop back;
        assert_true(provider_stop_parse(provider_stop_name((provider_stop)i), &back));
        assert_int_equal(back, i);
    }
    provider_stop untouched = PROVIDER_STOP_FILTER;
    assert_false(provider_stop_parse("done", &untouched));
    assert_int_equal(untouched, PROVIDER_STOP_FILTER);
}

static void destroying_nothing_is_fine(void **state)
{
    (void)state;
    provider *p = NULL;
    provider_destroy(&p);
    assert_null(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_catalog_entry_has_a_back_end),
                                       cmocka_unit_test(a_bare_id_is_a_model_of_anthropic),
                                       cmocka_unit_test(an_unknown_id_opens_nothing),
                                       cmocka_unit_test(stops_survive_their_names),
                                       cmocka_unit_test(destroying_nothing_is_fine)};
    return cmocka_run_group_tests_name("provider", tests, NULL, NULL);
}
