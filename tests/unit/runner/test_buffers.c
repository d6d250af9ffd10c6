/* test_buffers - sentinels, canaries, places, and what verify sees
 *
 * SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "agent-node/runner/buffers.h"
#include "common/buf.h"
#include "common/scoped.h"
#include "common/xalloc.h"
#include "mock_rig.h"
#include "wire/message.h"

/* ---- patterns: the judge mirrors them, so the values are written down ---- */

typedef struct sentinel_case {
    dtype type;
    uint64_t salt;
    uint32_t value, width;
} sentinel_case;

static const sentinel_case sentinels[] = {
    {DTYPE_F16, 1, 0x7E60, 2},
    {DTYPE_BF16, 1, 0x7FF4, 2},
    {DTYPE_F32, 1, 0x7FD60396, 4},
    {DTYPE_F64, 1, 0x7FFE2424, 4},
    {DTYPE_F16, 42, 0x7E0E, 2},
    {DTYPE_BF16, 42, 0x7FDA, 2},
    {DTYPE_F32, 42, 0x7FEC15E2, 4},
    {DTYPE_F64, 42, 0x7FFA70AA, 4},
    {DTYPE_F32, INT64_MAX, 0x7FC8E20E, 4},
    {DTYPE_I8, 1, 0xA5, 1},
    {DTYPE_U8, 42, 0xA5, 1},
    {DTYPE_I32, 3, 0xA5, 1},
    {DTYPE_I64, 4, 0xA5, 1},
    {DTYPE_BOOL, 5, 0xA5, 1},
};

static void sentinels_have_the_written_values(void **state)
{
    (void)state;
    assert_true(buffers_mix(0) == 0xE220A8397B1DCDAFu);
    assert_true(buffers_mix(1) == 0x910A2DEC89025CC1u);
    for (size_t i = 0; i < sizeof sentinels / sizeof *sentinels; i++) {
        uint32_t width = 0;
        uint32_t value = buffers_sentinel(sentinels[i].type, sentinels[i].salt, &width);
        assert_int_equal(value, sentinels[i].value);
        assert_int_equal(width, sentinels[i].width);
    }
}

static void fp_sentinels_are_nan_with_a_payload_for_every_salt(void **state)
{
    (void)state;
    for (uint64_t salt = 0; salt < 20000; salt++) {
        uint32_t width = 0;
        uint32_t f16 = buffers_sentinel(DTYPE_F16, salt, &width);
        uint32_t bf16 = buffers_sentinel(DTYPE_BF16, salt, &width);
        uint32_t f32 = buffers_sentinel(DTYPE_F32, salt, &width);
        uint64_t word = buffers_sentinel(DTYPE_F64, salt, &width);
        uint64_t f64 = word << 32 | word;
        float single;
        double wide;
        memcpy(&single, &f32, sizeof single);
        memcpy(&wide, &f64, sizeof wide);
        assert_true(isnan(single) && isnan(wide));
        assert_true(f16 > 0x7E00 && f16 < 0x7FFF);
        assert_true(bf16 > 0x7FC0 && bf16 < 0x7FFF);
        assert_true(f32 > 0x7FC00000 && f32 < 0x7FFFFFFF);
        uint32_t scratch = buffers_scratch_sentinel(salt);
        assert_true(scratch >= 0x7FF8 && scratch <= 0x7FFF);
    }
}

static void answers_are_numbers_for_every_salt(void **state)
{
    (void)state;
    for (uint64_t salt = 0; salt < 20000; salt++) {
        uint32_t width = 0;
        uint32_t f32 = buffers_answer(DTYPE_F32, salt, &width);
        uint64_t word = buffers_answer(DTYPE_F64, salt, &width);
        uint64_t f64 = word << 32 | word;
        float single;
        double wide;
        memcpy(&single, &f32, sizeof single);
        memcpy(&wide, &f64, sizeof wide);
        assert_true(single >= 1.0f && single < 2.0f && wide >= 1.0 && wide < 2.0);
        assert_in_range(buffers_answer(DTYPE_F16, salt, &width), 0x3C00, 0x3FFF);
        assert_int_equal(width, 2);
        assert_in_range(buffers_answer(DTYPE_BF16, salt, &width), 0x3F80, 0x3FFF);
        assert_int_equal(buffers_answer(DTYPE_I64, salt, &width), 1);
        assert_int_equal(buffers_answer(DTYPE_BOOL, salt, &width), 1);
        assert_int_equal(width, 1);
    }
}

