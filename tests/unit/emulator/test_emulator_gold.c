/* The eight gold kernels on the emulator, at shapes with tails, against plain C; none has a finding.
 *
 * Modules: emulator grid block warp memory
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

#include "common/scoped.h"
#include "common/xalloc.h"
#include "tests/unit/emulator/emu_rig.h"

static emu_module *gold(const char *problem)
{
    SCOPED(scoped_free) char *path = xasprintf("suites/internal/%s/gold.cu", problem);
    SCOPED(scoped_free) char *source = rig_source(path);
    return rig_module(source);
}

static void fill_f32(float *x, size_t count, uint32_t seed)
{
    for (size_t i = 0; i < count; i++)
        x[i] = rig_uniform((uint32_t)i, seed) * 3.0f;
}

static void fill_half(uint16_t *x, size_t count, uint32_t seed)
{
    for (size_t i = 0; i < count; i++)
        x[i] = rig_to_half((double)(rig_uniform((uint32_t)i, seed) * 3.0f));
}

static void fill_bf16(uint16_t *x, size_t count, uint32_t seed)
{
    for (size_t i = 0; i < count; i++)
        x[i] = rig_to_bf16((double)(rig_uniform((uint32_t)i, seed) * 3.0f));
}

/* Within some units of a half (or bf16) of the right value. */
static void expect_near(double is, double should, double relative, size_t at)
{
    const double allowed = relative * fabs(should) + 1e-6;
    if (!(fabs(is - should) <= allowed))
        fail_msg("element %zu is %.9g, should be %.9g", at, is, should);
}

static const size_t shapes[][2] = {{1, 1},    {3, 7},    {2, 256}, {2, 1000},
                                   {1, 4096}, {2, 8192}, {1, 8193}};
enum { SHAPES = sizeof shapes / sizeof *shapes };

/* ---- vectors ---- */

static void vector_add_is_exact(void **state)
{
    (void)state;
    static const size_t sizes[] = {1, 255, 2048, 2049, 10000};
    SCOPED(emu_module_destroy) emu_module *m = gold("vector_add_fp32");
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        const size_t n = sizes[s];
        SCOPED(emu_rig_fini) emu_rig rig;
        emu_rig_init(&rig);
        float *a = rig_buffer(&rig, "a", RIG_INPUT, 4, n),
              *b = rig_buffer(&rig, "b", RIG_INPUT, 4, n);
        float *y = rig_buffer(&rig, "y", RIG_OUTPUT, 4, n);
        fill_f32(a, n, 1);
        fill_f32(b, n, 2);
        rig_i64(&rig, (int64_t)n);
        rig_launch(&rig, m, "vector_add", (uint32_t)((n + 2047) / 2048), 256);
        rig_expect_clean(&rig);
        for (size_t i = 0; i < n; i++)
            assert_true(y[i] == a[i] + b[i]);
    }
}

static void sum_reduction_sums(void **state)
{
    (void)state;
    static const size_t sizes[] = {1, 3, 4096, 4099, 50000};
    SCOPED(emu_module_destroy) emu_module *m = gold("sum_reduction_fp32");
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        const size_t n = sizes[s];
        const uint32_t blocks = (uint32_t)((n + 4095) / 4096);
        SCOPED(emu_rig_fini) emu_rig rig;
        emu_rig_init(&rig);
        float *x = rig_buffer(&rig, "x", RIG_INPUT, 4, n);
        float *parts = rig_buffer(&rig, "parts", RIG_OUTPUT, 4, blocks);
        double sum = 0;
        fill_f32(x, n, 3);
        for (size_t i = 0; i < n; i++)
            sum += (double)x[i];
        rig_i64(&rig, (int64_t)n);
        rig_launch(&rig, m, "sum_parts", blocks, 256);
        rig_expect_clean(&rig);
        rig_forget_args(&rig);
        rig_pointer(&rig, parts);
        const float *y = rig_buffer(&rig, "y", RIG_OUTPUT, 4, 1);
        rig_i32(&rig, (int32_t)blocks);
        rig_launch(&rig, m, "sum_total", 1, 256);
        rig_expect_clean(&rig);
        expect_near((double)*y, sum, 1e-4, 0);
    }
}

