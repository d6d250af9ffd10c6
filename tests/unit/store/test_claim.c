/* test_claim - what other programs say: kept as said, once, and apart from runs
 *
 * SPDX-License-Identifier: MIT */
/* cmocka wants these first. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "common/scoped.h"
#include "store/claim.h"
#include "tests/unit/store/fixture.h"

static claim_row claim(const char *entrant, const char *problem, double speedup)
{
    bool known = !isnan(speedup);
    return (claim_row){.file = "results.csv",
                       .content = hash_of_text("the file"),
                       .format = "cuda-engine",
                       .imported_ms = 1000,
                       .entrant = entrant,
                       .problem = problem,
                       .correct = known,
                       .detail = known ? NULL : "stage_failure",
                       .speedup = speedup,
                       .reason = known ? NULL : "it did not pass there",
                       .candidate_ms = (double)NAN,
                       .baseline_ms = (double)NAN};
}

static int insert_fn(store_tx *tx, void *arg, err *e)
{
    return claim_insert(tx, arg, e);
}

static int list_fn(store_tx *tx, void *arg, err *e)
{
    return claim_list_read(tx, arg, e);
}

static int count_fn(store_tx *tx, void *arg, err *e)
{
    const hash content = hash_of_text("the file");
    return claim_count(tx, &content, arg, e);
}

static void claims_come_back_in_order(void **state)
{
    (void)state;
    SCOPED(fixture_destroy) fixture *f = fixture_create();
    claim_row rows[] = {claim("b", "sum", 1.5), claim("a", "sum", (double)NAN),
                        claim("a", "add", 2)};
    for (size_t i = 0; i < 3; i++)
        fixture_do(f, insert_fn, &rows[i]);
    SCOPED(claim_list_fini) claim_list list = {0};
    fixture_do(f, list_fn, &list);
    assert_int_equal(list.count, 3);
    assert_string_equal(list.rows[0].problem, "add");
    assert_true(list.rows[0].correct && list.rows[0].speedup == 2);
    assert_null(list.rows[0].reason);
    assert_true(isnan(list.rows[1].speedup) && !list.rows[1].correct);
    assert_string_equal(list.rows[1].detail, "stage_failure");
    assert_string_equal(list.rows[2].entrant, "b");
    int64_t count;
    fixture_do(f, count_fn, &count);
    assert_int_equal(count, 3);
}

static void a_claim_is_kept_once_and_never_without_a_reason(void **state)
{
    (void)state;
    SCOPED(fixture_destroy) fixture *f = fixture_create();
    claim_row row = claim("a", "add", 2);
    fixture_do(f, insert_fn, &row);
    assert_non_null(strstr(fixture_fails(f, insert_fn, &row, ERR_CONFLICT), "a at add, sample 0"));
    row.sample = 1;
    row.speedup = (double)NAN; /* and no reason */
    fixture_fails(f, insert_fn, &row, ERR_PROTOCOL);
    row.speedup = 2;
    row.correct = false;
    fixture_fails(f, insert_fn, &row, ERR_PROTOCOL);
    assert_int_equal(fixture_count(f, "claim"), 1);
    assert_int_equal(fixture_count(f, "ranked"), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(claims_come_back_in_order),
        cmocka_unit_test(a_claim_is_kept_once_and_never_without_a_reason),
    };
    return cmocka_run_group_tests_name("claim", tests, NULL, NULL);
}
