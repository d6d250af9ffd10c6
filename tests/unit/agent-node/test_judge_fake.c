/* test_judge_fake - the scripted judge
 *
 * SPDX-License-Identifier: MIT */
/* cmocka wants these first. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent-node/judge.h"
#include "common/file.h"
#include "common/scoped.h"
#include "tests/unit/judge/contracts.h"

static char script_path[] = "/tmp/ce-test-fake-XXXXXX";

static int make_file(void **state)
{
    (void)state;
    int fd = mkstemp(script_path);
    return fd < 0 ? -1 : close(fd);
}

static int remove_file(void **state)
{
    (void)state;
    return unlink(script_path);
}

static judge *start(const char *script, err *e)
{
    if (script != NULL)
        assert_int_equal(file_write(script_path, script, strlen(script), NULL), 0);
    return judge_start(
        &(judge_options){.device = "fake", .fake_script = script != NULL ? script_path : NULL}, e);
}

/* verdict: open, draw, compare. */
static judge_comparison verdict(judge *self, const contract *terms)
{
    judge_comparison out = {0};
    judge_staging staging = {0};
    judge_draw_request draw = {&terms->benchmark, 1, "normal", 2};
    assert_int_equal(judge_open(self, terms, "def reference(x): …", "r.py", NULL), 0);
    assert_int_equal(judge_draw(self, &draw, &staging, NULL), 0);
    assert_int_equal(judge_compare(self, 1, 7, &out, NULL), 0);
    judge_staging_fini(&staging);
    return out;
}

static void without_a_script_everything_agrees(void **state)
{
    (void)state;
    SCOPED(judge_destroy) judge *self = start(NULL, NULL);
    SCOPED(contract_destroy) contract *terms = contract_of("p", "f16");
    assert_string_equal(judge_get_facts(self)->device, "fake");
    assert_int_equal(judge_get_facts(self)->sm_count, 132);
    SCOPED(judge_comparison_fini) judge_comparison c = verdict(self, terms);
    assert_true(c.equal);
    judge_baseline_request request = {.shape = &terms->benchmark, .slots = 2, .samples = 20};
    SCOPED(judge_baseline_fini) judge_baseline b = {0};
    assert_int_equal(judge_baseline_run(self, &request, &b, NULL), 0);
    assert_int_equal(b.mode_count, 2);
    assert_string_equal(b.winner, "default");
    assert_true(b.modes[0].row.median_ms == 0.020 && b.modes[1].row.median_ms == 0.015);
    assert_string_equal(b.modes[1].row.shape, "rows=4096 cols=4096");
    assert_string_equal(b.modes[1].samples_text, "[0.015]");
}

static void the_layout_is_that_of_a_real_judge(void **state)
{
    (void)state;
    SCOPED(judge_destroy) judge *self = start(NULL, NULL);
    SCOPED(contract_destroy) contract *terms = contract_of("p", "f16");
    SCOPED(judge_staging_fini) judge_staging s = {0};
    judge_draw_request draw = {&terms->shapes[2], 1, "normal", 2}; /* 5×33 f16: 330 bytes */
    assert_int_equal(judge_open(self, terms, "", "r.py", NULL), 0);
    assert_int_equal(judge_draw(self, &draw, &s, NULL), 0);
    assert_int_equal(s.input_count, 2);
    assert_int_equal(s.output_count, 1);
    assert_int_equal(s.inputs[1].offset, 512);
    assert_int_equal(s.inputs[1].bytes, 330);
    assert_int_equal(s.outputs[0].offset, 1024);
    assert_int_equal(s.total_bytes, 1536);
    assert_false(s.has_handle);
}

