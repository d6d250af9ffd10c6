/* decimal - a double as text, quickly
 *
 * A number m · 2^-s with m of 53 bits, moved left by k decimal places, is m · 10^k / 2^s. From 10^-4 up to
 * 10^15 the numerator has less than 128 bits, so rounding to so many digits is exact integer arithmetic,
 * and so is the question whether a rounded number reads back: it must lie within half a unit of m, which
 * in these terms is 10^k. Anything else is left to printf and strtod.
 *
 * SPDX-License-Identifier: MIT */
#include "common/decimal.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

__extension__ typedef unsigned __int128 wide;

enum { MANTISSA_BITS = 53, SHORTEST = 15 };

static const uint64_t powers[] = {1,
                                  10,
                                  100,
                                  1000,
                                  10000,
                                  100000,
                                  1000000,
                                  10000000,
                                  100000000,
                                  1000000000,
                                  10000000000,
                                  100000000000,
                                  1000000000000,
                                  10000000000000,
                                  100000000000000,
                                  1000000000000000,
                                  10000000000000000,
                                  100000000000000000,
                                  1000000000000000000};
enum { POWERS = sizeof powers / sizeof powers[0] };

/* |value| = mantissa · 2^-shift, with its decimal exponent. */
typedef struct parts {
    uint64_t mantissa;
    int shift, exponent;
} parts;

/* digits · 10^(exponent + 1 - how many), as %e would show them. */
typedef struct rounded {
    uint64_t digits;
    int exponent;
    bool reads_back;
} rounded;

static wide power(int places)
{
    const int over = places < POWERS ? 0 : places - (POWERS - 1);
    return (wide)powers[places - over] * powers[over];
}

/* log10 may have been off by one at a power of ten. */
static void mend_exponent(parts *p)
{
    const int places = DECIMAL_DIGITS_MAX - 1 - p->exponent;
    const wide whole = (p->mantissa * power(places)) >> p->shift;
    if (whole >= powers[DECIMAL_DIGITS_MAX])
        p->exponent++;
    else if (whole < powers[DECIMAL_DIGITS_MAX - 1])
        p->exponent--;
}

/* false: not in the range that is done here. */
static bool split(double value, parts *out)
{
    int binary;
    const double magnitude = fabs(value);
    if (!(magnitude >= 1e-4 && magnitude < 1e15))
        return false;
    out->mantissa = (uint64_t)ldexp(frexp(magnitude, &binary), MANTISSA_BITS);
    out->shift = MANTISSA_BITS - binary;
    out->exponent = (int)floor(log10(magnitude));
    mend_exponent(out);
    return true;
}

static bool reads_back(const parts *p, wide scaled, wide unit, uint64_t digits)
{
    const wide again = (wide)digits << p->shift;
    const bool below = again < scaled;
    const wide off = below ? scaled - again : again - scaled;
    /* below a power of two numbers lie twice as close */
    const bool narrow = below && p->mantissa == UINT64_C(1) << (MANTISSA_BITS - 1);
    const wide reach = narrow ? 4 * off : 2 * off;
    return reach < unit || (reach == unit && p->mantissa % 2 == 0);
}

/* Half to even, as printf rounds. */
static rounded round_to(const parts *p, int count)
{
    const int places = count - 1 - p->exponent;
    const wide unit = power(places), scaled = p->mantissa * unit;
    const wide half = (wide)1 << (p->shift - 1);
    const wide rest = scaled & (2 * half - 1);
    uint64_t digits = (uint64_t)(scaled >> p->shift);
    digits += rest > half || (rest == half && digits % 2 == 1) ? 1 : 0;
    rounded r = {digits, p->exponent, reads_back(p, scaled, unit, digits)};
    if (r.digits == powers[count]) {
        r.digits /= 10;
        r.exponent++;
    }
    return r;
}

/* Without exponent and without zeros at the end. */
static size_t print(const rounded *r, int count, bool negative, char *text)
{
    char all[DECIMAL_DIGITS_MAX];
    uint64_t rest = r->digits;
    int used = count;
    for (int i = count; i > 0; i--, rest /= 10)
        all[i - 1] = (char)('0' + rest % 10);
    while (used > 1 && used > r->exponent + 1 && all[used - 1] == '0')
        used--;
    char *at = text;
    if (negative)
        *at++ = '-';
    if (r->exponent < 0) {
        *at++ = '0';
        *at++ = '.';
    }
    for (int i = -1; i > r->exponent; i--)
        *at++ = '0';
    for (int i = 0; i < used; i++) {
        *at++ = all[i];
        if (i == r->exponent && i + 1 < used)
            *at++ = '.';
    }
    *at = '\0';
    return (size_t)(at - text);
}

static size_t by_printf(double value, int digits, char *text)
{
    return (size_t)snprintf(text, DECIMAL_TEXT, "%.*g", digits, value);
}

size_t decimal_write(double value, int digits, char text[DECIMAL_TEXT])
{
    parts p;
    if (!split(value, &p) || p.exponent >= digits)
        return by_printf(value, digits, text);
    const rounded r = round_to(&p, digits);
    if (r.exponent >= digits) /* 99.96 to two digits */
        return by_printf(value, digits, text);
    return print(&r, digits, value < 0, text);
}

static size_t shortest_by_printf(double value, char *text)
{
    for (int digits = SHORTEST;; digits++) {
        const size_t size = by_printf(value, digits, text);
        if (digits == DECIMAL_DIGITS_MAX || strtod(text, NULL) == value)
            return size;
    }
}

size_t decimal_shortest(double value, char text[DECIMAL_TEXT])
{
    parts p;
    if (!split(value, &p))
        return shortest_by_printf(value, text);
    int digits = SHORTEST;
    rounded r = round_to(&p, digits);
    while (!r.reads_back && digits < DECIMAL_DIGITS_MAX)
        r = round_to(&p, ++digits);
    return print(&r, digits, value < 0, text);
}
