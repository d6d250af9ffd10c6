/* test_night_config - defaults, paths beside the file, and complaints with their place
 *
 * SPDX-License-Identifier: MIT */
/* cmocka wants these first. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/file.h"
#include "common/scoped.h"
#include "common/xalloc.h"
#include "coordinator/night_config.h"

#define HEAD "name: a100\nout: nights\nsuites: [internal]\n"

static night_config *load(const char *text, err *e)
{
    char folder[] = "/tmp/ce-night-XXXXXX";
    assert_non_null(mkdtemp(folder));
    SCOPED(scoped_free) char *path = file_join(folder, "nightly.yaml");
    assert_int_equal(file_write(path, text, strlen(text), NULL), 0);
    night_config *out = night_config_load(path, e);
    file_remove_tree(folder, NULL);
    return out;
}

static void three_keys_are_a_night(void **state)
{
    (void)state;
    err e = {0};
    SCOPED(night_config_destroy) night_config *c = load(HEAD, &e);
    assert_non_null(c);
    assert_string_equal(c->name, "a100");
    assert_int_equal(c->out[0], '/');
    assert_non_null(strstr(c->out, "/nights"));
    assert_int_equal(c->run.entrant_count, 1);
    assert_string_equal(c->run.entrants[0].name, NIGHT_GOLD);
    assert_string_equal(c->run.device, "auto");
    assert_int_equal(c->run.selftest, 1);
    assert_int_equal(c->window, 7);
    assert_int_equal(c->overdue_hours, 26);
    assert_true(c->pack && c->confirm);
    assert_null(c->hook);
}

static void what_is_said_is_taken(void **state)
{
    (void)state;
    err e = {0};
    SCOPED(night_config_destroy)
    night_config *c = load(HEAD "models: [compat:m@http://127.0.0.1:9/v1, gold]\nbudget_usd: "
                                "1\nselftest: false\nnotify: [./tell, x]\n"
                                "keep: {nights: 3, packs: 0, db_mib: 5}\nsamples: 2\n"
                                "gate: {window: 2, confirm: false}\nevidence: {pack: false}\n",
                           &e);
    assert_non_null(c);
    assert_int_equal(c->run.entrant_count, 2); /* gold only once */
    assert_int_equal(c->run.samples, 2);
    assert_int_equal(c->run.selftest, 0);
    assert_int_equal(c->hook[0][0], '/');
    assert_string_equal(c->hook[1], "x");
    assert_null(c->hook[2]);
    assert_int_equal(c->keep_nights, 3);
    assert_int_equal(c->keep_packs, 0);
    assert_false(c->pack || c->confirm);
}

static void what_is_wrong_has_a_place(void **state)
{
    (void)state;
    static const struct {
        const char *text, *words;
    } rows[] = {
        {HEAD "colour: red\n", "nightly.yaml:4"},
        {HEAD "samples: none\n", "nightly.yaml:4: /samples"},
        {HEAD "keep: {years: 1}\n", "years"},
        {HEAD "python: /no/python\n", "there is no /no/python"},
        {HEAD "models: [openai:gpt-6.2-sol]\n", "costs money"},
        {HEAD "notify: []\n", "/notify"},
        {"name: A B\nout: n\nsuites: [s]\n", "nightly.yaml:1: /name"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        err e = {0};
        assert_null(load(rows[i].text, &e));
        assert_int_equal(e.code, ERR_CONFIG);
        assert_non_null(strstr(e.text, rows[i].words));
    }
    err e = {0};
    assert_null(night_config_load("/no/such.yaml", &e));
    assert_int_equal(e.code, ERR_NOT_FOUND);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(three_keys_are_a_night),
        cmocka_unit_test(what_is_said_is_taken),
        cmocka_unit_test(what_is_wrong_has_a_place),
    };
    return cmocka_run_group_tests_name("night_config", tests, NULL, NULL);
}
