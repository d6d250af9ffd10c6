/* test_record - what a node tells about a task
 *
 * SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/json.h"
#include "common/scoped.h"
#include "common/xalloc.h"
#include "wire/record.h"

#define TEXT(literal) ((char *)(uintptr_t)(literal))

static const double unknown = (double)NAN;

/* One record type behind one signature: write the sample, read text, write what was read. */
typedef struct kind {
    const char *name;
    char *(*sample)(void);
    char *(*again)(const char *text, err *e); /* NULL: refused */
} kind;

#define AGAIN(record)                                                 \
    static char *again_##record(const char *text, err *e)             \
    {                                                                 \
        record##_record out;                                          \
        if (record##_record_read(text, strlen(text), &out, e) != 0) { \
            static const record##_record empty;                       \
            assert_memory_equal(&out, &empty, sizeof(out));           \
            return NULL;                                              \
        }                                                             \
        char *written = record##_record_write(&out);                  \
        record##_record_fini(&out);                                   \
        return written;                                               \
    }
AGAIN(call)
AGAIN(stage)
AGAIN(result)
AGAIN(baseline)

static char *sample_call(void)
{
    const call_record r = {.stage = TEXT("codegen"),
                           .index = 2,
                           .provider = TEXT("mock"),
                           .model = TEXT("a.json"),
                           .prompt = hash_of_text("p"),
                           .answer = hash_of_text("a"),
                           .stop = TEXT("ok"),
                           .tokens_in = 10,
                           .tokens_out = -1,
                           .tokens_cache_read = -1,
                           .tokens_cache_write = -1,
                           .cost_usd = unknown,
                           .latency_ms = 12.25,
                           .reason = TEXT("none told")};
    return call_record_write(&r);
}

static measurement_record sample_row(void)
{
    return (measurement_record){.side = TEXT("baseline"),
                                .mode = TEXT("eager"),
                                .shape = TEXT("rows=4 cols=4"),
                                .median_ms = unknown,
                                .reason = TEXT("wrong output"),
                                .slots = 3,
                                .l2 = TEXT("cold"),
                                .event_floor_ms = 0.001};
}

static char *sample_stage(void)
{
    measurement_record rows[] = {sample_row(), sample_row()};
    attempt_record attempts[] = {{.stage = TEXT("correctness"),
                                  .index = 4,
                                  .source = hash_of_text("s"),
                                  .result = OUTCOME_OUT_OF_BOUNDS,
                                  .detail = TEXT("write"),
                                  .compile_ms = unknown,
                                  .registers = -1,
                                  .local_bytes = 16}};
    const stage_record r = {.stage = TEXT("correctness"),
                            .status = TEXT("failed"),
                            .result = OUTCOME_OUT_OF_BOUNDS,
                            .text = TEXT("wrote past y"),
                            .modelled = TEXT("{\"modelled\":true}"),
                            .attempts = attempts,
                            .attempt_count = 1,
                            .measurements = rows,
                            .measurement_count = 2,
                            .wall_ms = 5.5,
                            .device_ms = 1.5,
                            .calls = 3};
    return stage_record_write(&r);
}

static char *sample_result(void)
{
    const result_record r = {.result = OUTCOME_OK,
                             .speedup = 1.5,
                             .candidate_ms = 0.01,
                             .baseline_ms = 0.015,
                             .baseline_mode = TEXT("default"),
                             .marks = TEXT("uncertified"),
                             .device_kind = TEXT("fake"),
                             .modelled = TEXT("{\"modelled\":true}"),
                             .source = hash_of_text("s"),
                             .plan = hash_of_text("p"),
                             .wall_ms = 1.0,
                             .device_ms = unknown,
                             .calls = 3};
    return result_record_write(&r);
}

static char *sample_baseline(void)
{
    measurement_record rows[] = {sample_row()};
    const baseline_record r = {.problem = TEXT("silu"),
                               .shape = TEXT("rows=4"),
                               .modes = rows,
                               .mode_count = 1,
                               .winner = TEXT("eager"),
                               .cache = hash_of_text("cache")};
    return baseline_record_write(&r);
}

static const kind kinds[] = {{"call", sample_call, again_call},
                             {"stage", sample_stage, again_stage},
                             {"result", sample_result, again_result},
                             {"baseline", sample_baseline, again_baseline}};
enum { KINDS = sizeof(kinds) / sizeof(kinds[0]) };

static void every_record_comes_back_as_it_was_written(void **state)
{
    (void)state;
    for (size_t i = 0; i < KINDS; i++) {
        err e = {0};
        SCOPED(scoped_free) char *text = kinds[i].sample();
        SCOPED(scoped_free) char *again = kinds[i].again(text, &e);
        if (again == NULL) {
            fail_msg("%s: %s", kinds[i].name, e.text);
        }
        assert_string_equal(again, text);
    }
}

