/* fuzz_expr - any text as an expression, evaluated over awkward values
 *
 * SPDX-License-Identifier: MIT */
#include <stdint.h>
#include <stdlib.h>

#include "common/expr.h"
#include "common/scoped.h"
#include "common/xalloc.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void evaluate(const expr *tree)
{
    static const int64_t values[] = {0, 1, -1, 7, INT64_MAX, INT64_MIN};
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        const expr_var vars[] = {{"rows", values[i]}, {"cols", values[5 - i]}, {"x", 3}};
        int64_t out = 42;
        err e = {0};
        if (expr_eval(tree, vars, 3, &out, &e) < 0 && (out != 42 || e.code != ERR_CONFIG))
            abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    SCOPED(scoped_free) char *text = xstrndup((const char *)data, size);
    err e = {0};
    SCOPED(expr_destroy) expr *tree = expr_parse(text, NULL, &e);
    if (tree == NULL && e.code != ERR_CONFIG)
        abort();
    if (tree != NULL)
        evaluate(tree);
    return 0;
}