static void canaries_differ_by_salt_and_buffer(void **state)
{
    (void)state;
    assert_int_not_equal(buffers_canary(1, 0), buffers_canary(2, 0));
    assert_int_not_equal(buffers_canary(1, 0), buffers_canary(1, 1));
    assert_int_equal(buffers_canary(7, 3), buffers_canary(7, 3));
}

static void data_is_aligned_with_canary_on_both_sides(void **state)
{
    (void)state;
    static const uint64_t sizes[] = {0, 1, 255, 256, 257, 4095, 1 << 20, 2097152, 2097153, 4000012};
    const uint64_t granule = 2097152;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (uint64_t salt = 0; salt < 64; salt++) {
            uint64_t need = buffers_need(sizes[i], salt, i);
            uint64_t mapped = (need + granule - 1) / granule * granule;
            uint64_t at = buffers_offset(sizes[i], mapped, salt, i);
            assert_int_equal(at % BUFFERS_ALIGN, 0);
            assert_true(at >= BUFFERS_CANARY_MIN);
            assert_true(at + sizes[i] + BUFFERS_CANARY_MIN <= mapped);
            assert_true(mapped - at - sizes[i] <= 2 * BUFFERS_CANARY_MIN + BUFFERS_ALIGN);
        }
}

/* ---- on the mock device, where device memory is host memory ---- */

typedef struct rig {
    gpu *device;
    contract *terms;
    contract_shape shape;
    plan_steps steps;
    buffers *set;
    float staging[4096];
    struct row_span spans[2];
} rig;

enum { ELEMENTS = 1001, SALT = 9 };

static int set_up(void **state)
{
    static rig r;
    err e = {0};
    memset(&r, 0, sizeof r);
    r.device = gpu_cuda_open(0, &e);
    r.terms = mock_rig_terms();
    if (r.device == NULL || r.terms == NULL)
        return -1;
    r.shape.dims[0] = ELEMENTS;
    r.steps.scratch_count = 2;
    r.steps.scratch[0] = (plan_life){.bytes = 40, .place = 0};
    r.steps.scratch[1] = (plan_life){.bytes = 0, .place = 1};
    r.steps.place_count = 2;
    r.steps.place_bytes[0] = 40;
    buffers_spec spec = {r.terms, &r.shape, &r.steps, SALT, false};
    r.set = buffers_create(r.device, &spec, &e);
    for (size_t i = 0; i < 4096; i++)
        r.staging[i] = (float)i;
    r.spans[0] = (struct row_span){.offset = 0, .bytes = ELEMENTS * 4};
    r.spans[1] = (struct row_span){.offset = 8192, .bytes = ELEMENTS * 4};
    *state = &r;
    return r.set != NULL && buffers_import(r.set, (uint64_t)(uintptr_t)r.staging, r.spans, &e) == 0
               ? 0
               : -1;
}

static int tear_down(void **state)
{
    rig *r = *state;
    buffers_destroy(&r->set);
    contract_destroy(&r->terms);
    gpu_close(&r->device);
    return 0;
}

static uint8_t *bytes_at(uint64_t address)
{
    return (uint8_t *)(uintptr_t)address;
}

static runner_verdict verify(rig *r)
{
    runner_verdict v;
    err e = {0};
    verdict_ok(&v);
    assert_int_equal(buffers_verify(r->set, &v, &e), 0);
    return v;
}

static void fresh_memory_holds_sentinels_and_inputs(void **state)
{
    rig *r = *state;
    uint32_t width = 0;
    uint32_t want = buffers_sentinel(DTYPE_F32, SALT, &width);
    const uint8_t *y = bytes_at(buffers_tensor(r->set, 2));
    for (size_t i = 0; i < ELEMENTS; i++)
        assert_memory_equal(y + 4 * i, &want, 4);
    assert_memory_equal(bytes_at(buffers_tensor(r->set, 0)), r->staging, ELEMENTS * 4);
    assert_memory_equal(bytes_at(buffers_tensor(r->set, 1)), r->staging + 2048, ELEMENTS * 4);
    uint64_t size = 0;
    uint16_t half = (uint16_t)buffers_scratch_sentinel(SALT);
    const uint8_t *scratch = bytes_at(buffers_scratch(r->set, 0, &size));
    assert_int_equal(size, 40);
    for (size_t i = 0; i < 20; i++)
        assert_memory_equal(scratch + 2 * i, &half, 2);
    assert_true(verify(r).result == OUTCOME_OK);
}

