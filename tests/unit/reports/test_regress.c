/* test_regress - a run on an H200 against the one before it, and against what was made worse
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
#include "reports/regress.h"
#include "tests/unit/reports/filled.h"
#include "tests/unit/reports/published.h"

enum { TEXT_MAX = 1024 * 1024 };

static board *read_run(fixture *f, const char *run)
{
    err e = {0};
    const board_ask ask = {.runs = &run, .run_count = 1};
    board *b = board_read(f->db, &ask, &e);
    if (b == NULL)
        fail_msg("%s", e.text);
    return b;
}

/* The words of a gate; *failed: its verdict. */
static void gate_of(fixture *f, bool *failed, buf *out)
{
    SCOPED(board_destroy) board *before = read_run(f, "01m8pta5");
    SCOPED(board_destroy) board *now = read_run(f, PUBLISHED_RUN);
    const regress_ask ask = {.now = now, .before = before, .rules = &gate_defaults};
    err e = {0};
    SCOPED(regress_destroy) regress *r = regress_create(&ask, &e);
    if (r == NULL)
        fail_msg("%s", e.text);
    buf_init(out, TEXT_MAX);
    regress_verdict(r, out);
    regress_text(r, 100, out);
    *failed = regress_failed(r);
}

static void the_same_again_is_no_regression(void **state)
{
    (void)state;
    SCOPED(fixture_destroy) fixture *f = published_create();
    SCOPED(buf_fini) buf out = {0};
    bool failed;
    gate_of(f, &failed, &out);
    assert_false(failed);
    golden("regress-none.md", buf_text(&out));
}

#define MINE "run LIKE '" PUBLISHED_RUN "%' AND kind = 'synthesize'"

static void a_slow_kernel_and_lost_problems_are_told(void **state)
{
    (void)state;
    SCOPED(fixture_destroy) fixture *f = published_create();
    SCOPED(buf_fini) buf out = {0};
    bool failed;
    fixture_exec(f, "UPDATE task SET candidate_ms = candidate_ms * 1.3 WHERE " MINE
                    " AND problem = 'argmax_fp32'");
    gate_of(f, &failed, &out);
    assert_true(failed);
    golden("regress-slower.md", buf_text(&out));
    fixture_exec(f, "UPDATE task SET outcome = 'wrong', speedup = NULL, reason = 'wrong', stage = "
                    "'correctness' WHERE " MINE);
    buf_fini(&out);
    gate_of(f, &failed, &out);
    assert_true(failed); /* 8 lost, none won: p = 0.0078 */
    golden("regress-lost.md", buf_text(&out));
}

static void a_sick_canary_is_told(void **state)
{
    (void)state;
    SCOPED(fixture_destroy) fixture *f = published_create();
    SCOPED(buf_fini) buf out = {0};
    bool failed;
    fixture_exec(f, "UPDATE task SET baseline_ms = baseline_ms * 1.05 WHERE " MINE);
    fixture_exec(f, "UPDATE task SET candidate_ms = candidate_ms * 1.3 WHERE " MINE
                    " AND problem = 'argmax_fp32'");
    gate_of(f, &failed, &out);
    assert_false(failed);
    assert_non_null(
        strstr(buf_text(&out), "**infrastructure**: the references' own times moved by +"));
}

static void a_slow_machine_is_no_regression(void **state)
{
    (void)state;
    SCOPED(fixture_destroy) fixture *f = published_create();
    SCOPED(buf_fini) buf out = {0};
    bool failed;
    fixture_exec(f, "UPDATE task SET candidate_ms = candidate_ms * 1.3 WHERE " MINE);
    gate_of(f, &failed, &out);
    assert_false(failed);
    assert_non_null(strstr(buf_text(&out), "**infrastructure**"));
}

static void what_cannot_be_compared_is_told(void **state)
{
    (void)state;
    SCOPED(fixture_destroy) fixture *f = fixture_create();
    filled_cuda(f);
    filled_fake(f);
    SCOPED(board_destroy) board *cuda = read_run(f, "run-cuda");
    SCOPED(board_destroy) board *fake = read_run(f, "run-fake");
    const regress_ask ask = {.now = cuda, .before = fake, .rules = &gate_defaults};
    err e = {0};
    assert_null(regress_create(&ask, &e));
    assert_int_equal(e.code, ERR_CONFIG);
    assert_non_null(strstr(e.text, "the kind of device is cuda and was fake"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same_again_is_no_regression),
        cmocka_unit_test(a_slow_kernel_and_lost_problems_are_told),
        cmocka_unit_test(a_sick_canary_is_told),
        cmocka_unit_test(a_slow_machine_is_no_regression),
        cmocka_unit_test(what_cannot_be_compared_is_told),
    };
    return cmocka_run_group_tests_name("regress", tests, NULL, NULL);
}
