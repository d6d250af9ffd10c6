/* dist - the two distributions that intervals and tests here need: Student's t and Fisher's F
 *
 * Purpose:   tail probability of F and quantile of t, by the regularised incomplete beta function.
 * Ownership: none.
 * Threads:   safe.
 * Errors:    an argument outside the domain gives NaN.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_COMMON_DIST_H
#define CE_COMMON_DIST_H

/* dist_beta: I_x(a, b), x in [0, 1], a and b positive. */
double dist_beta(double x, double a, double b);
/* dist_f_tail: P(F >= f) with d1 and d2 degrees of freedom. */
double dist_f_tail(double f, double d1, double d2);
/* dist_t_quantile: the p quantile of t, p in (0, 1). */
double dist_t_quantile(double p, double degrees);

#endif