typedef struct write_case {
    size_t buffer;  /* 0, 1 inputs, 2 output, 3 and 4 scratch */
    int64_t offset; /* from the data's start */
    outcome want;
    const char *detail, *says;
} write_case;

static const write_case writes[] = {
    {2, 0, OUTCOME_OK, "", ""},
    {2, ELEMENTS * 4 - 1, OUTCOME_OK, "", ""},
    {2, ELEMENTS * 4, OUTCOME_OUT_OF_BOUNDS, "write", "y: the byte at offset 0 past its end"},
    {2, ELEMENTS * 4 + 700, OUTCOME_OUT_OF_BOUNDS, "write", "y: the byte at offset 700 past"},
    {2, -1, OUTCOME_OUT_OF_BOUNDS, "write", "y: the byte 1 before its start"},
    {2, -4096, OUTCOME_OUT_OF_BOUNDS, "write", "y: the byte 4096 before its start"},
    {0, 17, OUTCOME_OUT_OF_BOUNDS, "input", "changed the input a"},
    {1, ELEMENTS * 4 - 1, OUTCOME_OUT_OF_BOUNDS, "input", "changed the input b"},
    {1, ELEMENTS * 4, OUTCOME_OUT_OF_BOUNDS, "write", "outside b"},
    {3, 39, OUTCOME_OK, "", ""},
    {3, 40, OUTCOME_OUT_OF_BOUNDS, "write", "outside scratch 0"},
    {4, 0, OUTCOME_OUT_OF_BOUNDS, "write", "outside scratch 1"},
};

static void every_stray_byte_is_seen_and_named(void **state)
{
    rig *r = *state;
    for (size_t i = 0; i < sizeof writes / sizeof *writes; i++) {
        uint64_t at = writes[i].buffer < 3 ? buffers_tensor(r->set, writes[i].buffer)
                                           : buffers_scratch(r->set, writes[i].buffer - 3, NULL);
        uint8_t *byte = bytes_at(at) + writes[i].offset;
        *byte ^= 0x01;
        runner_verdict v = verify(r);
        *byte ^= 0x01;
        assert_int_equal(v.result, writes[i].want);
        assert_string_equal(v.detail, writes[i].detail);
        if (strstr(v.text, writes[i].says) == NULL)
            fail_msg("case %zu: \"%s\" lacks \"%s\"", i, v.text, writes[i].says);
    }
    assert_true(verify(r).result == OUTCOME_OK);
}

static void swapped_input_elements_are_seen(void **state)
{
    rig *r = *state;
    float *a = (float *)(void *)bytes_at(buffers_tensor(r->set, 0));
    float kept = a[3];
    a[3] = a[4];
    a[4] = kept;
    assert_string_equal(verify(r).detail, "input");
}

static void outputs_go_back_to_staging(void **state)
{
    rig *r = *state;
    float *y = (float *)(void *)bytes_at(buffers_tensor(r->set, 2));
    for (size_t i = 0; i < ELEMENTS; i++)
        y[i] = -(float)i;
    struct row_span out = {.offset = 4, .bytes = ELEMENTS * 4};
    assert_int_equal(buffers_export(r->set, (uint64_t)(uintptr_t)r->staging, &out, NULL), 0);
    assert_true(r->staging[0] >= 0.0f);
    assert_memory_equal(r->staging + 1, y, ELEMENTS * 4);
}

static void a_span_of_the_wrong_size_is_refused(void **state)
{
    rig *r = *state;
    err e = {0};
    r->spans[1].bytes--;
    assert_int_equal(buffers_import(r->set, (uint64_t)(uintptr_t)r->staging, r->spans, &e), -1);
    assert_int_equal(e.code, ERR_PROTOCOL);
    assert_non_null(strstr(e.text, "for b"));
}

