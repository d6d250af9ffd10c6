/* test_night - a series without a database: looked at, overdue, nothing to accept
 *
 * Whole nights need processes: tests/service/nightly.py.
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
#include "coordinator/cmd.h"
#include "coordinator/night.h"

static void nothing_was_ever_good(void **state)
{
    (void)state;
    char folder[] = "/tmp/ce-night-XXXXXX", name[] = "trial";
    assert_non_null(mkdtemp(folder));
    SCOPED(scoped_free) char *db = file_join(folder, "ce.db");
    night_config config = {.name = name, .out = folder, .path = name, .overdue_hours = 26};
    const night_request request = {.config = &config, .db = db};
    err e = {0};
    assert_int_equal(night_list_print(&request, &e), CMD_EXIT_COMPLETE);
    assert_int_equal(night_overdue(&request, &e), CMD_EXIT_NO);
    assert_false(file_exists(db)); /* looking makes nothing */
    assert_int_equal(night_take(&request, "soon", &e), -1);
    assert_int_equal(e.code, ERR_USAGE);
    assert_int_equal(night_take(&request, "latest", &e), -1);
    assert_int_equal(e.code, ERR_NOT_FOUND);
    file_remove_tree(folder, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(nothing_was_ever_good)};
    return cmocka_run_group_tests_name("night", tests, NULL, NULL);
}
