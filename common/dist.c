/* dist - see dist.h.
 *
 * The incomplete beta function by its continued fraction, evaluated with Lentz's method (Abramowitz and
 * Stegun 26.5.8); on the side where it converges fast, the other by symmetry.
 *
 * SPDX-License-Identifier: MIT */
#include "common/dist.h"

#include <math.h>

static double away_from_zero(double x)
{
    return fabs(x) < 1e-300 ? 1e-300 : x;
}

static double fraction(double x, double a, double b)
{
    enum { TERMS = 500 };
    double c = 1;
    double d = 1 / away_from_zero(1 - (a + b) * x / (a + 1));
    double h = d;
    for (int m = 1; m <= TERMS; m++) {
        const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
        const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
        d = 1 / away_from_zero(1 + even * d);
        c = away_from_zero(1 + even / c);
        h *= d * c;
        d = 1 / away_from_zero(1 + odd * d);
        c = away_from_zero(1 + odd / c);
        h *= d * c;
        if (fabs(d * c - 1) < 1e-15)
            break;
    }
    return h;
}

double dist_beta(double x, double a, double b)
{
    if (!(a > 0) || !(b > 0) || !(x >= 0) || !(x <= 1))
        return (double)NAN;
    if (x == 0 || x == 1)
        return x;
    double front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x));
    if (x < (a + 1) / (a + b + 2))
        return front * fraction(x, a, b) / a;
    return 1 - front * fraction(1 - x, b, a) / b;
}

double dist_f_tail(double f, double d1, double d2)
{
    if (isinf(f) && f > 0)
        return 0;
    return f >= 0 ? dist_beta(d2 / (d2 + d1 * f), d2 / 2, d1 / 2) : (double)NAN;
}

/* P(T <= t) */
static double t_below(double t, double degrees)
{
    double tail = dist_beta(degrees / (degrees + t * t), degrees / 2, 0.5) / 2;
    return t > 0 ? 1 - tail : tail;
}

double dist_t_quantile(double p, double degrees)
{
    if (!(p > 0) || !(p < 1) || !(degrees > 0))
        return (double)NAN;
    double high = 1;
    while (t_below(high, degrees) < p && high < 1e12)
        high *= 2;
    double low = -1;
    while (t_below(low, degrees) > p && low > -1e12)
        low *= 2;
    for (int i = 0; i < 200 && low < high; i++) {
        double middle = low + (high - low) / 2;
        if (t_below(middle, degrees) < p)
            low = middle;
        else
            high = middle;
    }
    return low + (high - low) / 2;
}