/* Two buffers in one place: each ends where the place ends, and what one does past its end is seen. */
static void buffers_in_one_place_end_together(void **state)
{
    rig *r = *state;
    err e = {0};
    buffers_destroy(&r->set);
    r->steps.scratch[1] = (plan_life){.bytes = 5000, .place = 0, .inherits = true};
    r->steps.place_count = 1;
    r->steps.place_bytes[0] = 5000;
    buffers_spec spec = {r->terms, &r->shape, &r->steps, SALT, false};
    r->set = buffers_create(r->device, &spec, &e);
    assert_non_null(r->set);
    assert_true(buffers_shares(r->set));
    uint64_t small_bytes = 0, large_bytes = 0;
    const uint64_t small = buffers_scratch(r->set, 0, &small_bytes);
    const uint64_t large = buffers_scratch(r->set, 1, &large_bytes);
    assert_int_equal(small_bytes, 40);
    assert_int_equal(large_bytes, 5000);
    assert_int_equal(small % BUFFERS_ALIGN, 0);
    assert_int_equal(large % BUFFERS_ALIGN, 0);
    assert_true(small >= large && small + 40 <= large + 5000 && small + 40 + 256 > large + 5000);
    gpu_fill renewal = buffers_renewal(r->set, 0);
    assert_true(renewal.at == large && renewal.width == 2 && renewal.count == 2500);
    assert_int_equal(renewal.value, buffers_scratch_sentinel(SALT));
    assert_int_equal(buffers_import(r->set, (uint64_t)(uintptr_t)r->staging, r->spans, &e), 0);
    bytes_at(small)[5000 - (small - large)] ^= 1;
    runner_verdict v = verify(r);
    assert_int_equal(v.result, OUTCOME_OUT_OF_BOUNDS);
    assert_non_null(strstr(v.text, "outside scratch 1 or a buffer in the same place"));
}

enum { PARAMETERS = 40 };

static contract *network(void)
{
    SCOPED(buf_fini) buf text;
    buf_init(&text, 65536);
    buf_puts(&text, "{\"problem\":\"net\",\"dims\":[{\"name\":\"n\",\"min\":0,\"max\":1048576}],"
                    "\"inputs\":[{\"name\":\"x\",\"dtype\":\"f32\",\"shape\":[\"n\"]}");
    for (int i = 0; i < PARAMETERS; i++)
        buf_printf(&text, ",{\"name\":\"w%d\",\"dtype\":\"f32\",\"shape\":[\"%d\"]}", i, i);
    buf_puts(&text, "],\"scalars\":[],\"outputs\":[{\"name\":\"y\",\"dtype\":\"f32\",\"shape\":"
                    "[\"n\"]}],\"reduction\":\"1\",\"values\":[\"normal\"],\"order_free\":false,"
                    "\"shapes\":[{\"n\":1}],\"benchmark\":{\"n\":100000}}");
    return contract_parse(buf_text(&text), text.size, "network", NULL);
}

