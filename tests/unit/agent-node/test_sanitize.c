/* test_sanitize - the four tools over a candidate, with a program that stands for NVIDIA's
 *
 * SPDX-License-Identifier: MIT */
#include "tests/unit/agent-node/rig_test.h"

#include <sys/stat.h>
#include <unistd.h>

#include "agent-node/sanitize.h"
#include "agent-node/stages/stage.h"
#include "common/buf.h"
#include "common/file.h"
#include "common/str.h"
#include "tests/support/judge_spy.h"

#define RACE                                                                       \
    "{\"problem\": \"silu_fp16\", \"text\": \"Error: Race reported between Write " \
    "access at k+0x90 in kernel.cu:41\\n    and Read access at k+0x100 in kernel.cu:51\"}"
#define TIMES "{\"default\": {\"candidate_ms\": [0.010], \"baselines\": {\"eager\": [0.020]}}}"
#define SLOW  "{\"default\": {\"candidate_ms\": [0.040], \"baselines\": {\"eager\": [0.020]}}}"

typedef struct bench {
    rig *rig;
    char *program;
    task_spec spec;
    rig_work work;
    judge_spy spy;
    sanitize_report report;
    err e;
} bench;

/* A copy of the program in the rig's folder, where it finds what to say. */
static void install(bench *b, const char *says)
{
    SCOPED(buf_fini) buf text;
    buf_init(&text, 64 * 1024);
    assert_ok(file_read(CE_SOURCE_DIR "/tests/support/fake_sanitizer.py", &text, &b->e), b->e);
    rig_write(b->rig, "compute-sanitizer", buf_text(&text));
    b->program = file_join(rig_folder(b->rig), "compute-sanitizer");
    assert_int_equal(chmod(b->program, 0755), 0);
    if (says != NULL)
        rig_write(b->rig, "SANITIZER.json", says);
    settings *chosen = (settings *)(uintptr_t)rig_node(b->rig)->settings;
    chosen->sanitizer = b->program;
}

static void bench_open(bench *b, const char *script, const char *says)
{
    *b = (bench){.rig = rig_create(script)};
    rig_spec(b->rig, "silu_fp16", "gold", &b->spec);
    rig_pipeline(b->rig, &b->spec, &b->work);
    judge_spy_install(&b->spy, rig_node(b->rig)->lanes);
    b->spy.arg = b;
    install(b, says);
}

static void bench_close(bench *b)
{
    free(b->program);
    rig_pipeline_fini(&b->work);
    task_spec_fini(&b->spec);
    rig_destroy(&b->rig);
}

static int look(bench *b)
{
    const pipeline *p = &b->work.p;
    atomic_bool never = false;
    lane *held = lanes_acquire(p->node->lanes, p->facts->arch, NULL, &never, &b->e);
    assert_non_null(held);
    int rc = sanitize_candidate(p, held, p->best, &b->report, &b->e);
    lanes_release(p->node->lanes, &held);
    return rc;
}

/* The tools that were called, in order: "memcheck initcheck ". */
static char *called(const bench *b)
{
    SCOPED(buf_fini) buf log, out;
    SCOPED(scoped_free) char *path = file_join(rig_folder(b->rig), "SANITIZER.log");
    buf_init(&log, 1 << 20);
    buf_init(&out, 4096);
    if (file_read(path, &log, NULL) != 0)
        return xstrdup("");
    for (char *line = buf_text(&log)[0] != '\0' ? log.data : NULL; line != NULL && *line != '\0';) {
        char *end = strchr(line, '\n');
        SCOPED(json_destroy) json *call = json_parse_tree(line, (size_t)(end - line), "log", NULL);
        const json *program = json_get(call, "program");
        const char *last = json_str(json_at(program, json_size(program) - 1), "");
        if (str_starts(last, "planted_"))
            buf_printf(&out, "%s:", last);
        else
            assert_string_equal(last, "silu_fp16"); /* --problem of the fake device */
        SCOPED(scoped_free) char *line_text = json_dump(program);
        assert_has(line_text, "\"--exact\"");
        buf_printf(&out, "%s ", json_str(json_get(call, "tool"), ""));
        line = end + 1;
    }
    return buf_take(&out);
}

static void expect_called(const bench *b, const char *tools)
{
    SCOPED(scoped_free) char *were = called(b);
    assert_string_equal(were, tools);
}

