/* test_stage - what the five stages share
 *
 * SPDX-License-Identifier: MIT */
#include "tests/unit/agent-node/rig_test.h"

#include <math.h>

#include "agent-node/stages/stage.h"
#include "common/json.h"

typedef struct bench {
    rig *rig;
    task_spec spec;
    rig_work work;
    stage_work stage;
    conversation talk;
    err e;
} bench;

static void bench_open(bench *b, const char *mock)
{
    char id[128];
    *b = (bench){.rig = rig_create(NULL), .stage = {.id = STAGE_CODEGEN}};
    rig_spec(b->rig, "silu_fp16", mock_id(b->rig, mock, id), &b->spec);
    rig_texts(b->rig, &b->spec, &b->work);
    conversation_init(&b->talk, xstrdup("be exact"), ANSWER_CANDIDATE);
    conversation_add(&b->talk, "user", "what is 1 + 1?");
}

static void bench_close(bench *b)
{
    conversation_fini(&b->talk);
    stage_record_fini(&b->stage.record);
    rig_pipeline_fini(&b->work);
    task_spec_fini(&b->spec);
    rig_destroy(&b->rig);
}

static void stages_stand_in_order(void **state)
{
    (void)state;
    for (int i = 0; i < SPEC_STAGES; i++) {
        assert_int_equal(stage_table[i].id, i);
        assert_non_null(stage_table[i].run);
    }
}

/* ---- the record ---- */

static void a_decision_replaces_the_one_before(void **state)
{
    (void)state;
    stage_work w = {0};
    stage_decide(&w, "failed", OUTCOME_WRONG, "element", "off by one");
    stage_decide(&w, "passed", OUTCOME_OK, NULL, "");
    assert_string_equal(w.record.status, "passed");
    assert_int_equal(w.record.result, OUTCOME_OK);
    assert_null(w.record.detail);
    assert_null(w.record.text);
    stage_record_fini(&w.record);
}

static void notes_go_on_one_line(void **state)
{
    (void)state;
    stage_work w = {0};
    stage_note(&w, "%d apples", 3);
    assert_string_equal(w.record.notes, "3 apples");
    stage_note(&w, "no pears");
    assert_string_equal(w.record.notes, "3 apples; no pears");
    stage_record_fini(&w.record);
}

static void attempts_are_numbered_over_the_whole_task(void **state)
{
    (void)state;
    pipeline p = {.attempts = 4};
    stage_work first = {.id = STAGE_CODEGEN}, second = {.id = STAGE_PERFORMANCE};
    stage_attempt(&p, &first, OUTCOME_REJECTED, "printf", "calls vprintf");
    stage_attempt(&p, &first, OUTCOME_OK, "", "");
    stage_attempt(&p, &second, OUTCOME_OK, NULL, NULL);
    assert_int_equal(first.record.attempt_count, 2);
    assert_int_equal(first.record.attempts[0].index, 4);
    assert_int_equal(first.record.attempts[1].index, 5);
    assert_int_equal(second.record.attempts[0].index, 6);
    assert_int_equal(p.attempts, 7);
    assert_string_equal(first.record.attempts[0].stage, "codegen");
    assert_string_equal(first.record.attempts[0].detail, "printf");
    assert_null(first.record.attempts[1].detail);
    assert_null(first.record.attempts[1].text);
    assert_true(isnan(first.record.attempts[0].compile_ms));
    assert_int_equal(first.record.attempts[0].registers, -1);
    stage_record_fini(&first.record);
    stage_record_fini(&second.record);
}

/* ---- asking ---- */

static void the_budget_is_a_limit_of_calls(void **state)
{
    (void)state;
    task_spec spec = {.budgets = {0, 2, 0, 0, 0}};
    pipeline p = {.spec = &spec};
    stage_work w = {.id = STAGE_CODEGEN};
    assert_true(stage_may_ask(&p, &w));
    w.calls = 1;
    assert_true(stage_may_ask(&p, &w));
    w.calls = 2;
    assert_false(stage_may_ask(&p, &w));
    w.calls = 0;
    w.exhausted = true;
    assert_false(stage_may_ask(&p, &w));
    stage_work polish = {.id = STAGE_POLISH};
    assert_false(stage_may_ask(&p, &polish));
}

