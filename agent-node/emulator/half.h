/* half - conversions of f16 and bf16
 *
 * Purpose:   exact widening and correctly rounded narrowing, in forms that vectorise where the nearest
 *            value is wanted, and one general form for every rounding.
 * Ownership: values.
 * Threads:   safe.
 * Errors:    none. NaN narrows to 0x7fff, as the hardware does.
 *
 * Private to agent-node/emulator.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_EMULATOR_HALF_H
#define CE_EMULATOR_HALF_H

#include "agent-node/emulator/lanes.h"

static inline float half_to_f32(uint32_t h)
{
    const uint32_t magnitude = (h & 0x7fffu) << 13;
    const bool special = (h & 0x7c00u) == 0x7c00u;
    /* Read as an f32 the exponent is 112 too low, subnormals included. */
    const uint32_t scaled = bits_of_f32(f32_of_bits(magnitude) * 0x1p112f);
    return f32_of_bits((special ? magnitude | 0x7f800000u : scaled) | (h & 0x8000u) << 16);
}

static inline uint32_t half_flush(uint32_t h)
{
    return (h & 0x7c00u) == 0 ? h & 0x8000u : h;
}

static inline float half_flush_to_f32(uint32_t h)
{
    return half_to_f32(half_flush(h));
}

/* half_from_f32 rounds to nearest, ties to even. */
static inline uint32_t half_from_f32(float v)
{
    const uint32_t bits = bits_of_f32(v);
    const uint32_t magnitude = bits & 0x7fffffffu;
    const uint32_t sign = bits >> 16 & 0x8000u;
    /* Normal: round at bit 13, then lower the exponent by 112. */
    const uint32_t normal = (magnitude + 0xfffu + (magnitude >> 13 & 1) - (112u << 23)) >> 13;
    /* Subnormal: 0.5 has units of 2^-24, so that the addition rounds to them. */
    const uint32_t small = bits_of_f32(f32_of_bits(magnitude) + 0.5f) - 0x3f000000u;
    uint32_t r = magnitude < 0x38800000u ? small : normal;
    r = magnitude >= 0x477ff000u ? 0x7c00u : r;
    return magnitude > 0x7f800000u ? 0x7fffu : r | sign;
}

static inline float bf16_to_f32(uint32_t b)
{
    return f32_of_bits(b << 16);
}

static inline uint32_t bf16_from_f32(float v)
{
    const uint32_t bits = bits_of_f32(v);
    const uint32_t r = (bits + 0x7fffu + (bits >> 16 & 1)) >> 16;
    return (bits & 0x7fffffffu) > 0x7f800000u ? 0x7fffu : r;
}

/* half_odd gives the f32 nearest to s + rest that rounds to a half as s + rest does: of the two
 * neighbours the one with an odd last bit, unless s is exact. |rest| is below a unit of s. */
static inline float half_odd(float s, float rest)
{
    const uint32_t bits = bits_of_f32(s);
    const bool inexact = (rest < 0.0f) | (rest > 0.0f);
    const bool outwards = (rest > 0.0f) == (s > 0.0f);
    const uint32_t odd = (outwards ? bits : bits - 1) | 1;
    const bool finite = s - s == 0.0f;
    return f32_of_bits((inexact & finite) ? odd : bits);
}

/* half_round narrows exactly given values in any way; mantissa bits 10 and 5 exponent bits make f16,
 * 7 and 8 bf16. */
uint32_t half_round(double v, int mantissa, int exponent, rounding how);

#endif