/* Reads the sample with one member changed by `change`; the read must fail and name the member. */
static void expect_refusal(const kind *k, const char *key, void (*change)(json *root, const char *))
{
    err e = {0};
    SCOPED(scoped_free) char *text = k->sample();
    SCOPED(json_destroy) json *root = json_parse_tree(text, strlen(text), "sample", &e);
    change(root, key);
    SCOPED(scoped_free) char *changed = json_dump(root);
    SCOPED(scoped_free) char *again = k->again(changed, &e);
    if (again != NULL || e.code != ERR_CONFIG || strstr(e.text, key) == NULL ||
        strstr(e.text, k->name) == NULL) {
        fail_msg("%s without a good /%s: %s", k->name, key, again != NULL ? "was read" : e.text);
    }
}

static void leave_out(json *root, const char *key)
{
    json_remove(root, key);
}

static void make_object(json *root, const char *key)
{
    json *odd = json_new_object();
    json_set_int(odd, "x", 1);
    json_set(root, key, &odd);
}

static void every_member_is_wanted_and_typed(void **state)
{
    (void)state;
    for (size_t i = 0; i < KINDS; i++) {
        SCOPED(scoped_free) char *text = kinds[i].sample();
        SCOPED(json_destroy) json *root = json_parse_tree(text, strlen(text), "sample", NULL);
        size_t members = json_size(root);
        assert_true(members > 5);
        for (size_t m = 0; m < members; m++) {
            expect_refusal(&kinds[i], json_key_at(root, m), leave_out);
            expect_refusal(&kinds[i], json_key_at(root, m), make_object);
        }
        expect_refusal(&kinds[i], "surplus", make_object);
    }
}

static void a_failed_time_is_null_and_comes_back_as_nan(void **state)
{
    (void)state;
    SCOPED(scoped_free) char *text = sample_stage();
    stage_record back SCOPED(stage_record_fini) = {0};
    assert_non_null(strstr(text, "\"median_ms\":null"));
    assert_int_equal(stage_record_read(text, strlen(text), &back, NULL), 0);
    assert_int_equal(back.measurement_count, 2);
    assert_true(isnan(back.measurements[1].median_ms));
    assert_string_equal(back.measurements[1].reason, "wrong output");
    assert_true(isnan(back.attempts[0].compile_ms));
    assert_true(hash_is_zero(&back.attempts[0].plan));
    assert_int_equal(back.attempts[0].result, OUTCOME_OUT_OF_BOUNDS);
}

static void a_fault_inside_a_list_is_told_with_its_place(void **state)
{
    (void)state;
    err e = {0};
    stage_record back;
    SCOPED(scoped_free) char *text = sample_stage();
    char *median = strstr(text, "\"slots\":3");
    assert_non_null(median);
    memcpy(median, "\"slots\":x", 9);
    assert_int_equal(stage_record_read(text, strlen(text), &back, &e), -1);
    memcpy(median, "\"slotz\":3", 9);
    assert_int_equal(stage_record_read(text, strlen(text), &back, &e), -1);
    if (strstr(e.text, "/measurements/0") == NULL) {
        fail_msg("%s", e.text);
    }
    assert_null(back.attempts);
}

static void more_rows_than_the_limit_are_refused(void **state)
{
    (void)state;
    err e = {0};
    attempt_record *attempts = xcalloc(RECORD_ATTEMPTS_MAX + 1, sizeof(*attempts));
    for (size_t i = 0; i <= RECORD_ATTEMPTS_MAX; i++) {
        attempts[i] = (attempt_record){.stage = TEXT("codegen")};
    }
    stage_record r = {.stage = TEXT("codegen"), .status = TEXT("failed"), .attempts = attempts};
    for (size_t extra = 0; extra < 2; extra++) {
        r.attempt_count = RECORD_ATTEMPTS_MAX + extra;
        SCOPED(scoped_free) char *text = stage_record_write(&r);
        stage_record back SCOPED(stage_record_fini) = {0};
        int rc = stage_record_read(text, strlen(text), &back, &e);
        assert_int_equal(rc, extra == 0 ? 0 : -1);
    }
    assert_non_null(strstr(e.text, "/attempts"));
    free(attempts);
}

static void what_a_provider_told_is_kept_and_may_be_absent(void **state)
{
    (void)state;
    SCOPED(scoped_free) char *without = sample_call();
    call_record r;
    err e;
    assert_null(strstr(without, "usage")); /* as older records are */
    assert_int_equal(call_record_read(without, strlen(without), &r, &e), 0);
    assert_null(r.usage);
    r.usage = xstrdup("{\"attempts\":2}");
    SCOPED(scoped_free) char *with = call_record_write(&r);
    SCOPED(scoped_free) char *again = again_call(with, &e);
    assert_non_null(strstr(with, "attempts"));
    assert_string_equal(again, with);
    call_record_fini(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_record_comes_back_as_it_was_written),
        cmocka_unit_test(every_member_is_wanted_and_typed),
        cmocka_unit_test(a_failed_time_is_null_and_comes_back_as_nan),
        cmocka_unit_test(a_fault_inside_a_list_is_told_with_its_place),
        cmocka_unit_test(more_rows_than_the_limit_are_refused),
        cmocka_unit_test(what_a_provider_told_is_kept_and_may_be_absent)};
    return cmocka_run_group_tests_name("record", tests, NULL, NULL);
}
