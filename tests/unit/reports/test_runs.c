/* test_runs - the texts of runs and status
 *
 * SPDX-License-Identifier: MIT */
/* cmocka wants these first. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "common/scoped.h"
#include "reports/runs.h"
#include "store/node.h"
#include "tests/unit/reports/filled.h"

enum { MAX = 1024 * 1024 };

typedef int write_fn(store *db, const char *name, buf *out, err *e);

static int runs_as_text(store *db, const char *name, buf *out, err *e)
{
    (void)name;
    return runs_text(db, out, e);
}

static int runs_as_json(store *db, const char *name, buf *out, err *e)
{
    (void)name;
    return runs_json(db, out, e);
}

static int put_node(store_tx *tx, void *arg, err *e)
{
    (void)arg;
    node_row row = {"node-b", "i", "[]", "{}", 1764520950000, 1764520950000, NODE_UP};
    return node_put(tx, &row, e);
}

static fixture *filled(void)
{
    fixture *f = fixture_create();
    filled_cuda(f);
    filled_fake(f);
    filled_partial(f);
    fixture_do(f, put_node, NULL);
    return f;
}

static void every_view_is_as_expected(void **state)
{
    (void)state;
    static const struct {
        write_fn *write;
        const char *name, *file;
    } rows[] = {
        {runs_as_text, NULL, "runs.txt"},
        {runs_as_json, NULL, "runs.json"},
        {status_text, "run-part", "status.txt"},
        {status_text, NULL, "status.txt"}, /* latest by id: run-part */
        {status_json, "run-part", "status.json"},
    };
    SCOPED(fixture_destroy) fixture *f = filled();
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        SCOPED(buf_fini) buf out = {0};
        buf_init(&out, MAX);
        err e = {0};
        if (rows[i].write(f->db, rows[i].name, &out, &e) < 0)
            fail_msg("%s: %s", rows[i].file, e.text);
        golden(rows[i].file, buf_text(&out));
    }
}

static void an_empty_database_says_so(void **state)
{
    (void)state;
    SCOPED(fixture_destroy) fixture *f = fixture_create();
    SCOPED(buf_fini) buf out = {0};
    buf_init(&out, MAX);
    err e = {0};
    assert_int_equal(runs_text(f->db, &out, &e), 0);
    assert_string_equal(buf_text(&out), "no runs yet\n");
    assert_int_equal(status_text(f->db, NULL, &out, &e), -1);
    assert_string_equal(e.text, "there is no run yet");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_view_is_as_expected),
        cmocka_unit_test(an_empty_database_says_so),
    };
    return cmocka_run_group_tests_name("runs", tests, NULL, NULL);
}
