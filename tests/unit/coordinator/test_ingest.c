/* test_ingest - records are refused before anything of them is stored
 *
 * SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/scoped.h"
#include "common/xalloc.h"
#include "coordinator/ingest.h"

static ingest *read_text(ingest_kind kind, const char *text, err *e)
{
    static const char key[] = "00000000000000000000000000000000000000000000000000000000000000aa";
    return ingest_read(kind, kind == INGEST_BASELINE ? key : "task1", 3, text, 5, e);
}

/* Each row spoils one good record; `text` must be in the complaint. */
static void a_spoilt_stage_record_is_refused_with_its_pointer(void **state)
{
    (void)state;
    char stage[32] = "codegen", status[32] = "passed", side[32] = "candidate", mode[] = "plan",
         shape[] = "n=1", reason[] = "why";
    measurement_record m = {
        .side = side, .mode = mode, .shape = shape, .median_ms = 1.5, .slots = 1};
    stage_record r = {.stage = stage,
                      .status = status,
                      .wall_ms = 1,
                      .device_ms = 0,
                      .measurements = &m,
                      .measurement_count = 1};
    for (int spoil = 0; spoil < 8; spoil++) {
        err e = {0};
        const char *want = "";
        snprintf(stage, sizeof stage, spoil == 1 ? "cooking" : "codegen");
        snprintf(status, sizeof status, spoil == 2 ? "fine" : "passed");
        snprintf(side, sizeof side, spoil == 3 ? "referee" : "candidate");
        m.median_ms = spoil == 4 ? 0.0 : spoil >= 5 && spoil <= 6 ? (double)NAN : 1.5;
        m.reason = spoil == 6 ? reason : NULL;
        r.wall_ms = spoil == 7 ? -1 : 1;
        static const char *const wants[] = {"",           "/stage", "/status", "/side",
                                            "/median_ms", "reason", "",        "/wall_ms"};
        want = wants[spoil];
        SCOPED(scoped_free) char *text = stage_record_write(&r);
        SCOPED(ingest_destroy) ingest *got = read_text(INGEST_STAGE, text, &e);
        assert_int_equal(got == NULL, *want != '\0');
        if (!got) {
            assert_int_equal(e.code, ERR_PROTOCOL);
            assert_non_null(strstr(e.text, want));
            assert_non_null(strstr(e.text, "stage record"));
        }
    }
}

static void a_speed_needs_a_correct_candidate_and_no_speed_a_reason(void **state)
{
    (void)state;
    char reason[] = "not measured";
    static const struct {
        outcome result;
        double speedup;
        bool reason, good;
    } rows[] = {
        {OUTCOME_OK, 1.5, false, true},
        {OUTCOME_OK, (double)NAN, true, true},
        {OUTCOME_OK, (double)NAN, false, false},
        {OUTCOME_OK, 0, true, false},
        {OUTCOME_OK, -2, true, false},
        {OUTCOME_WRONG, 1.5, false, false},
        {OUTCOME_NOT_RUN, (double)NAN, true, true},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        err e = {0};
        result_record r = {.result = rows[i].result,
                           .speedup = rows[i].speedup,
                           .reason = rows[i].reason ? reason : NULL,
                           .candidate_ms = (double)NAN,
                           .ci_low = (double)NAN,
                           .ci_high = (double)NAN,
                           .floor_ms = (double)NAN,
                           .baseline_ms = (double)NAN};
        SCOPED(scoped_free) char *text = result_record_write(&r);
        SCOPED(ingest_destroy) ingest *got = read_text(INGEST_RESULT, text, &e);
        assert_int_equal(got != NULL, rows[i].good);
    }
}

static void a_call_has_a_place_and_no_negative_price(void **state)
{
    (void)state;
    char stage[] = "codegen", provider[] = "p", model[] = "m", stop[] = "ok";
    static const struct {
        int64_t index;
        double cost, latency;
        bool good;
    } rows[] = {
        {0, 0.1, 5, true},   {0, (double)NAN, 5, true}, {-1, 0.1, 5, false},
        {0, -0.1, 5, false}, {0, 0.1, -5, false},       {0, 0.1, (double)NAN, false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        err e = {0};
        call_record r = {.stage = stage,
                         .index = rows[i].index,
                         .provider = provider,
                         .model = model,
                         .stop = stop,
                         .cost_usd = rows[i].cost,
                         .latency_ms = rows[i].latency};
        SCOPED(scoped_free) char *text = call_record_write(&r);
        SCOPED(ingest_destroy) ingest *got = read_text(INGEST_CALL, text, &e);
        assert_int_equal(got != NULL, rows[i].good);
        if (got) {
            hash of = hash_of_text(text);
            assert_true(hash_equal(&of, &got->record));
            assert_int_equal(got->token, 3);
        }
    }
}

static void what_is_no_record_is_refused(void **state)
{
    (void)state;
    static const char *const texts[] = {"", "null", "[]", "{", "{\"stage\":1}"};
    for (int kind = INGEST_CALL; kind <= INGEST_BASELINE; kind++) {
        for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
            err e = {0};
            assert_null(read_text((ingest_kind)kind, texts[i], &e));
            assert_int_equal(e.code, ERR_PROTOCOL);
        }
    }
    err e = {0};
    char problem[] = "p", shape[] = "n=1";
    baseline_record r = {.problem = problem, .shape = shape};
    SCOPED(scoped_free) char *text = baseline_record_write(&r);
    assert_null(ingest_read(INGEST_BASELINE, "not hex", 0, text, 1, &e));
    assert_non_null(strstr(e.text, "64 hex digits"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_spoilt_stage_record_is_refused_with_its_pointer),
        cmocka_unit_test(a_speed_needs_a_correct_candidate_and_no_speed_a_reason),
        cmocka_unit_test(a_call_has_a_place_and_no_negative_price),
        cmocka_unit_test(what_is_no_record_is_refused),
    };
    return cmocka_run_group_tests_name("coordinator/ingest", tests, NULL, NULL);
}