static void the_escalation_has_one_call_more(void **state)
{
    (void)state;
    task_spec spec = {.budgets = {2, 3, 0, 3, 1}};
    pipeline p = {.spec = &spec, .escalation = (provider *)&spec}; /* only looked at, never asked */
    stage_work codegen = {.id = STAGE_CODEGEN, .calls = 3},
               polish = {.id = STAGE_POLISH, .calls = 1};
    stage_work none = {.id = STAGE_CORRECTNESS};
    assert_true(stage_may_ask(&p, &codegen));
    codegen.calls = 4;
    assert_false(stage_may_ask(&p, &codegen));
    assert_false(stage_may_ask(&p, &polish));
    assert_false(stage_may_ask(&p, &none));
}

static void after_the_budget_the_escalation_is_asked(void **state)
{
    (void)state;
    task_spec spec SCOPED(task_spec_fini) = {0};
    err e = {0};
    char id[128];
    rig *r = rig_create(NULL);
    rig_spec(r, "silu_fp16", mock_id(r, "{\"rules\": [{\"text\": \"no idea\"}]}", id), &spec);
    write_gold(r, &spec, "good.md", "better");
    rig_write(r, "escalation.json", "{\"rules\": [{\"index\": 3, \"file\": \"good.md\"}]}");
    spec.escalation = xasprintf("mock:%s/escalation.json", rig_folder(r));
    assert_ok(rig_run(r, &spec, &e), e);
    const stage_record *codegen = rig_stage(r, "codegen");
    assert_int_equal(codegen->calls, 4);
    assert_int_equal(codegen->attempt_count, 4);
    assert_int_equal(codegen->attempts[3].result, OUTCOME_OK);
    assert_has(codegen->notes, "the escalation mock:");
    assert_int_equal(rig_result(r)->result, OUTCOME_OK);
    rig_destroy(&r);
}

static void an_answer_is_committed_and_joins_the_conversation(void **state)
{
    (void)state;
    bench b;
    bench_open(&b, "{\"rules\": [{\"text\": \"2\", \"tokens_in\": 7, \"cost_usd\": 0.25}]}");
    SCOPED(provider_answer_fini) provider_answer answer = {0};
    assert_ok(stage_ask(&b.work.p, &b.stage, &b.talk, &answer, &b.e), b.e);
    assert_string_equal(answer.text, "2");
    assert_int_equal(b.stage.calls, 1);
    assert_int_equal(rig_call_count(b.rig), 1);
    assert_int_equal(b.talk.count, 2);
    assert_string_equal(b.talk.turns[1].role, "assistant");
    assert_string_equal(b.talk.turns[1].text, "2");
    SCOPED(scoped_free) char *prompt = rig_prompt(b.rig, 0);
    assert_string_equal(prompt, "[{\"role\":\"system\",\"text\":\"be exact\"},"
                                "{\"role\":\"user\",\"text\":\"what is 1 + 1?\"}]");
    bench_close(&b);
}

static void an_answer_that_cannot_be_committed_is_not_used(void **state)
{
    (void)state;
    bench b;
    bench_open(&b, "{\"rules\": [{\"text\": \"2\"}]}");
    provider_answer answer = {0};
    rig_refuse(b.rig, true);
    assert_int_equal(stage_ask(&b.work.p, &b.stage, &b.talk, &answer, &b.e), -1);
    assert_int_equal(b.e.code, ERR_CONFLICT);
    assert_null(answer.text);
    assert_int_equal(b.stage.calls, 0);
    assert_int_equal(b.talk.count, 1);
    bench_close(&b);
}

static void a_cancelled_task_asks_nobody(void **state)
{
    (void)state;
    bench b;
    bench_open(&b, "{\"record\": \"served.jsonl\", \"rules\": [{\"text\": \"2\"}]}");
    provider_answer answer = {0};
    rig_cancel(b.rig, true);
    assert_int_equal(stage_ask(&b.work.p, &b.stage, &b.talk, &answer, &b.e), -1);
    assert_int_equal(b.e.code, ERR_CONFLICT);
    assert_int_equal(rig_call_count(b.rig), 0);
    bench_close(&b);
}