#define ALL_FOUR "memcheck initcheck racecheck synccheck "
#define ALL_PLANTED                                                                      \
    "planted_memcheck:memcheck planted_initcheck:initcheck planted_racecheck:racecheck " \
    "planted_synccheck:synccheck "

static void a_clean_candidate_is_looked_at_by_four_tools(void **state)
{
    (void)state;
    bench b;
    bench_open(&b, NULL, NULL);
    assert_ok(look(&b), b.e);
    assert_true(verdict_is_ok(&b.report.verdict));
    assert_string_equal(b.report.state, "clean");
    expect_called(&b, ALL_FOUR ALL_PLANTED);
    b.spy.draw_count = 0;
    assert_ok(look(&b), b.e);
    assert_string_equal(b.report.state, "clean");
    expect_called(&b, ALL_FOUR ALL_PLANTED ALL_FOUR); /* the lane is known to see */
    assert_true(b.spy.draw_count > 4 && b.spy.draw_count <= 4 * SANITIZE_SHAPES);
    size_t each = b.spy.draw_count / 4;
    for (size_t i = 0; i < each; i++) { /* the tools see the same */
        assert_int_equal(b.spy.draws[i].seed, b.spy.draws[3 * each + i].seed);
        assert_memory_equal(&b.spy.draws[i].shape, &b.spy.draws[each + i].shape,
                            sizeof(contract_shape));
    }
    assert_int_equal(b.spy.compares, 0);
    bench_close(&b);
}

static void a_tool_that_sees_no_planted_defect_proves_nothing(void **state)
{
    (void)state;
    bench b;
    bench_open(&b, NULL, "{\"blind\": [\"initcheck\"]}");
    for (int i = 0; i < 2; i++) {
        assert_ok(look(&b), b.e);
        assert_true(verdict_is_ok(&b.report.verdict));
        assert_string_equal(b.report.state,
                            "not run (initcheck found nothing, and nothing in a kernel that reads "
                            "its output before anybody wrote it)");
    }
    bench_close(&b);
}

static void the_first_finding_ends_it(void **state)
{
    (void)state;
    bench b;
    bench_open(&b, NULL, "{\"memcheck\": \"refuse\", \"racecheck\": " RACE "}");
    assert_ok(look(&b), b.e);
    assert_int_equal(b.report.verdict.result, OUTCOME_RACE);
    assert_string_equal(b.report.verdict.detail, "shared");
    assert_has(b.report.verdict.text, "kernel.cu:51");
    assert_has(b.report.state, "racecheck: Error: Race reported");
    expect_called(&b, "memcheck initcheck racecheck ");
    bench_close(&b);
}

static void a_tool_that_did_not_look_is_no_clean(void **state)
{
    (void)state;
    static const struct {
        const char *says, *state;
    } rows[] = {
        {"{\"memcheck\": \"refuse\"}", "not run (memcheck: Error: Device not supported"},
        {"{\"synccheck\": \"vanish\"}", "not run (synccheck: Target application terminated"},
        {"{\"initcheck\": {\"problem\": \"silu_fp16\", \"text\": \"Host API trouble\"}}",
         "not run (initcheck: 1 findings that ce cannot read: Host API trouble"}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        bench b;
        bench_open(&b, NULL, rows[i].says);
        assert_ok(look(&b), b.e);
        assert_true(verdict_is_ok(&b.report.verdict));
        assert_has(b.report.state, rows[i].state);
        expect_called(&b, ALL_FOUR);
        bench_close(&b);
    }
}

static void without_the_program_it_is_not_run(void **state)
{
    (void)state;
    bench b;
    bench_open(&b, NULL, NULL);
    assert_int_equal(unlink(b.program), 0);
    assert_ok(look(&b), b.e);
    assert_string_equal(b.report.state, "not run (no compute-sanitizer on this node)");
    assert_int_equal(b.spy.draw_count, 0);
    bench_close(&b);
}

static void a_run_that_fails_under_a_tool_is_told(void **state)
{
    (void)state;
    bench b;
    bench_open(&b,
               "{\"default\": {\"check\": {\"outcome\": \"launch_failed\", \"text\": \"too many "
               "registers\"}}}",
               NULL);
    assert_ok(look(&b), b.e);
    assert_true(verdict_is_ok(&b.report.verdict)); /* the tool's doing, not the candidate's */
    assert_has(b.report.state, "not run (memcheck: ");
    assert_has(b.report.state, "registers");
    bench_close(&b);
}

