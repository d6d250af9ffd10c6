/* Halves against arithmetic on codes (emu_rig), exhaustively where that is possible.
 *
 * SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>

#include "agent-node/emulator/half.h"
#include "tests/unit/emulator/emu_rig.h"

enum { CODES = 0x10000, MANY = 200000, F16_MANTISSA = 10, F16_EXPONENT = 5, F16_MAX = 0x7bff };

static bool same(float x, float y)
{
    return (isnan(x) && isnan(y)) || bits_of_f32(x) == bits_of_f32(y);
}

static void every_code_widens_exactly(void **state)
{
    (void)state;
    for (uint32_t h = 0; h < CODES; h++) {
        assert_true(same(half_to_f32(h), rig_from_half((uint16_t)h)));
        assert_true(same(bf16_to_f32(h), rig_from_bf16((uint16_t)h)));
    }
}

static void every_number_comes_back(void **state)
{
    (void)state;
    for (uint32_t h = 0; h < CODES; h++) {
        const bool is_nan = (h & 0x7fffu) > 0x7c00u;
        assert_int_equal(half_from_f32(half_to_f32(h)), is_nan ? 0x7fffu : h);
        assert_int_equal(half_flush(h) == h, (h & 0x7c00u) != 0 || (h & 0x3ffu) == 0);
    }
}

/* Around every code: halfway to the next one and one f32 to each side. */
static void narrowing_takes_the_nearest_and_the_even_of_two(void **state)
{
    (void)state;
    for (uint32_t code = 0; code <= F16_MAX; code++) {
        const uint16_t h = (uint16_t)code;
        const float next = h == F16_MAX ? 65536.0f : rig_from_half((uint16_t)(h + 1));
        const float middle = (rig_from_half(h) + next) / 2;
        const float near[] = {middle, nextafterf(middle, 0.0f), nextafterf(middle, 1e6f)};
        for (unsigned i = 0; i < 3; i++) {
            assert_int_equal(half_from_f32(near[i]), rig_to_half((double)near[i]));
            assert_int_equal(half_from_f32(-near[i]), rig_to_half((double)-near[i]));
        }
    }
    for (uint32_t i = 0; i < MANY; i++) {
        const float v = f32_of_bits(rig_random(i, 3));
        assert_int_equal(half_from_f32(v), rig_to_half((double)v));
        assert_int_equal(bf16_from_f32(v), rig_to_bf16((double)v));
    }
}

static uint32_t rounded(double v, rounding how)
{
    return half_round(v, F16_MANTISSA, F16_EXPONENT, how);
}

static void directed_rounding_brackets_the_value(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < MANY; i++) {
        const double v = (double)half_to_f32(rig_random(i, 1) & 0xffffu) *
                         (1 + (double)rig_uniform(i, 2) / 1024);
        if (isnan(v) || isinf(v))
            continue;
        const double down = (double)rig_from_half((uint16_t)rounded(v, ROUND_DOWN));
        const double up = (double)rig_from_half((uint16_t)rounded(v, ROUND_UP));
        const double zero = (double)rig_from_half((uint16_t)rounded(v, ROUND_ZERO));
        assert_true(down <= v && v <= up);
        assert_true(zero == (v < 0 ? up : down));
        assert_int_equal(rounded(v, ROUND_NEAREST), rig_to_half(v));
        if (down != up && !isinf(down) && !isinf(up))
            assert_true(nextafterf((float)down, (float)up) <= (float)up);
        /* Neighbours, or the same. */
        const uint32_t a = rounded(v, ROUND_DOWN) & 0x7fffu, b = rounded(v, ROUND_UP) & 0x7fffu;
        assert_true(a == b || a + 1 == b || b + 1 == a);
    }
}

static void too_large_becomes_infinity_or_the_largest_number(void **state)
{
    (void)state;
    static const struct {
        double v;
        rounding how;
        uint32_t code;
    } rows[] = {
        {1e30, ROUND_NEAREST, 0x7c00},
        {1e30, ROUND_ZERO, 0x7bff},
        {1e30, ROUND_UP, 0x7c00},
        {1e30, ROUND_DOWN, 0x7bff},
        {-1e30, ROUND_DOWN, 0xfc00},
        {-1e30, ROUND_UP, 0xfbff},
        {65519.0, ROUND_NEAREST, 0x7bff},
        {65520.0, ROUND_NEAREST, 0x7c00},
        {(double)INFINITY, ROUND_ZERO, 0x7c00},
        {(double)NAN, ROUND_ZERO, 0x7fff},
        {-0.0, ROUND_UP, 0x8000},
        {1e-30, ROUND_UP, 1},
        {1e-30, ROUND_DOWN, 0},
        {-1e-30, ROUND_DOWN, 0x8001},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        assert_int_equal(rounded(rows[i].v, rows[i].how), rows[i].code);
}

/* s + rest, each an f32, rounds to a half as the exact sum does: through the odd neighbour. */
static void a_sum_rounds_to_a_half_once(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < MANY; i++) {
        const float s =
            rig_from_half((uint16_t)(rig_random(i, 5) % F16_MAX)) + (i % 2 == 0 ? 0.0f : 0x1p-11f);
        const float rest = rig_uniform(i, 6) * 0x1p-40f;
        if (s == 0.0f)
            continue;
        assert_int_equal(half_from_f32(half_odd(s, rest)), rig_to_half((double)s + (double)rest));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_code_widens_exactly),
        cmocka_unit_test(every_number_comes_back),
        cmocka_unit_test(narrowing_takes_the_nearest_and_the_even_of_two),
        cmocka_unit_test(directed_rounding_brackets_the_value),
        cmocka_unit_test(too_large_becomes_infinity_or_the_largest_number),
        cmocka_unit_test(a_sum_rounds_to_a_half_once),
    };
    return cmocka_run_group_tests_name("halves", tests, NULL, NULL);
}