/* Hundreds of parameters take one mapping: each has canary on both sides, all are protected together. */
static void small_inputs_lie_in_one_mapping(void **state)
{
    rig *r = *state;
    err e = {0};
    enum { N = 100000 };
    SCOPED(contract_destroy) contract *c = network();
    assert_non_null(c);
    contract_shape shape = {{N}};
    plan_steps none = {0};
    buffers_spec spec = {c, &shape, &none, SALT, false};
    buffers *set = buffers_create(r->device, &spec, &e);
    assert_non_null(set);
    SCOPED(scoped_free) float *staging = xcalloc(N, sizeof *staging);
    struct row_span spans[PARAMETERS + 1] = {{.offset = 0, .bytes = N * 4}};
    for (int i = 0; i < PARAMETERS; i++)
        spans[i + 1] = (struct row_span){.offset = 256 * i, .bytes = 4 * i};
    for (int i = 0; i < N; i++)
        staging[i] = (float)i;
    assert_int_equal(buffers_import(set, (uint64_t)(uintptr_t)staging, spans, &e), 0);
    for (size_t i = 1; i <= PARAMETERS; i++) {
        const uint64_t at = buffers_tensor(set, i);
        assert_int_equal(at % BUFFERS_ALIGN, 0);
        assert_memory_equal(bytes_at(at), staging + 64 * (i - 1), 4 * (i - 1));
        if (i > 1)
            assert_true(at >= buffers_tensor(set, i - 1) + 4 * (i - 2) + 2 * BUFFERS_CANARY_MIN);
    }
    assert_true(buffers_tensor(set, PARAMETERS) - buffers_tensor(set, 1) < 1 << 20);
    runner_verdict v;
    verdict_ok(&v);
    assert_int_equal(buffers_verify(set, &v, &e), 0);
    assert_true(verdict_is_ok(&v));
    uint8_t *past = bytes_at(buffers_tensor(set, 7)) + 4 * 6;
    *past ^= 1;
    assert_int_equal(buffers_verify(set, &v, &e), 0);
    assert_non_null(strstr(v.text, "outside w6"));
    *past ^= 1;
    bytes_at(buffers_tensor(set, 9))[3] ^= 1;
    verdict_ok(&v);
    assert_int_equal(buffers_verify(set, &v, &e), 0);
    assert_non_null(strstr(v.text, "changed the input w8"));
    bytes_at(buffers_tensor(set, 9))[3] ^= 1;
    assert_int_equal(buffers_protect(set, &e), 0);
    verdict_ok(&v);
    assert_int_equal(buffers_verify(set, &v, &e), 0);
    assert_true(verdict_is_ok(&v));
    buffers_destroy(&set);
}

static void poison_covers_outputs_and_scratch_only(void **state)
{
    rig *r = *state;
    gpu_fill fills[CONTRACT_TENSORS_MAX + PLAN_SCRATCH_MAX];
    assert_int_equal(buffers_poison(r->set, fills), 2); /* the empty scratch needs none */
    assert_true(fills[0].at == buffers_tensor(r->set, 2));
    assert_int_equal(fills[0].count * fills[0].width, ELEMENTS * 4);
    assert_true(fills[1].at == buffers_scratch(r->set, 0, NULL));
}

static void a_fingerprint_is_of_the_outputs_alone(void **state)
{
    rig *r = *state;
    uint64_t clean = 0, changed = 0, refilled = 0;
    assert_int_equal(buffers_fingerprint(r->set, &clean, NULL), 0);
    uint8_t *last = (uint8_t *)(uintptr_t)buffers_tensor(r->set, 2) + ELEMENTS * 4 - 1;
    last[1] ^= 1; /* canary, right behind */
    assert_int_equal(buffers_fingerprint(r->set, &changed, NULL), 0);
    assert_true(changed == clean);
    last[0] ^= 1;
    assert_int_equal(buffers_fingerprint(r->set, &changed, NULL), 0);
    assert_true(changed != clean);
    assert_int_equal(buffers_refill(r->set, NULL), 0);
    assert_int_equal(buffers_fingerprint(r->set, &refilled, NULL), 0);
    assert_true(refilled == clean);
}

int main(int argc, char **argv)
{
    (void)argc;
    mock_rig_enter(argv);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sentinels_have_the_written_values),
        cmocka_unit_test(fp_sentinels_are_nan_with_a_payload_for_every_salt),
        cmocka_unit_test(answers_are_numbers_for_every_salt),
        cmocka_unit_test(canaries_differ_by_salt_and_buffer),
        cmocka_unit_test(data_is_aligned_with_canary_on_both_sides),
        cmocka_unit_test_setup_teardown(fresh_memory_holds_sentinels_and_inputs, set_up, tear_down),
        cmocka_unit_test_setup_teardown(every_stray_byte_is_seen_and_named, set_up, tear_down),
        cmocka_unit_test_setup_teardown(swapped_input_elements_are_seen, set_up, tear_down),
        cmocka_unit_test_setup_teardown(outputs_go_back_to_staging, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_span_of_the_wrong_size_is_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(poison_covers_outputs_and_scratch_only, set_up, tear_down),
        cmocka_unit_test_setup_teardown(buffers_in_one_place_end_together, set_up, tear_down),
        cmocka_unit_test_setup_teardown(small_inputs_lie_in_one_mapping, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_fingerprint_is_of_the_outputs_alone, set_up, tear_down),
    };
    return cmocka_run_group_tests_name("buffers", tests, NULL, NULL);
}
