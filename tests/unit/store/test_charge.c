/* test_charge - a paid call is registered, settled once, and never forgotten
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
#include "store/charge.h"
#include "store/task.h"
#include "tests/unit/store/fixture.h"

typedef struct step {
    int64_t token, number;
    double worst, usd;
    int64_t bills;
    charge_sum sum;
    charge_list list;
} step;

static int grant_fn(store_tx *tx, void *arg, err *e)
{
    return task_grant(tx, "task1", "node", ((step *)arg)->token, 2000, e);
}

static int lose_fn(store_tx *tx, void *arg, err *e)
{
    task_return_args args = {"task1", ((step *)arg)->token, TASK_LOST, NULL, 2500};
    return task_return(tx, &args, e);
}

static int recover_fn(store_tx *tx, void *arg, err *e)
{
    (void)arg;
    return task_recover(tx, "run1", false, 2600, e);
}

static int open_fn(store_tx *tx, void *arg, err *e)
{
    const step *s = arg;
    const charge_row row = {.stage = "codegen",
                            .number = s->number,
                            .token = s->token,
                            .provider = "openai",
                            .model = "m",
                            .worst_usd = s->worst};
    return charge_open(tx, "task1", &row, 2100, e);
}

static int answer_fn(store_tx *tx, void *arg, err *e)
{
    const step *s = arg;
    const charge_key key = {"task1", "codegen", s->number, s->token};
    return charge_answer(tx, &key, s->usd, s->bills, 2200, e);
}

static int fail_fn(store_tx *tx, void *arg, err *e)
{
    const step *s = arg;
    const charge_key key = {"task1", "codegen", s->number, s->token};
    return charge_fail(tx, &key, s->bills, 2200, e);
}

static int read_fn(store_tx *tx, void *arg, err *e)
{
    step *s = arg;
    return charge_sum_read(tx, "run1", &s->sum, e) < 0 ||
                   charge_list_read(tx, "task1", &s->list, e) < 0
               ? -1
               : 0;
}

static void what_counts_is_the_answer_and_what_may_have_been_billed(void **state)
{
    (void)state;
    const double unknown = (double)NAN;
    static const charge_sum none = {0};
    const struct {
        store_fn *settle;
        double worst, usd;
        int64_t bills;
        charge_sum sum;
        charge_state state;
    } rows[] = {
        {answer_fn, 1.0, 0.25, 0, {.usd = 0.25}, CHARGE_ANSWERED},
        {answer_fn, 1.0, 0.25, 1, {.usd = 1.25}, CHARGE_ANSWERED},
        {answer_fn, 1.0, unknown, 0, {.usd = 1.0}, CHARGE_ANSWERED},
        {answer_fn, unknown, unknown, 0, {.unpriced = 1}, CHARGE_ANSWERED},
        {answer_fn, unknown, 0.5, 0, {.usd = 0.5}, CHARGE_ANSWERED},
        {fail_fn, 1.0, 0, 0, none, CHARGE_FAILED},
        {fail_fn, 1.0, 0, 2, {.usd = 2.0}, CHARGE_FAILED},
        {lose_fn, 1.0, 0, 0, {.usd = 2.0, .unknown = 1}, CHARGE_UNKNOWN},
        {recover_fn, 1.0, 0, 0, {.usd = 2.0, .unknown = 1}, CHARGE_UNKNOWN},
        {lose_fn, unknown, 0, 0, {.unknown = 1, .unpriced = 1}, CHARGE_UNKNOWN},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        SCOPED(fixture_destroy) fixture *f = fixture_create();
        fixture_seed(f);
        step s = {.token = 1, .worst = rows[i].worst, .usd = rows[i].usd, .bills = rows[i].bills};
        fixture_do(f, grant_fn, &s);
        fixture_do(f, open_fn, &s);
        fixture_do(f, rows[i].settle, &s);
        fixture_do(f, answer_fn, &s); /* settled is settled */
        fixture_do(f, read_fn, &s);
        assert_true(fabs(s.sum.usd - rows[i].sum.usd) < 1e-12);
        assert_int_equal(s.sum.unknown, rows[i].sum.unknown);
        assert_int_equal(s.sum.unpriced, rows[i].sum.unpriced);
        assert_int_equal(s.list.count, 1);
        assert_int_equal(s.list.rows[0].state, rows[i].state);
        assert_string_equal(s.list.rows[0].provider, "openai");
        charge_list_fini(&s.list);
    }
}

static void an_older_lease_registers_nothing(void **state)
{
    (void)state;
    SCOPED(fixture_destroy) fixture *f = fixture_create();
    fixture_seed(f);
    step s = {.token = 1, .worst = 1.0};
    fixture_do(f, grant_fn, &s);
    fixture_do(f, lose_fn, &s);
    assert_non_null(strstr(fixture_fails(f, open_fn, &s, ERR_CONFLICT), "paid call refused"));
    assert_int_equal(fixture_count(f, "charge"), 0);
}

static void the_next_lease_has_a_charge_of_its_own(void **state)
{
    (void)state;
    SCOPED(fixture_destroy) fixture *f = fixture_create();
    fixture_seed(f);
    step s = {.token = 1, .worst = 1.0, .usd = 0.5};
    fixture_do(f, grant_fn, &s);
    fixture_do(f, open_fn, &s);
    fixture_do(f, lose_fn, &s);
    s.token = 2;
    fixture_do(f, grant_fn, &s);
    fixture_do(f, open_fn, &s);
    fixture_do(f, answer_fn, &s);
    fixture_do(f, read_fn, &s);
    assert_true(fabs(s.sum.usd - 2.5) < 1e-12);
    assert_int_equal(s.list.count, 2);
    charge_list_fini(&s.list);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_counts_is_the_answer_and_what_may_have_been_billed),
        cmocka_unit_test(an_older_lease_registers_nothing),
        cmocka_unit_test(the_next_lease_has_a_charge_of_its_own),
    };
    return cmocka_run_group_tests_name("charge", tests, NULL, NULL);
}