static void a_problem_overrides_the_default_member_by_member(void **state)
{
    (void)state;
    const char *script =
        "{\"default\":{\"compare\":{\"equal\":false,\"detail\":\"class\",\"text\":\"NaN\"},"
        "\"baselines\":{\"eager\":[0.5,0.7,0.6]},\"load\":{\"outcome\":\"ok\"},\"delay_ms\":5},"
        "\"problems\":{\"good\":{\"compare\":{\"equal\":true}},\"other\":{\"candidate_ms\":[1]}}}";
    SCOPED(judge_destroy) judge *self = start(script, NULL);
    assert_non_null(self);
    static const struct {
        const char *problem;
        bool equal;
        const char *detail;
    } rows[] = {{"good", true, ""}, {"other", false, "class"}, {"unnamed", false, "class"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        SCOPED(contract_destroy) contract *terms = contract_of(rows[i].problem, "f32");
        SCOPED(judge_comparison_fini) judge_comparison c = verdict(self, terms);
        assert_int_equal(c.equal, rows[i].equal);
        assert_string_equal(c.detail, rows[i].detail);
        judge_baseline_request request = {.shape = &terms->benchmark, .slots = 2, .samples = 20};
        SCOPED(judge_baseline_fini) judge_baseline b = {0};
        assert_int_equal(judge_baseline_run(self, &request, &b, NULL), 0);
        assert_int_equal(b.mode_count, 1);
        assert_true(b.modes[0].row.median_ms == 0.6);
    }
}

static void with_a_stored_winner_only_eager_and_it_are_measured(void **state)
{
    (void)state;
    const char *script = "{\"default\":{\"baselines\":{\"eager\":[0.5],\"default\":[0.4],"
                         "\"max-autotune-no-cudagraphs\":[0.3]}}}";
    SCOPED(judge_destroy) judge *self = start(script, NULL);
    SCOPED(contract_destroy) contract *terms = contract_of("p", "f32");
    assert_int_equal(judge_open(self, terms, "", "r.py", NULL), 0);
    judge_baseline_request request = {.shape = &terms->benchmark,
                                      .slots = 2,
                                      .samples = 20,
                                      .winner = "max-autotune-no-cudagraphs"};
    SCOPED(judge_baseline_fini) judge_baseline b = {0};
    assert_int_equal(judge_baseline_run(self, &request, &b, NULL), 0);
    assert_int_equal(b.mode_count, 2);
    assert_string_equal(b.winner, "max-autotune-no-cudagraphs");
}

static void a_mistake_in_the_script_is_told_at_the_start_with_its_place(void **state)
{
    (void)state;
    static const struct {
        const char *script, *place;
    } rows[] = {
        {"{", ""},
        {"[]", ""},
        {"{\"defaults\":{}}", "defaults"},
        {"{\"default\":{\"compares\":{}}}", "compares"},
        {"{\"default\":{\"compare\":{}}}", "equal"},
        {"{\"default\":{\"compare\":{\"equal\":1}}}", "/default/compare/equal"},
        {"{\"default\":{\"compare\":{\"equal\":true,\"detail\":5}}}", "/default/compare/detail"},
        {"{\"default\":{\"baselines\":{\"eager\":[]}}}", "/default/baselines/eager"},
        {"{\"default\":{\"baselines\":{\"eager\":[0]}}}", "/default/baselines/eager/0"},
        {"{\"default\":{\"baselines\":{\"eager\":[1,-1]}}}", "/default/baselines/eager/1"},
        {"{\"default\":{\"baselines\":{\"quick\":[1]}}}", "quick"},
        {"{\"problems\":{\"a\":{\"compare\":{\"equal\":true}},\"b\":{\"compare\":7}}}",
         "/problems/b/compare"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        err e = {0};
        assert_null(start(rows[i].script, &e));
        assert_int_equal(e.code, ERR_CONFIG);
        if (strstr(e.text, rows[i].place) == NULL)
            fail_msg("%s: no %s in: %s", rows[i].script, rows[i].place, e.text);
    }
    err e = {0};
    assert_null(judge_start(&(judge_options){.device = "fake", .fake_script = "/nowhere"}, &e));
    assert_int_equal(e.code, ERR_NOT_FOUND);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_a_script_everything_agrees),
        cmocka_unit_test(the_layout_is_that_of_a_real_judge),
        cmocka_unit_test(a_problem_overrides_the_default_member_by_member),
        cmocka_unit_test(with_a_stored_winner_only_eager_and_it_are_measured),
        cmocka_unit_test(a_mistake_in_the_script_is_told_at_the_start_with_its_place),
    };
    return cmocka_run_group_tests_name("judge_fake", tests, make_file, remove_file);
}
