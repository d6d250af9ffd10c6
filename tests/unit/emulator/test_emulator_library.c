/* CUDA's own functions, compiled to PTX and run on the emulator, against the C library's.
 *
 * Modules: lanes load flow decode
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
#include "tests/unit/emulator/emu_rig.h"

enum { N = 500, ROWS_MAX = 32 };

typedef double function(double x);

typedef struct row {
    const char *name;
    function *right;
    double relative; /* allowed error */
} row;

/* f32 results: 2^-21 of the value is eight units in the last place; CUDA promises no worse than four for
 * nearly all. */
#define ULPS 0x1p-21

/* The quotient of integers, cut towards zero, is what the device function gives. */
static int64_t quotient(int64_t a, int64_t b)
{
    return a / b;
}

#define ROW(name, expr)                  \
    static double right_##name(double x) \
    {                                    \
        return expr;                     \
    }

ROW(sin, sin(x))
ROW(cos, cos(x))
ROW(tan, tan(x))
ROW(atan, atan(x))
ROW(sinh, sinh(x))
ROW(cosh, cosh(x))
ROW(tanh, tanh(x))
ROW(exp, exp(x))
ROW(exp2, exp2(x))
ROW(exp10, pow(10, x))
ROW(expm1, expm1(x))
ROW(cbrt, cbrt(x))
ROW(erf, erf(x))
ROW(erfc, erfc(x))
ROW(floor, floor(x))
ROW(ceil, ceil(x))
ROW(trunc, trunc(x))
ROW(round, round(x))
ROW(rint, nearbyint(x))
ROW(fabs, fabs(x))
ROW(atan2, atan2(x, 1.5))
ROW(hypot, hypot(x, 2))
ROW(fmod, fmod(x, 0.75))
ROW(copysign, copysign(2, x))
ROW(third, x / 3)
ROW(pow, pow(fabs(x), (double)1.7f))
ROW(fdim, fdim(x, 0.5))
ROW(sinpi, sin(x * 3.14159265358979323846))
ROW(normcdf, 0.5 * erfc(-x / sqrt(2.0)))

static const row singles[] = {
    {"sinf", right_sin, ULPS},
    {"cosf", right_cos, ULPS},
    {"tanf", right_tan, ULPS},
    {"atanf", right_atan, ULPS},
    {"sinhf", right_sinh, ULPS},
    {"coshf", right_cosh, ULPS},
    {"tanhf", right_tanh, ULPS},
    {"expf", right_exp, ULPS},
    {"exp2f", right_exp2, ULPS},
    {"exp10f", right_exp10, ULPS},
    {"expm1f", right_expm1, ULPS},
    {"cbrtf", right_cbrt, ULPS},
    {"erff", right_erf, ULPS},
    {"erfcf", right_erfc, ULPS},
    {"floorf", right_floor, 0},
    {"ceilf", right_ceil, 0},
    {"truncf", right_trunc, 0},
    {"roundf", right_round, 0},
    {"rintf", right_rint, 0},
    {"fabsf", right_fabs, 0},
    {"atan2f", right_atan2, ULPS},
    {"hypotf", right_hypot, ULPS},
    {"fmodf", right_fmod, 0},
    {"copysignf", right_copysign, 0},
    {"x / 3", right_third, 0x1p-24},
    {"powf", right_pow, 2 * ULPS},
    {"fdimf", right_fdim, 0x1p-24},
    {"sinpif", right_sinpi, ULPS},
    {"normcdff", right_normcdf, 2 * ULPS},
};

ROW(log, log(x))
ROW(log2, log2(x))
ROW(log10, log10(x))
ROW(log1p, log1p(x))
ROW(sqrt, sqrt(x))
ROW(rsqrt, 1 / sqrt(x))
ROW(rcp, 1 / x)
ROW(pow25, pow(x, 2.5))
ROW(lgamma, lgamma(x))
ROW(tgamma, tgamma(x))
ROW(times8, x * 8)
ROW(logb, logb(x))
ROW(acosh, acosh((double)((float)x + 1.0f)))
ROW(asinh, asinh(x))
ROW(next, (double)nextafterf((float)x, 9e9f))

