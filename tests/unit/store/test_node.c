/* test_node - machines: one row each, an event a change
 *
 * SPDX-License-Identifier: MIT */
/* cmocka wants these first. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "common/scoped.h"
#include "store/node.h"
#include "tests/unit/store/fixture.h"

static int put_node_fn(store_tx *tx, void *arg, err *e)
{
    return node_put(tx, arg, e);
}

static int lose_fn(store_tx *tx, void *arg, err *e)
{
    return node_set_state(tx, arg, NODE_LOST, 500, e);
}

static int list_fn(store_tx *tx, void *arg, err *e)
{
    return node_list_read(tx, arg, e);
}

static void a_node_is_one_row_and_each_change_an_event(void **state)
{
    (void)state;
    SCOPED(fixture_destroy) fixture *f = fixture_create();
    node_row row = {"b", "i1", "[]", "{}", 100, 100, NODE_UP};
    fixture_do(f, put_node_fn, &row);
    fixture_do(f, lose_fn, (char[]){"b"});
    row.instance = "i2";
    fixture_do(f, put_node_fn, &row);
    row.name = "a";
    fixture_do(f, put_node_fn, &row);
    fixture_fails(f, lose_fn, (char[]){"nobody"}, ERR_NOT_FOUND);
    node_list nodes;
    fixture_do(f, list_fn, &nodes);
    assert_int_equal(nodes.count, 2);
    assert_string_equal(nodes.rows[0].name, "a");
    assert_string_equal(nodes.rows[1].instance, "i2");
    assert_int_equal(nodes.rows[1].state, NODE_UP);
    node_list_fini(&nodes);
    assert_int_equal(fixture_count(f, "event WHERE kind = 'node_up'"), 3);
    assert_int_equal(fixture_count(f, "event WHERE kind = 'node_lost'"), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_node_is_one_row_and_each_change_an_event),
    };
    return cmocka_run_group_tests_name("node", tests, NULL, NULL);
}