/* The recorded call of an earlier lease, as a checkpoint names it. */
static void record_call(bench *b, struct row_call_ref *row, const char *stop, const char *text)
{
    static char stage[] = "codegen", mock[] = "mock", model[] = "m";
    call_record call = {.stage = stage, .provider = mock, .model = model};
    call.stop = xstrdup(stop);
    if (text != NULL) {
        assert_ok(ledger_put_text(&b->work.account, text, &call.answer, &b->e), b->e);
    }
    SCOPED(scoped_free) char *json_text = call_record_write(&call);
    *row = (struct row_call_ref){.stage = stage, .index = 0};
    assert_ok(ledger_put_text(&b->work.account, json_text, &row->record, &b->e), b->e);
    free(call.stop);
    b->work.done.calls = row;
    b->work.done.call_count = 1;
}

static void a_recorded_answer_is_not_paid_again(void **state)
{
    (void)state;
    bench b;
    struct row_call_ref row;
    bench_open(&b, "{\"rules\": [{\"text\": \"new\"}]}");
    record_call(&b, &row, "ok", "old");
    SCOPED(provider_answer_fini) provider_answer first = {0};
    SCOPED(provider_answer_fini) provider_answer second = {0};
    assert_ok(stage_ask(&b.work.p, &b.stage, &b.talk, &first, &b.e), b.e);
    assert_string_equal(first.text, "old");
    assert_int_equal(rig_call_count(b.rig), 0);
    assert_ok(stage_ask(&b.work.p, &b.stage, &b.talk, &second, &b.e), b.e); /* number 1 is new */
    assert_string_equal(second.text, "new");
    assert_int_equal(b.stage.calls, 2);
    assert_int_equal(rig_call_count(b.rig), 1);
    bench_close(&b);
}

/* The same stage is gone through by a task of another spec. */
static void ask_as(const char *key_of_old, task_spec *spec, bench *b, provider_answer *answer)
{
    static char stage[] = "codegen", mock[] = "mock", model[] = "m", ok[] = "ok";
    char key[] = "0000000000000000000000000000000000000000000000000000000000000000";
    call_record call = {.stage = stage, .provider = mock, .model = model, .stop = ok};
    struct row_call_ref row = {.stage = stage, .index = 0};
    call.key = key_of_old != NULL ? (char *)(uintptr_t)key_of_old : key;
    assert_ok(ledger_put_text(&b->work.account, "old", &call.answer, &b->e), b->e);
    SCOPED(scoped_free) char *text = call_record_write(&call);
    assert_ok(ledger_put_text(&b->work.account, text, &row.record, &b->e), b->e);
    b->work.done.calls = &row;
    b->work.done.call_count = 1;
    b->work.p.spec = spec;
    assert_ok(stage_ask(&b->work.p, &b->stage, &b->talk, answer, &b->e), b->e);
    b->work.done.call_count = 0;
}

static void an_answer_to_another_question_is_not_used(void **state)
{
    (void)state;
    bench b;
    SCOPED(provider_answer_fini) provider_answer answer = {0};
    bench_open(&b, "{\"rules\": [{\"text\": \"new\"}]}");
    ask_as(NULL, &b.spec, &b, &answer);
    assert_string_equal(answer.text, "new");
    assert_int_equal(b.stage.calls, 1); /* the budget is that of real questions */
    assert_int_equal(b.stage.number, 2);
    assert_has(b.stage.record.notes, "recorded call 0 answers another question");
    bench_close(&b);
}

/* What is asked first is recorded with its key; the same is then found by it, another is not. */
static void the_key_is_of_what_was_asked_and_how(void **state)
{
    (void)state;
    bench b;
    SCOPED(provider_answer_fini) provider_answer first = {0};
    bench_open(&b, "{\"rules\": [{\"text\": \"new\"}]}");
    assert_ok(stage_ask(&b.work.p, &b.stage, &b.talk, &first, &b.e), b.e);
    SCOPED(scoped_free) char *key = rig_call_key(b.rig, 0);
    for (int i = 0; i < 6; i++) {
        SCOPED(provider_answer_fini) provider_answer answer = {0};
        task_spec spec = b.spec;
        b.work.p.demands[STAGE_CODEGEN] = ability_no_demand;
        spec.sample += i == 1;
        spec.contract_hash.bytes[0] ^= i == 2;
        spec.reference.bytes[0] ^= i == 3;
        if (i == 4) {
            b.work.p.demands[STAGE_CODEGEN].effort = "high";
        } else if (i == 5) {
            b.work.p.demands[STAGE_CODEGEN].temperature = 0.0;
        }
        b.stage.calls = b.stage.number = 0;
        ask_as(key, &spec, &b, &answer);
        assert_string_equal(answer.text, i == 0 ? "old" : "new");
    }
    bench_close(&b);
}