static const row positives[] = {
    {"logf", right_log, ULPS},           {"log2f", right_log2, ULPS},
    {"log10f", right_log10, ULPS},       {"log1pf", right_log1p, ULPS},
    {"sqrtf", right_sqrt, 0x1p-24},      {"rsqrtf", right_rsqrt, ULPS},
    {"1 / x", right_rcp, 0x1p-24},       {"powf", right_pow25, 2 * ULPS},
    {"lgammaf", right_lgamma, 2 * ULPS}, {"tgammaf", right_tgamma, 2 * ULPS},
    {"ldexpf", right_times8, 0},         {"logbf", right_logb, 0},
    {"acoshf", right_acosh, ULPS},       {"asinhf", right_asinh, ULPS},
    {"__fdividef", right_third, ULPS},   {"__frcp_rn", right_rcp, 0x1p-24},
    {"__fsqrt_rz", right_sqrt, 0x1p-23}, {"nextafterf", right_next, 0},
};

#define DIGITS 0x1p-49
ROW(log_shift, log(fabs(x) + 0.01))
ROW(sqrt_abs, sqrt(fabs(x)))
ROW(rcp_shift, 1 / (x + 20))
ROW(seventh, x / 7)
ROW(pow13, pow(fabs(x), 1.3))
ROW(fma, fma(x, x, 1))
ROW(rsqrt_shift, 1 / sqrt(fabs(x) + 0.5))
ROW(thousands, trunc(x * 1000))
ROW(millions, trunc(fabs(x) * 1e6))
ROW(single, (double)(float)x)

static const row doubles[] = {
    {"sin", right_sin, DIGITS},
    {"cos", right_cos, DIGITS},
    {"exp", right_exp, DIGITS},
    {"expm1", right_expm1, DIGITS},
    {"tanh", right_tanh, DIGITS},
    {"atan", right_atan, DIGITS},
    {"erf", right_erf, DIGITS},
    {"log", right_log_shift, DIGITS},
    {"sqrt", right_sqrt_abs, 0},
    {"1 / x", right_rcp_shift, 0},
    {"x / 7", right_seventh, 0},
    {"pow", right_pow13, DIGITS},
    {"floor", right_floor, 0},
    {"rint", right_rint, 0},
    {"cbrt", right_cbrt, DIGITS},
    {"fma", right_fma, 0},
    {"rsqrt", right_rsqrt_shift, DIGITS},
    {"long long", right_thousands, 0},
    {"unsigned", right_millions, 0},
    {"float", right_single, 0},
};

ROW(far_sin, sin((double)((float)x * 1e6f)))
ROW(far_cos, cos((double)((float)x * 1e7f)))
ROW(far_tan, tan((double)((float)x * 3e5f)))

static const row far_rows[] = {
    {"sinf far", right_far_sin, ULPS},
    {"cosf far", right_far_cos, ULPS},
    {"tanf far", right_far_tan, 2 * ULPS},
};

/* ---- running ---- */

static emu_module *module;

static int compile_all(void **state)
{
    (void)state;
    SCOPED(scoped_free) char *source = rig_source("tests/data/emu/library.cu");
    module = rig_module(source);
    return 0;
}

static int free_all(void **state)
{
    (void)state;
    emu_module_destroy(&module);
    return 0;
}

static size_t compare(const row *r, const double *in, const double *out)
{
    for (int i = 0; i < N; i++) {
        const double should = r->right(in[i]);
        const double allowed = r->relative * fabs(should) + (r->relative > 0 ? 1e-12 : 0);
        if (fabs(out[i] - should) <= allowed)
            continue;
        print_error("%s(%.9g) gives %.17g, should be %.17g\n", r->name, in[i], out[i], should);
        return 1;
    }
    return 0;
}

static void run_f32(const char *kernel, const row *rows, size_t count, float low, float high)
{
    double in[N], out[N];
    size_t wrong = 0;
    SCOPED(emu_rig_fini) emu_rig rig;
    emu_rig_init(&rig);
    float *x = rig_buffer(&rig, "in", RIG_INPUT, 4, N);
    const float *y = rig_buffer(&rig, "out", RIG_OUTPUT, 4, N * ROWS_MAX);
    for (int i = 0; i < N; i++) {
        x[i] = low + (high - low) * (0.5f + 0.5f * rig_uniform((uint32_t)i, 3));
        in[i] = (double)x[i];
    }
    rig_i32(&rig, N);
    rig_launch(&rig, module, kernel, 4, 128);
    rig_expect_clean(&rig);
    for (size_t k = 0; k < count; k++) {
        for (int i = 0; i < N; i++)
            out[i] = (double)y[k * N + (size_t)i];
        wrong += compare(&rows[k], in, out);
    }
    assert_int_equal(wrong, 0);
}

