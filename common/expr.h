/* expr - checked integer expressions of launch plans and contract shapes
 *
 * Purpose:   64-bit integers over named variables: + - * / % ( ) == != < <= > >= && || ! ?: unary -,
 *            ceil_div(a,b) min(a,b) max(a,b) next_pow2(a). C precedence; / and % truncate as in C.
 *            Every operation is checked: an overflow is an answer, never wrapped.
 * Ownership: expr_parse gives an owned tree.
 * Threads:   a parsed expression is immutable; evaluating it is safe from any thread.
 * Errors:    expr_parse and expr_eval fail with ERR_CONFIG and a sentence (column, variable, overflow,
 *            division by zero). Source ≤ EXPR_TEXT_MAX bytes, depth ≤ EXPR_DEPTH_MAX.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_COMMON_EXPR_H
#define CE_COMMON_EXPR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/err.h"

enum { EXPR_TEXT_MAX = 512, EXPR_DEPTH_MAX = 64, EXPR_NAME_MAX = 63 };

typedef struct expr expr;

typedef struct expr_var {
    const char *name;
    int64_t value;
} expr_var;

/* expr_parse: every variable used must be in the NULL-ended list `names` (NULL list: any name). */
expr *expr_parse(const char *text, const char *const *names, err *e);
expr *expr_const(int64_t value);
void expr_destroy(expr **self);
/* expr_eval: vars need not be sorted; a missing variable is an error. */
int expr_eval(const expr *self, const expr_var *vars, size_t var_count, int64_t *out, err *e);
/* expr_uses tells whether the variable occurs. */
bool expr_uses(const expr *self, const char *name);

#endif