static void silu_is_close(void **state)
{
    (void)state;
    static const size_t sizes[] = {1, 4095, 4096, 9001};
    SCOPED(emu_module_destroy) emu_module *m = gold("silu_fp16");
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        const size_t n = sizes[s];
        SCOPED(emu_rig_fini) emu_rig rig;
        emu_rig_init(&rig);
        uint16_t *x = rig_buffer(&rig, "x", RIG_INPUT, 2, n);
        const uint16_t *y = rig_buffer(&rig, "y", RIG_OUTPUT, 2, n);
        fill_half(x, n, 4);
        rig_i64(&rig, (int64_t)n);
        rig_launch(&rig, m, "silu", (uint32_t)((n + 4095) / 4096), 256);
        rig_expect_clean(&rig);
        for (size_t i = 0; i < n; i++) {
            const double v = (double)rig_from_half(x[i]);
            expect_near((double)rig_from_half(y[i]), v / (1 + exp(-v)), 0.001, i);
        }
    }
}

/* ---- rows ---- */

static const char *by_width(size_t cols, const char *small, const char *large, const char *any)
{
    return cols % 8 != 0 ? any : cols <= 4096 ? small : cols <= 8192 ? large : any;
}

static void softmax_is_close(void **state)
{
    (void)state;
    SCOPED(emu_module_destroy) emu_module *m = gold("softmax_lastdim_fp16");
    for (size_t s = 0; s < SHAPES; s++) {
        const size_t rows = shapes[s][0], cols = shapes[s][1];
        SCOPED(emu_rig_fini) emu_rig rig;
        emu_rig_init(&rig);
        uint16_t *x = rig_buffer(&rig, "x", RIG_INPUT, 2, rows * cols);
        const uint16_t *y = rig_buffer(&rig, "y", RIG_OUTPUT, 2, rows * cols);
        fill_half(x, rows * cols, 5);
        rig_i32(&rig, (int32_t)cols);
        rig_launch(&rig, m, by_width(cols, "softmax_4096", "softmax_8192", "softmax_any"),
                   (uint32_t)rows, 256);
        rig_expect_clean(&rig);
        for (size_t r = 0; r < rows; r++) {
            double sum = 0;
            for (size_t c = 0; c < cols; c++)
                sum += exp((double)rig_from_half(x[r * cols + c]));
            for (size_t c = 0; c < cols; c++)
                expect_near((double)rig_from_half(y[r * cols + c]),
                            exp((double)rig_from_half(x[r * cols + c])) / sum, 0.002, r * cols + c);
        }
    }
}

static void rms_norm_is_close(void **state)
{
    (void)state;
    SCOPED(emu_module_destroy) emu_module *m = gold("rms_norm_fp16");
    for (size_t s = 0; s < SHAPES; s++) {
        const size_t rows = shapes[s][0], cols = shapes[s][1];
        SCOPED(emu_rig_fini) emu_rig rig;
        emu_rig_init(&rig);
        uint16_t *x = rig_buffer(&rig, "x", RIG_INPUT, 2, rows * cols);
        uint16_t *weight = rig_buffer(&rig, "weight", RIG_INPUT, 2, cols);
        const uint16_t *y = rig_buffer(&rig, "y", RIG_OUTPUT, 2, rows * cols);
        fill_half(x, rows * cols, 6);
        fill_half(weight, cols, 7);
        rig_i32(&rig, (int32_t)cols);
        rig_f32(&rig, 1e-5f);
        rig_launch(&rig, m, by_width(cols, "rms_norm_4096", "rms_norm_8192", "rms_norm_any"),
                   (uint32_t)rows, 256);
        rig_expect_clean(&rig);
        for (size_t i = 0; i < rows * cols; i++) {
            double squares = 0;
            for (size_t c = 0; c < cols; c++)
                squares += pow((double)rig_from_half(x[i / cols * cols + c]), 2);
            expect_near((double)rig_from_half(y[i]),
                        (double)rig_from_half(x[i]) / sqrt(squares / (double)cols + 1e-5) *
                            (double)rig_from_half(weight[i % cols]),
                        0.001, i);
            i += cols > 1000 ? 97 : 0; /* a sample is enough for long rows */
        }
    }
}

static void expect_layernorm(const uint16_t *x, const uint16_t *w, const uint16_t *b,
                             const uint16_t *y, size_t rows, size_t cols)
{
    for (size_t r = 0; r < rows; r++) {
        double mean = 0, spread = 0;
        for (size_t c = 0; c < cols; c++)
            mean += (double)rig_from_bf16(x[r * cols + c]) / (double)cols;
        for (size_t c = 0; c < cols; c++)
            spread += pow((double)rig_from_bf16(x[r * cols + c]) - mean, 2) / (double)cols;
        for (size_t c = 0; c < cols; c++) {
            const double v = ((double)rig_from_bf16(x[r * cols + c]) - mean) / sqrt(spread + 1e-5);
            const double should = v * (double)rig_from_bf16(w[c]) + (double)rig_from_bf16(b[c]);
            /* The sum may cancel: an error of the product's size is allowed. */
            const double slack = 0.005 * (1 + fabs(v * (double)rig_from_bf16(w[c])) + fabs(should));
            if (!(fabs((double)rig_from_bf16(y[r * cols + c]) - should) <= slack))
                fail_msg("row %zu column %zu is %g, should be %g", r, c,
                         (double)rig_from_bf16(y[r * cols + c]), should);
        }
    }
}

