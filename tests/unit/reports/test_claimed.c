/* test_claimed - claims in a section of their own: sums, places within a format, no markup of strangers
 *
 * SPDX-License-Identifier: MIT */
/* cmocka wants these first. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/scoped.h"
#include "common/xalloc.h"
#include "reports/claimed.h"
#include "reports/claims.h"
#include "tests/unit/reports/filled.h"

enum { MAX = 1024 * 1024, PROBLEMS = 24 };

static claim_row claim(const char *format, const char *entrant, const char *problem, double speedup)
{
    return (claim_row){.file = "f",
                       .content = hash_of_text(format),
                       .format = format,
                       .entrant = entrant,
                       .problem = problem,
                       .correct = speedup > 0,
                       .speedup = speedup > 0 ? speedup : (double)NAN,
                       .reason = speedup > 0 ? NULL : "x"};
}

static void sums_are_those_of_the_rows(void **state)
{
    (void)state;
    SCOPED(claims_destroy) claims *found = claims_create();
    SCOPED(buf_fini) buf out = {0};
    SCOPED(buf_fini) buf page = {0};
    buf_init(&out, MAX);
    buf_init(&page, MAX);
    err e = {0};
    if (claims_load(found, CE_SOURCE_DIR "/tests/data/claims/results.csv", NULL, &e) < 0)
        fail_msg("%s", e.text);
    claimed_markdown(found->rows, found->count, &out);
    golden("claimed.md", buf_text(&out));
    claimed_html(found->rows, found->count, &page);
    assert_non_null(strstr(buf_text(&page), "<th scope=\"row\">anthropic:model-a</th>"));
    SCOPED(json_destroy) json *list = claimed_json(found->rows, found->count);
    assert_int_equal(json_size(list), 3);
    SCOPED(json_destroy) json *none = claimed_json(NULL, 0);
    assert_int_equal(json_size(none), 0);
}

/* One entrant beats the other everywhere; a third is of another format. */
static void places_are_within_a_format(void **state)
{
    (void)state;
    claim_row rows[3 * PROBLEMS];
    char names[PROBLEMS][16];
    for (size_t p = 0; p < PROBLEMS; p++) {
        snprintf(names[p], sizeof names[p], "p%zu", p);
        rows[3 * p] = claim("one", "slow", names[p], 0.5);
        rows[3 * p + 1] = claim("one", "fast", names[p], 1.5);
        rows[3 * p + 2] = claim("two", "else", names[p], 0.1);
    }
    SCOPED(json_destroy) json *list = claimed_json(rows, 3 * PROBLEMS);
    static const struct {
        const char *entrant;
        int64_t place;
    } want[] = {{"fast", 1}, {"slow", 2}, {"else", 1}};
    for (size_t i = 0; i < 3; i++) {
        const json *row = json_at(list, i);
        assert_string_equal(json_str(json_get(row, "entrant"), ""), want[i].entrant);
        assert_int_equal(json_int(json_get(row, "place"), -1), want[i].place);
        assert_int_equal(json_int(json_get(row, "common_problems"), -1), PROBLEMS);
    }
}

static void without_a_common_problem_there_is_no_place(void **state)
{
    (void)state;
    const claim_row rows[] = {claim("one", "a", "p", 2), claim("one", "b", "q", 1)};
    SCOPED(json_destroy) json *list = claimed_json(rows, 2);
    assert_int_equal(json_int(json_get(json_at(list, 0), "place"), -1), 0);
}

static void the_order_of_rows_changes_nothing(void **state)
{
    (void)state;
    const claim_row rows[] = {claim("one", "a", "p", 2), claim("one", "b", "p", 0),
                              claim("one", "a", "q", 0.5), claim("one", "b", "q", 1)};
    const claim_row turned[] = {rows[3], rows[1], rows[0], rows[2]};
    SCOPED(buf_fini) buf one = {0};
    SCOPED(buf_fini) buf two = {0};
    buf_init(&one, MAX);
    buf_init(&two, MAX);
    claimed_markdown(rows, 4, &one);
    claimed_markdown(turned, 4, &two);
    assert_string_equal(buf_text(&one), buf_text(&two));
    claimed_markdown(NULL, 0, &one);
    assert_string_equal(buf_text(&one), buf_text(&two));
}

static void strangers_write_no_markup(void **state)
{
    (void)state;
    const claim_row rows[] = {claim("one", "<script>|[a](b)\n# x", "p", 2)};
    SCOPED(buf_fini) buf text = {0};
    SCOPED(buf_fini) buf page = {0};
    buf_init(&text, MAX);
    buf_init(&page, MAX);
    claimed_markdown(rows, 1, &text);
    claimed_html(rows, 1, &page);
    assert_non_null(strstr(buf_text(&text), "\\<script\\>\\|\\[a\\](b) # x"));
    assert_null(strstr(buf_text(&page), "<script"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_are_those_of_the_rows),
        cmocka_unit_test(places_are_within_a_format),
        cmocka_unit_test(without_a_common_problem_there_is_no_place),
        cmocka_unit_test(the_order_of_rows_changes_nothing),
        cmocka_unit_test(strangers_write_no_markup),
    };
    return cmocka_run_group_tests_name("claimed", tests, NULL, NULL);
}
