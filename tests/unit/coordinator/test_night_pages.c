/* test_night_pages - what programs read of a night
 *
 * SPDX-License-Identifier: MIT */
/* cmocka wants these first. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "common/file.h"
#include "common/scoped.h"
#include "coordinator/night_pages.h"

static const night_row worse = {.id = 4,
                                .series = "a100",
                                .folder = "/nights/x",
                                .began_ms = 1000,
                                .ended_ms = 2000,
                                .run = "r4",
                                .verdict = NIGHT_WORSE,
                                .reason = "slower"};

static void a_document_says_all_of_it(void **state)
{
    (void)state;
    const night_story story = {
        .out = "/nights", .row = &worse, .exit_code = 3, .against = "r3", .looked_back = 2};
    SCOPED(json_destroy) json *d = night_pages_json(&story);
    assert_string_equal(json_str(json_get(d, "verdict"), ""), "worse");
    assert_string_equal(json_str(json_get(d, "ended"), ""), "1970-01-01T00:00:02Z");
    assert_int_equal(json_int(json_get(d, "exit"), 0), 3);
    assert_int_equal(json_typeof(json_get(d, "last_good")), JSON_TYPE_NULL);
    SCOPED(buf_fini) buf prom = {0};
    buf_init(&prom, 4096);
    night_pages_prom(&story, &prom);
    assert_non_null(strstr(buf_text(&prom), "\nce_nightly_last_success_timestamp_seconds{series="
                                            "\"a100\"} 0.000\n"));
    assert_non_null(strstr(buf_text(&prom), "verdict=\"worse\"} 2.000\n"));
}

static bool has(const char *folder, const char *name)
{
    SCOPED(scoped_free) char *path = file_join(folder, name);
    return file_exists(path);
}

static void only_a_good_night_is_a_success(void **state)
{
    (void)state;
    char folder[] = "/tmp/ce-pages-XXXXXX";
    assert_non_null(mkdtemp(folder));
    night_row row = worse;
    row.folder = folder;
    const night_story story = {.out = folder, .row = &row};
    assert_int_equal(night_pages_write(&story, NULL), 0);
    assert_true(has(folder, "night.json") && has(folder, "ce-nightly.prom"));
    assert_false(has(folder, "last-success.json"));
    row.verdict = NIGHT_GOOD;
    assert_int_equal(night_pages_write(&story, NULL), 0);
    assert_true(has(folder, "last-success.json"));
    file_remove_tree(folder, NULL);
}

static void nights_are_a_table(void **state)
{
    (void)state;
    night_row rows[] = {worse, {.id = 3, .began_ms = 1, .verdict = NIGHT_GOOD, .accepted = true}};
    const night_list list = {rows, 2};
    SCOPED(buf_fini) buf out = {0};
    buf_init(&out, 4096);
    night_pages_table(&list, &out);
    assert_non_null(strstr(buf_text(&out), "worse"));
    assert_non_null(strstr(buf_text(&out), "accepted; -\n"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_document_says_all_of_it),
        cmocka_unit_test(only_a_good_night_is_a_success),
        cmocka_unit_test(nights_are_a_table),
    };
    return cmocka_run_group_tests_name("night_pages", tests, NULL, NULL);
}
