/* test_baseline - the newest baseline of a key stands
 *
 * SPDX-License-Identifier: MIT */
/* cmocka wants these first. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "common/scoped.h"
#include "store/baseline.h"
#include "tests/unit/store/fixture.h"

static int put_baseline_fn(store_tx *tx, void *arg, err *e)
{
    return baseline_put(tx, arg, e);
}

static int get_baseline_fn(store_tx *tx, void *arg, err *e)
{
    baseline_row *row = arg;
    return baseline_get(tx, row->key, row, e);
}

static void the_newest_baseline_of_a_key_stands(void **state)
{
    (void)state;
    SCOPED(fixture_destroy) fixture *f = fixture_create();
    char key[HASH_HEX];
    hash name = hash_of_text("key");
    hash_hex(&name, key);
    baseline_row wanted = {.key = key};
    fixture_fails(f, get_baseline_fn, &wanted, ERR_NOT_FOUND);
    baseline_row row = {key, "{\"winner\":\"eager\"}", fixture_text(f, "cache"), 100};
    fixture_do(f, put_baseline_fn, &row);
    row = (baseline_row){key, "{\"winner\":\"default\"}", {{0}}, 200};
    fixture_do(f, put_baseline_fn, &row);
    wanted = (baseline_row){.key = key};
    fixture_do(f, get_baseline_fn, &wanted);
    assert_string_equal(wanted.record, "{\"winner\":\"default\"}");
    assert_true(hash_is_zero(&wanted.cache));
    baseline_row_fini(&wanted);
    row.key = "short";
    fixture_fails(f, put_baseline_fn, &row, ERR_PROTOCOL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_newest_baseline_of_a_key_stands),
    };
    return cmocka_run_group_tests_name("baseline", tests, NULL, NULL);
}
