/* test_inspect - everything stored of a run or a task
 *
 * SPDX-License-Identifier: MIT */
/* cmocka wants these first. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdbool.h>

#include "common/scoped.h"
#include "reports/inspect.h"
#include "tests/unit/reports/filled.h"

enum { MAX = 1024 * 1024 };

static fixture *filled(void)
{
    fixture *f = fixture_create();
    filled_cuda(f);
    filled_fake(f);
    filled_partial(f);
    return f;
}

static void both_forms_are_as_expected(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        bool as_json;
        const char *file;
    } rows[] = {
        {"run-part", false, "inspect-run.txt"},
        {"run-part", true, "inspect-run.json"},
        {"latest", true, "inspect-run.json"},
        {"run-cuda-add-mock-0", false, "inspect-task.txt"},
        {"run-cuda-scan-m", false, "inspect-measured.txt"},
        {"run-cuda-add-mock-0", true, "inspect-task.json"},
        {"run-fake-add", false, "inspect-fake.txt"},
    };
    SCOPED(fixture_destroy) fixture *f = filled();
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        SCOPED(buf_fini) buf out = {0};
        buf_init(&out, MAX);
        err e = {0};
        if (inspect_write(f->db, rows[i].name, rows[i].as_json, &out, &e) < 0)
            fail_msg("%s: %s", rows[i].file, e.text);
        golden(rows[i].file, buf_text(&out));
    }
}

static void stored_texts_are_shown_alone(void **state)
{
    (void)state;
    SCOPED(fixture_destroy) fixture *f = filled();
    static const char kernel[] = "extern \"C\" __global__ void k() {}\n";
    static const struct {
        const char *task;
        inspect_part part;
        const char *want; /* NULL: there is none */
    } rows[] = {
        {"run-cuda-add-mock-0", INSPECT_SOURCE, kernel},
        {"run-cuda-add-mock-0", INSPECT_PLAN, kernel},
        {"run-cuda-add-mock-0", INSPECT_LOG, kernel},
        {"run-cuda-add-mock-0", INSPECT_REPORT, NULL},
        {"run-cuda-scan-mock-0", INSPECT_ANSWERS,
         "==== interview 0: mock:demo, ok\nan answer\n==== codegen 0: mock:demo, ok\nan answer\n"},
        {"run-cuda-add-gold-0", INSPECT_ANSWERS, NULL},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        SCOPED(buf_fini) buf out = {0};
        buf_init(&out, MAX);
        err e = {0};
        int rc = inspect_show(f->db, rows[i].task, rows[i].part, &out, &e);
        assert_int_equal(rc, rows[i].want != NULL ? 0 : -1);
        if (rows[i].want != NULL)
            assert_string_equal(buf_text(&out), rows[i].want);
        else
            assert_int_equal(e.code, ERR_NOT_FOUND);
    }
}

static void ambiguous_and_unknown_names_are_told_apart(void **state)
{
    (void)state;
    SCOPED(fixture_destroy) fixture *f = filled();
    SCOPED(buf_fini) buf out = {0};
    buf_init(&out, MAX);
    err e = {0};
    assert_int_equal(inspect_write(f->db, "run", false, &out, &e), -1);
    assert_int_equal(e.code, ERR_CONFLICT);
    assert_int_equal(inspect_write(f->db, "run-cuda-add", false, &out, &e), -1);
    assert_int_equal(e.code, ERR_CONFLICT);
    assert_int_equal(inspect_write(f->db, "zzz", false, &out, &e), -1);
    assert_string_equal(e.text, "there is no run and no task zzz");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_forms_are_as_expected),
        cmocka_unit_test(stored_texts_are_shown_alone),
        cmocka_unit_test(ambiguous_and_unknown_names_are_told_apart),
    };
    return cmocka_run_group_tests_name("inspect", tests, NULL, NULL);
}