#define COUNT(rows) (sizeof(rows) / sizeof *(rows))

static void functions_of_floats(void **state)
{
    (void)state;
    run_f32("singles", singles, COUNT(singles), -8.0f, 8.0f);
}

static void functions_of_positive_floats(void **state)
{
    (void)state;
    run_f32("positives", positives, COUNT(positives), 0.001f, 25.0f);
}

static void large_arguments_of_sine(void **state)
{
    (void)state;
    run_f32("far", far_rows, COUNT(far_rows), -50.0f, 50.0f);
}

static void functions_of_doubles(void **state)
{
    (void)state;
    size_t wrong = 0;
    SCOPED(emu_rig_fini) emu_rig rig;
    emu_rig_init(&rig);
    double *x = rig_buffer(&rig, "in", RIG_INPUT, 8, N);
    const double *y = rig_buffer(&rig, "out", RIG_OUTPUT, 8, N * ROWS_MAX);
    for (int i = 0; i < N; i++)
        x[i] =
            10.0 * (double)rig_uniform((uint32_t)i, 4) + 1e-9 * (double)rig_uniform((uint32_t)i, 5);
    rig_i32(&rig, N);
    rig_launch(&rig, module, "doubles", 4, 128);
    rig_expect_clean(&rig);
    for (size_t k = 0; k < COUNT(doubles); k++)
        wrong += compare(&doubles[k], x, y + k * N);
    assert_int_equal(wrong, 0);
}

/* ---- halves and integers: right values by formula ---- */

static double h(double v)
{
    return (double)rig_from_half(rig_to_half(v));
}

static double b(double v)
{
    return (double)rig_from_bf16(rig_to_bf16(v));
}

ROW(hexp, exp(h(x)))
ROW(hsin, sin(h(x)))
ROW(hrcp, 1 / h(h(x) + 20))
ROW(hsqrt, sqrt(fabs(h(x))))
ROW(hfma, h(h(x) * h(x) + h(x)))
ROW(hdiv, h(h(x) / 3))
ROW(hmul2, h(h((double)((float)x + 1.0f)) * h((double)((float)x + 1.0f))))
ROW(hadd2, h(h(x) + h(x)))
ROW(hmax, fmax(h(x), 0.25))
ROW(hlt, h(x) < 0 ? 1 : 0)
ROW(h2exp2, exp2(h((double)((float)x + 1.0f))))
ROW(badd, b(b(x) + b(x)))
ROW(bmul, b(b(x) * b(x)))
ROW(bfma, b(b(x) * b(x) + b(x)))
ROW(bexp, exp(b(x)))
ROW(half_int, nearbyint(h(x)))
ROW(int_half, h(trunc(x)))
ROW(hfloor, floor(h(x)))

static const row halves[] = {
    {"hexp", right_hexp, 0x1p-10},
    {"hsin", right_hsin, 0x1p-10},
    {"hrcp", right_hrcp, 0x1p-10},
    {"hsqrt", right_hsqrt, 0x1p-10},
    {"__hfma", right_hfma, 0},
    {"__hdiv", right_hdiv, 0x1p-10},
    {"__hmul2", right_hmul2, 0},
    {"__hadd2", right_hadd2, 0},
    {"__hmax", right_hmax, 0},
    {"__hlt", right_hlt, 0},
    {"h2exp2", right_h2exp2, 0x1p-9},
    {"bf16 __hadd", right_badd, 0},
    {"bf16 __hmul", right_bmul, 0},
    {"bf16 __hfma", right_bfma, 0},
    {"bf16 hexp", right_bexp, 0x1p-7},
    {"__half2int_rn", right_half_int, 0},
    {"__int2half_rn", right_int_half, 0},
    {"hfloor", right_hfloor, 0},
};

static void functions_of_halves(void **state)
{
    (void)state;
    run_f32("halves", halves, COUNT(halves), -6.0f, 6.0f);
}

/* The kernel's integers. */
static int v_of(double x)
{
    return (int)((float)x * 100000.0f);
}

