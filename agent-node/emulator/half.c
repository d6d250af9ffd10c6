/* half - see half.h.
 *
 * SPDX-License-Identifier: MIT */
#include "agent-node/emulator/half.h"

#include <math.h>

/* The whole number that a positive v becomes. */
static double whole(double v, bool negative, rounding how)
{
    switch (how) {
    case ROUND_ZERO:
        return floor(v);
    case ROUND_DOWN:
        return negative ? ceil(v) : floor(v);
    case ROUND_UP:
        return negative ? floor(v) : ceil(v);
    case ROUND_NEAREST_AWAY:
        return floor(v + 0.5);
    case ROUND_NEAREST:
        break;
    }
    double low = floor(v);
    double rest = v - low;
    bool up = rest > 0.5 || (rest == 0.5 && fmod(low, 2.0) != 0.0);
    return up ? low + 1.0 : low;
}

static bool reaches_infinity(bool negative, rounding how)
{
    switch (how) {
    case ROUND_ZERO:
        return false;
    case ROUND_DOWN:
        return negative;
    case ROUND_UP:
        return !negative;
    case ROUND_NEAREST:
    case ROUND_NEAREST_AWAY:
        break;
    }
    return true;
}

uint32_t half_round(double v, int mantissa, int exponent, rounding how)
{
    if (isnan(v))
        return 0x7fff;
    const bool negative = signbit(v) != 0;
    const uint32_t sign = negative ? 0x8000u : 0;
    const uint32_t infinity = ((1u << exponent) - 1) << mantissa;
    const int lowest = 2 - (1 << (exponent - 1));
    const double size = fabs(v);
    if (isinf(size))
        return sign | infinity;
    if (size == 0.0)
        return sign;
    int power = 0;
    frexp(size, &power);
    power = power - 1 > lowest ? power - 1 : lowest;
    if (power > 1 << exponent)
        power = 1 << exponent; /* far too large: any code past infinity will do */
    double units = ldexp(size, mantissa - power);
    units = units > 0x1p30 ? 0x1p30 : whole(units, negative, how);
    uint64_t code = ((uint64_t)(power - lowest) << mantissa) + (uint64_t)units;
    if (code >= infinity)
        return sign | (reaches_infinity(negative, how) ? infinity : infinity - 1);
    return sign | (uint32_t)code;
}