static void layernorm_is_close(void **state)
{
    (void)state;
    SCOPED(emu_module_destroy) emu_module *m = gold("layernorm_bf16");
    for (size_t s = 0; s < SHAPES; s++) {
        const size_t rows = shapes[s][0], cols = shapes[s][1];
        SCOPED(emu_rig_fini) emu_rig rig;
        emu_rig_init(&rig);
        uint16_t *x = rig_buffer(&rig, "x", RIG_INPUT, 2, rows * cols);
        uint16_t *w = rig_buffer(&rig, "weight", RIG_INPUT, 2, cols);
        uint16_t *b = rig_buffer(&rig, "bias", RIG_INPUT, 2, cols);
        const uint16_t *y = rig_buffer(&rig, "y", RIG_OUTPUT, 2, rows * cols);
        fill_bf16(x, rows * cols, 8);
        fill_bf16(w, cols, 9);
        fill_bf16(b, cols, 10);
        rig_i32(&rig, (int32_t)cols);
        rig_f32(&rig, 1e-5f);
        rig_launch(&rig, m, by_width(cols, "layernorm_4096", "layernorm_8192", "layernorm_any"),
                   (uint32_t)rows, 256);
        rig_expect_clean(&rig);
        expect_layernorm(x, w, b, y, rows, cols);
    }
}

static void argmax_is_exact(void **state)
{
    (void)state;
    SCOPED(emu_module_destroy) emu_module *m = gold("argmax_fp32");
    for (size_t s = 0; s < SHAPES; s++) {
        const size_t rows = shapes[s][0], cols = shapes[s][1];
        SCOPED(emu_rig_fini) emu_rig rig;
        emu_rig_init(&rig);
        float *x = rig_buffer(&rig, "x", RIG_INPUT, 4, rows * cols);
        const int64_t *y = rig_buffer(&rig, "y", RIG_OUTPUT, 8, rows);
        fill_f32(x, rows * cols, 11);
        for (size_t i = 0; i < rows * cols; i++)
            x[i] = floorf(x[i] * 4); /* ties */
        rig_i32(&rig, (int32_t)cols);
        rig_launch(&rig, m, cols % 4 == 0 ? "argmax_vec" : "argmax_any", (uint32_t)rows, 256);
        rig_expect_clean(&rig);
        for (size_t r = 0; r < rows; r++) {
            size_t best = 0;
            for (size_t c = 0; c < cols; c++)
                best = x[r * cols + c] > x[r * cols + best] ? c : best;
            assert_int_equal(y[r], best);
        }
    }
}

static void cumsum_is_close(void **state)
{
    (void)state;
    SCOPED(emu_module_destroy) emu_module *m = gold("cumsum_lastdim_fp32");
    for (size_t s = 0; s < SHAPES; s++) {
        const size_t rows = shapes[s][0], cols = shapes[s][1];
        SCOPED(emu_rig_fini) emu_rig rig;
        emu_rig_init(&rig);
        float *x = rig_buffer(&rig, "x", RIG_INPUT, 4, rows * cols);
        const float *y = rig_buffer(&rig, "y", RIG_OUTPUT, 4, rows * cols);
        fill_f32(x, rows * cols, 12);
        rig_i32(&rig, (int32_t)cols);
        rig_launch(&rig, m, cols % 4 == 0 ? "cumsum_vec" : "cumsum_any", (uint32_t)rows, 256);
        rig_expect_clean(&rig);
        double sum = 0;
        for (size_t i = 0; i < rows * cols; i++) {
            sum = (i % cols == 0 ? 0 : sum) + (double)x[i];
            if (!(fabs((double)y[i] - sum) <= 1e-3))
                fail_msg("element %zu is %g, should be %g", i, (double)y[i], sum);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(vector_add_is_exact), cmocka_unit_test(sum_reduction_sums),
        cmocka_unit_test(silu_is_close),       cmocka_unit_test(softmax_is_close),
        cmocka_unit_test(rms_norm_is_close),   cmocka_unit_test(layernorm_is_close),
        cmocka_unit_test(argmax_is_exact),     cmocka_unit_test(cumsum_is_close),
    };
    if (!rig_have_nvrtc())
        return 77;
    return cmocka_run_group_tests_name("gold kernels on the emulator", tests, NULL, NULL);
}
