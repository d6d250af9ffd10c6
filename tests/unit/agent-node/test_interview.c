/* test_interview - the model says what the kernel must do
 *
 * SPDX-License-Identifier: MIT */
#include "tests/unit/agent-node/rig_test.h"

#include "agent-node/stages/stage.h"
#include "common/json.h"

#define TENSOR(name, dtype) \
    "{\"name\": \"" name "\", \"dtype\": \"" dtype "\", \"shape\": [\"rows\", \"cols\"]}"
#define SPEC(inputs, outputs)                                                     \
    "{\"name\": \"silu\", \"semantics\": \"x * sigmoid(x)\", \"inputs\": " inputs \
    ", \"outputs\": " outputs ", \"hazards\": [\"overflow\"], \"plan_of_attack\": \"a vector\"}"
#define RIGHT SPEC("[" TENSOR("x", "f16") "]", "[" TENSOR("y", "f16") "]")

typedef struct bench {
    rig *rig;
    task_spec spec;
    rig_work work;
    stage_work stage;
    err e;
} bench;

/* The model's answers, one a call; second NULL: the script ends. */
static void bench_open(bench *b, const char *first, const char *second)
{
    char id[128];
    const char *answers[] = {first, second};
    *b = (bench){.rig = rig_create(NULL), .stage = {.id = STAGE_INTERVIEW}};
    SCOPED(buf_fini) buf script;
    buf_init(&script, 4096);
    buf_puts(&script, "{\"rules\": [");
    for (size_t i = 0; i < 2 && answers[i] != NULL; i++) {
        char name[16];
        SCOPED(scoped_free) char *text = xasprintf("Well:\n```json\n%s\n```\n", answers[i]);
        snprintf(name, sizeof(name), "%zu.md", i);
        rig_write(b->rig, name, text);
        buf_printf(&script, "%s{\"stage\": \"interview\", \"index\": %zu, \"file\": \"%s\"}",
                   i > 0 ? "," : "", i, name);
    }
    buf_puts(&script, ", {\"stage\": \"codegen\", \"gold\": true}, {\"stage\": \"polish\", "
                      "\"gold\": true}]}");
    rig_spec(b->rig, "silu_fp16", mock_id(b->rig, buf_text(&script), id), &b->spec);
    rig_texts(b->rig, &b->spec, &b->work);
}

static void bench_close(bench *b)
{
    stage_record_fini(&b->stage.record);
    rig_pipeline_fini(&b->work);
    task_spec_fini(&b->spec);
    rig_destroy(&b->rig);
}

static void run_stage(bench *b)
{
    assert_ok(stage_interview(&b->work.p, &b->stage, &b->e), b->e);
}

static void a_right_spec_is_kept(void **state)
{
    (void)state;
    bench b;
    bench_open(&b, RIGHT, NULL);
    run_stage(&b);
    assert_string_equal(b.stage.record.status, "passed");
    assert_null(b.stage.record.notes);
    assert_int_equal(b.stage.calls, 1);
    SCOPED(scoped_free) char *stored = rig_blob(b.rig, &b.stage.record.spec);
    assert_string_equal(stored, b.work.p.kernel_spec);
    assert_has(stored, "\"plan_of_attack\":\"a vector\"");
    bench_close(&b);
}

static void a_malformed_spec_gets_one_repair_turn_that_quotes_the_fault(void **state)
{
    (void)state;
    bench b;
    bench_open(&b, SPEC("[" TENSOR("x", "f16") "]", "3"), RIGHT);
    run_stage(&b);
    assert_string_equal(b.stage.record.status, "passed");
    assert_int_equal(b.stage.calls, 2);
    SCOPED(scoped_free) char *prompt = rig_prompt(b.rig, 1);
    SCOPED(json_destroy) json *turns = json_parse_tree(prompt, strlen(prompt), "prompt", &b.e);
    assert_int_equal(json_size(turns), 4); /* system, question, answer, complaint */
    const char *complaint = json_str(json_get(json_at(turns, 3), "text"), "");
    assert_has(complaint, "/outputs");
    assert_string_equal(json_str(json_get(json_at(turns, 2), "role"), ""), "assistant");
    bench_close(&b);
}