static uint32_t u_of(double x)
{
    return (uint32_t)v_of(x) * 2654435761u;
}

static int64_t w_of(double x)
{
    return (int64_t)v_of(x) * 1234567891ll;
}

static uint32_t reversed(uint32_t u)
{
    uint32_t r = 0;
    for (int i = 0; i < 32; i++)
        r |= (u >> i & 1) << (31 - i);
    return r;
}

static int dot(int a, int c, int sum)
{
    for (int i = 0; i < 4; i++)
        sum += (int8_t)(a >> (8 * i)) * (int8_t)(c >> (8 * i));
    return sum;
}

__extension__ typedef __int128 wide;

ROW(popc, __builtin_popcount(u_of(x)))
ROW(clz, (u_of(x) >> 3) == 0 ? 32 : __builtin_clz(u_of(x) >> 3))
ROW(ffs, __builtin_ffs(v_of(x)))
ROW(brev, (double)(reversed(u_of(x)) >> 16))
ROW(umulhi, (double)(float)(((uint64_t)u_of(x) * u_of(x) >> 32) >> 12))
ROW(mulhi, (double)(((int64_t)(int32_t)((uint32_t)v_of(x) * 4099u) *
                         (int32_t)((uint32_t)v_of(x) * 4099u) >>
                     32) &
                    0xffff))
ROW(perm, (double)((u_of(x) & 0xff) | ((uint32_t)v_of(x) & 0xff) << 8))
ROW(funnel, (double)(((uint32_t)v_of(x) << 7 | u_of(x) >> 25) & 0xffff))
ROW(div7, (double)quotient(v_of(x), 7))
ROW(rem7, v_of(x) % 7)
ROW(urem, (double)(u_of(x) % 1000u))
ROW(wdiv, (double)(float)quotient(w_of(x), 1000003))
ROW(wrem, (double)(w_of(x) % 1009))
ROW(mul64hi, (double)((uint64_t)((wide)w_of(x) * w_of(x) >> 64) & 0xffff))
ROW(dp4a, dot(v_of(x), (int)u_of(x), 3))
ROW(abs, abs(v_of(x)))
ROW(min, v_of(x) < 77 ? v_of(x) : 77)
ROW(sad, abs(v_of(x) - 5) + 1)
ROW(popcll, __builtin_popcountll((uint64_t)w_of(x)))
ROW(clzll, __builtin_clzll((uint64_t)(w_of(x) | 1)))
ROW(hadd, (v_of(x) + 9) >> 1)
ROW(shifts, (double)((u_of(x) >> 5) & (u_of(x) << 3) & 0xffff))
ROW(mul24, (v_of(x) & 0xfff) * 37)

static const row integers[] = {
    {"__popc", right_popc, 0},      {"__clz", right_clz, 0},
    {"__ffs", right_ffs, 0},        {"__brev", right_brev, 0},
    {"__umulhi", right_umulhi, 0},  {"__mulhi", right_mulhi, 0},
    {"__byte_perm", right_perm, 0}, {"__funnelshift_l", right_funnel, 0},
    {"v / 7", right_div7, 0},       {"v % 7", right_rem7, 0},
    {"u % 1000", right_urem, 0},    {"w / 1000003", right_wdiv, 0},
    {"w % 1009", right_wrem, 0},    {"__mul64hi", right_mul64hi, 0},
    {"__dp4a", right_dp4a, 0},      {"abs", right_abs, 0},
    {"min", right_min, 0},          {"__sad", right_sad, 0},
    {"__popcll", right_popcll, 0},  {"__clzll", right_clzll, 0},
    {"__hadd", right_hadd, 0},      {"shifts", right_shifts, 0},
    {"__mul24", right_mul24, 0},
};

static void functions_of_integers(void **state)
{
    (void)state;
    run_f32("integers", integers, COUNT(integers), -90.0f, 90.0f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(functions_of_floats),     cmocka_unit_test(functions_of_positive_floats),
        cmocka_unit_test(large_arguments_of_sine), cmocka_unit_test(functions_of_doubles),
        cmocka_unit_test(functions_of_halves),     cmocka_unit_test(functions_of_integers),
    };
    if (!rig_have_nvrtc())
        return 77;
    return cmocka_run_group_tests_name("CUDA's library on the emulator", tests, compile_all,
                                       free_all);
}