static void a_recorded_call_without_an_answer_keeps_its_stop(void **state)
{
    (void)state;
    bench b;
    struct row_call_ref row;
    bench_open(&b, "{\"rules\": []}");
    record_call(&b, &row, "refused", NULL);
    SCOPED(provider_answer_fini) provider_answer answer = {0};
    assert_ok(stage_ask(&b.work.p, &b.stage, &b.talk, &answer, &b.e), b.e);
    assert_int_equal(answer.stop, PROVIDER_STOP_REFUSED);
    assert_string_equal(answer.text, "");
    bench_close(&b);
}

static void a_recorded_call_that_makes_no_sense_is_an_error(void **state)
{
    (void)state;
    bench b;
    struct row_call_ref row;
    bench_open(&b, "{\"rules\": []}");
    record_call(&b, &row, "sideways", NULL);
    provider_answer answer = {0};
    assert_int_equal(stage_ask(&b.work.p, &b.stage, &b.talk, &answer, &b.e), -1);
    assert_has(b.e.text, "sideways");
    bench_close(&b);
}

/* ---- trying ---- */

static provider_answer answer_of(const char *source, const char *launches)
{
    return (provider_answer){
        .text = xasprintf("```cuda\n%s\n```\n```json\n%s\n```\n", source, launches)};
}

static void a_good_answer_becomes_a_compiled_candidate(void **state)
{
    (void)state;
    bench b;
    bench_open(&b, "{\"rules\": []}");
    SCOPED(candidate_destroy) candidate *c = NULL;
    SCOPED(scoped_free) char *complaint = NULL;
    SCOPED(provider_answer_fini)
    provider_answer answer = answer_of(b.work.p.gold_source, b.work.p.gold_plan);
    assert_ok(stage_try(&b.work.p, &b.stage, &answer, &c, &complaint, &b.e), b.e);
    assert_non_null(c);
    assert_null(complaint);
    assert_true(c->compiled.cubin.size > 0);
    const attempt_record *a = &b.stage.record.attempts[0];
    assert_int_equal(a->result, OUTCOME_OK);
    assert_true(a->compile_ms > 0.0 && a->registers > 0);
    SCOPED(scoped_free) char *stored = rig_blob(b.rig, &a->source);
    assert_string_equal(stored, c->source);
    bench_close(&b);
}

static void every_complaint_helps(void **state)
{
    (void)state;
    static const struct {
        const char *source, *launches, *says;
    } cases[] = {
        {"extern \"C\" __global__ void k() {}", "{\"kernels\": 3}", "invalid at /kernels"},
        {"extern \"C\" __global__ void k() {}",
         "{\"kernels\": [{\"entry\": \"k\", \"grid\": [\"rows / cols\"], \"block\": [32], "
         "\"args\": "
         "[]}]}",
         "invalid at /kernels/0/grid/0"},
        {"extern \"C\" __global__ void k() { int i = \"text\"; }",
         "{\"kernels\": [{\"entry\": \"k\", \"grid\": [1], \"block\": [32], \"args\": []}]}",
         "The compiler says"},
        {"extern \"C\" __global__ void k() { printf(\"hello\"); }",
         "{\"kernels\": [{\"entry\": \"k\", \"grid\": [1], \"block\": [32], \"args\": []}]}",
         "refused by the eligibility gate"}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        bench b;
        bench_open(&b, "{\"rules\": []}");
        candidate *c = NULL;
        SCOPED(scoped_free) char *complaint = NULL;
        SCOPED(provider_answer_fini)
        provider_answer answer = answer_of(cases[i].source, cases[i].launches);
        assert_ok(stage_try(&b.work.p, &b.stage, &answer, &c, &complaint, &b.e), b.e);
        assert_null(c);
        assert_non_null(complaint);
        assert_has(complaint, cases[i].says);
        assert_false(hash_is_zero(&b.stage.record.attempts[0].source)); /* kept for people */
        bench_close(&b);
    }
}