static void a_spec_that_stays_malformed_is_recorded_as_failed(void **state)
{
    (void)state;
    bench b;
    bench_open(&b, SPEC("[]", "3"), "{\"name\": \"silu\"}");
    run_stage(&b);
    const stage_record *r = &b.stage.record;
    assert_string_equal(r->status, "failed");
    assert_int_equal(r->result, OUTCOME_OK); /* it decides nothing */
    assert_has(r->text, "semantics");        /* what the last answer lacked */
    assert_has(r->notes, "goes on without");
    assert_true(hash_is_zero(&r->spec));
    assert_int_equal(b.stage.calls, 2);
    assert_false(b.work.p.over);
    assert_null(b.work.p.kernel_spec);
    bench_close(&b);
}

static void the_task_goes_on_without_a_spec(void **state)
{
    (void)state;
    bench b;
    bench_open(&b, "{}", "{}");
    assert_ok(rig_run(b.rig, &b.spec, &b.e), b.e);
    assert_string_equal(rig_stage(b.rig, "interview")->status, "failed");
    assert_int_equal(rig_result(b.rig)->result, OUTCOME_OK);
    bench_close(&b);
}

static void a_spec_that_differs_from_the_contract_is_noted_and_used(void **state)
{
    (void)state;
    static const struct {
        const char *spec, *note;
    } cases[] = {{SPEC("[" TENSOR("x", "f32") "]", "[" TENSOR("y", "f16") "]"), "inputs/0/dtype"},
                 {SPEC("[" TENSOR("z", "f16") "]", "[" TENSOR("y", "f16") "]"), "inputs/0/name"},
                 {SPEC("[]", "[" TENSOR("y", "f16") "]"), "inputs: 0 named, the contract has 1"},
                 {SPEC("[" TENSOR("x", "f16") "]",
                       "[{\"name\": \"y\", \"dtype\": \"f16\", \"shape\": [\"cols\", \"rows\"]}]"),
                  "outputs/0/shape"}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        bench b;
        bench_open(&b, cases[i].spec, NULL);
        run_stage(&b);
        assert_string_equal(b.stage.record.status, "passed");
        assert_int_equal(b.stage.calls, 1);
        assert_has(b.stage.record.notes, "differs from the contract");
        assert_has(b.stage.record.notes, cases[i].note);
        assert_non_null(b.work.p.kernel_spec);
        bench_close(&b);
    }
}

static void every_malformed_spec_says_where(void **state)
{
    (void)state;
    static const struct {
        const char *spec, *says;
    } cases[] = {
        {"nonsense", "KernelSpec"},
        {"[]", "object"},
        {SPEC("[]", "[]") " ", ""},
        {"{\"name\": 1, \"semantics\": \"\", \"inputs\": [], \"outputs\": [], \"hazards\": [], "
         "\"plan_of_attack\": \"\"}",
         "/name"},
        {"{\"name\": \"\", \"semantics\": \"\", \"inputs\": [], \"outputs\": [], \"hazards\": 5, "
         "\"plan_of_attack\": \"\"}",
         "/hazards"},
        {"{\"name\": \"\", \"semantics\": \"\", \"inputs\": [], \"outputs\": [], \"hazards\": [], "
         "\"plan_of_attack\": \"\", \"code\": \"\"}",
         "code"},
        {SPEC("[{\"name\": \"x\", \"dtype\": \"f16\"}]", "[]"), "/inputs/0"},
        {SPEC("[]", "[7]"), "/outputs/0"}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        bench b;
        bench_open(&b, cases[i].spec, NULL);
        run_stage(&b);
        bool good = cases[i].says[0] == '\0';
        assert_string_equal(b.stage.record.status, good ? "passed" : "failed");
        if (!good) {
            SCOPED(scoped_free) char *prompt = rig_prompt(b.rig, 1);
            assert_has(prompt, cases[i].says);
        }
        bench_close(&b);
    }
}

static void without_a_budget_nobody_is_asked(void **state)
{
    (void)state;
    bench b;
    bench_open(&b, RIGHT, NULL);
    b.spec.budgets[STAGE_INTERVIEW] = 0;
    run_stage(&b);
    assert_string_equal(b.stage.record.status, "failed");
    assert_int_equal(rig_call_count(b.rig), 0);
    bench_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_right_spec_is_kept),
        cmocka_unit_test(a_malformed_spec_gets_one_repair_turn_that_quotes_the_fault),
        cmocka_unit_test(a_spec_that_stays_malformed_is_recorded_as_failed),
        cmocka_unit_test(the_task_goes_on_without_a_spec),
        cmocka_unit_test(a_spec_that_differs_from_the_contract_is_noted_and_used),
        cmocka_unit_test(every_malformed_spec_says_where),
        cmocka_unit_test(without_a_budget_nobody_is_asked)};
    return cmocka_run_group_tests_name("interview", tests, NULL, NULL);
}