static int fail_to_draw(judge_spy *self, size_t number, err *e)
{
    (void)self;
    (void)number;
    return err_set(e, ERR_GPU, "the judge broke");
}

static void a_broken_judge_is_the_harness(void **state)
{
    (void)state;
    bench b;
    bench_open(&b, NULL, NULL);
    b.spy.on_draw = fail_to_draw;
    assert_int_equal(look(&b), -1);
    assert_string_equal(b.e.text, "the judge broke");
    bench_close(&b);
}

static void a_program_is_searched_only_where_there_is_a_gpu(void **state)
{
    (void)state;
    bench b;
    bench_open(&b, NULL, NULL);
    SCOPED(scoped_free) char *path = xstrdup(getenv("PATH"));
    SCOPED(scoped_free) char *longer = xasprintf("/nowhere:%s:%s", rig_folder(b.rig), path);
    setenv("PATH", longer, 1);
    SCOPED(scoped_free) char *found = sanitize_find(NULL, "cuda");
    assert_string_equal(found, b.program);
    assert_null(sanitize_find(NULL, "fake"));
    assert_null(sanitize_find("/nowhere/compute-sanitizer", "cuda"));
    SCOPED(scoped_free) char *given = sanitize_find(b.program, "fake");
    assert_string_equal(given, b.program);
    setenv("PATH", path, 1);
    bench_close(&b);
}

/* ---- in the stage ---- */

static void run_stage(bench *b, stage_work *w)
{
    *w = (stage_work){.id = STAGE_PERFORMANCE};
    b->work.p.spec = &b->spec;
    assert_ok(stage_performance(&b->work.p, w, &b->e), b->e);
}

static void end_stage(bench *b, stage_work *w)
{
    stage_record_fini(&w->record);
    bench_close(b);
}

static void who_is_faster_is_looked_at_and_a_finding_replaces_the_outcome(void **state)
{
    (void)state;
    bench b;
    stage_work w;
    bench_open(&b, TIMES, "{\"racecheck\": " RACE "}");
    run_stage(&b, &w);
    assert_string_equal(w.record.status, "failed");
    assert_int_equal(w.record.result, OUTCOME_RACE);
    assert_true(b.work.p.over);
    assert_has(w.record.sanitizer, "racecheck: ");
    end_stage(&b, &w);
    bench_open(&b, TIMES, NULL);
    run_stage(&b, &w);
    assert_string_equal(w.record.status, "passed");
    assert_string_equal(w.record.sanitizer, "clean");
    end_stage(&b, &w);
}

static void who_is_slower_is_not_and_a_trial_only_when_it_asks(void **state)
{
    (void)state;
    bench b;
    stage_work w;
    bench_open(&b, SLOW, "{\"racecheck\": " RACE "}");
    run_stage(&b, &w);
    assert_string_equal(w.record.status, "passed");
    assert_string_equal(w.record.sanitizer, "not run (not faster than the baseline)");
    expect_called(&b, "");
    end_stage(&b, &w);
    bench_open(&b, SLOW, "{\"racecheck\": " RACE "}");
    b.spec.trial = xstrdup("{}");
    b.spec.sanitize = 1;
    run_stage(&b, &w);
    assert_int_equal(w.record.result, OUTCOME_RACE);
    end_stage(&b, &w);
    bench_open(&b, TIMES, NULL);
    b.spec.trial = xstrdup("{}");
    run_stage(&b, &w);
    assert_string_equal(w.record.sanitizer, "not run (not asked for)");
    expect_called(&b, "");
    end_stage(&b, &w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_clean_candidate_is_looked_at_by_four_tools),
        cmocka_unit_test(a_tool_that_sees_no_planted_defect_proves_nothing),
        cmocka_unit_test(the_first_finding_ends_it),
        cmocka_unit_test(a_tool_that_did_not_look_is_no_clean),
        cmocka_unit_test(without_the_program_it_is_not_run),
        cmocka_unit_test(a_run_that_fails_under_a_tool_is_told),
        cmocka_unit_test(a_broken_judge_is_the_harness),
        cmocka_unit_test(a_program_is_searched_only_where_there_is_a_gpu),
        cmocka_unit_test(who_is_faster_is_looked_at_and_a_finding_replaces_the_outcome),
        cmocka_unit_test(who_is_slower_is_not_and_a_trial_only_when_it_asks),
    };
    return cmocka_run_group_tests_name("sanitize", tests, NULL, NULL);
}