/* A plan may fail at one shape only: the complaint says at which. */
static void a_plan_that_fails_at_one_shape_names_it(void **state)
{
    (void)state;
    bench b;
    bench_open(&b, "{\"rules\": []}");
    candidate *c = NULL;
    SCOPED(scoped_free) char *complaint = NULL;
    SCOPED(provider_answer_fini)
    provider_answer answer = answer_of(
        "extern \"C\" __global__ void k() {}",
        "{\"kernels\": [{\"entry\": \"k\", \"grid\": [\"4096 / (rows - 64)\"], \"block\": "
        "[32], \"args\": []}]}");
    assert_ok(stage_try(&b.work.p, &b.stage, &answer, &c, &complaint, &b.e), b.e);
    assert_null(c);
    assert_int_equal(b.stage.record.attempts[0].result, OUTCOME_PLAN_INVALID);
    assert_has(complaint, "/kernels/0/grid/0");
    assert_has(complaint, "rows=");
    bench_close(&b);
}

static void a_stored_candidate_comes_back_compiled(void **state)
{
    (void)state;
    bench b;
    bench_open(&b, "{\"rules\": []}");
    const hash *source = &b.spec.gold_source;
    assert_ok(candidate_restore(&b.work.p, source, &b.spec.gold_plan, &b.e), b.e);
    assert_true(hash_equal(&b.work.p.best->source_hash, source));
    assert_true(b.work.p.best->compiled.cubin.size > 0);
    hash bad;
    assert_ok(ledger_put_text(&b.work.account, "{\"kernels\": 1}", &bad, &b.e), b.e);
    assert_int_equal(candidate_restore(&b.work.p, source, &bad, &b.e), -1);
    assert_int_equal(b.e.code, ERR_INTERNAL);
    assert_ok(ledger_put_text(&b.work.account, "no code", &bad, &b.e), b.e);
    assert_int_equal(candidate_restore(&b.work.p, &bad, &b.spec.gold_plan, &b.e), -1);
    assert_int_equal(b.e.code, ERR_INTERNAL);
    assert_true(hash_equal(&b.work.p.best->source_hash, source)); /* left alone */
    bench_close(&b);
}

/* ---- the device ---- */

static void a_stage_records_the_device_it_held(void **state)
{
    (void)state;
    bench b;
    bench_open(&b, "{\"rules\": []}");
    lane *held = stage_hold(&b.work.p, &b.stage, &b.e);
    assert_non_null(held);
    assert_true(b.work.p.placed);
    lane *was = held;
    stage_let_go(&b.work.p, &b.stage, &held);
    assert_null(held);
    const stage_record *r = &b.stage.record;
    assert_string_equal(r->device, "fake");
    assert_string_equal(r->device_kind, "fake");
    assert_string_equal(r->device_uuid, "GPU-fake");
    assert_string_equal(r->driver, "13.0");
    assert_null(r->torch); /* the fake judge has none */
    held = stage_hold(&b.work.p, &b.stage, &b.e);
    assert_ptr_equal(held, was);
    stage_let_go(&b.work.p, &b.stage, &held);
    bench_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stages_stand_in_order),
        cmocka_unit_test(a_decision_replaces_the_one_before),
        cmocka_unit_test(notes_go_on_one_line),
        cmocka_unit_test(attempts_are_numbered_over_the_whole_task),
        cmocka_unit_test(the_budget_is_a_limit_of_calls),
        cmocka_unit_test(the_escalation_has_one_call_more),
        cmocka_unit_test(after_the_budget_the_escalation_is_asked),
        cmocka_unit_test(an_answer_is_committed_and_joins_the_conversation),
        cmocka_unit_test(an_answer_that_cannot_be_committed_is_not_used),
        cmocka_unit_test(a_cancelled_task_asks_nobody),
        cmocka_unit_test(a_recorded_answer_is_not_paid_again),
        cmocka_unit_test(an_answer_to_another_question_is_not_used),
        cmocka_unit_test(the_key_is_of_what_was_asked_and_how),
        cmocka_unit_test(a_recorded_call_without_an_answer_keeps_its_stop),
        cmocka_unit_test(a_recorded_call_that_makes_no_sense_is_an_error),
        cmocka_unit_test(a_good_answer_becomes_a_compiled_candidate),
        cmocka_unit_test(every_complaint_helps),
        cmocka_unit_test(a_plan_that_fails_at_one_shape_names_it),
        cmocka_unit_test(a_stored_candidate_comes_back_compiled),
        cmocka_unit_test(a_stage_records_the_device_it_held)};
    return cmocka_run_group_tests_name("stage", tests, NULL, NULL);
}
