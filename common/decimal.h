/* decimal - a double as text, quickly
 *
 * Purpose:   what printf's %g writes, and the shortest such text that reads back as the same number; reports
 *            write tens of millions of them, and printf with strtod is slow.
 * Ownership: a caller's array.
 * Threads:   pure; the decimal point is a point.
 * Errors:    none.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_COMMON_DECIMAL_H
#define CE_COMMON_DECIMAL_H

#include <stddef.h>

enum { DECIMAL_TEXT = 40, DECIMAL_DIGITS_MAX = 17 };

/* decimal_write is snprintf's "%.*g" with 1 to 17 digits; it gives the length. */
size_t decimal_write(double value, int digits, char text[DECIMAL_TEXT]);
/* decimal_shortest is decimal_write with the fewest of 15, 16 and 17 digits that read back as value, a finite
 * number. */
size_t decimal_shortest(double value, char text[DECIMAL_TEXT]);

#endif
