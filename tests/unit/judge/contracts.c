/* contracts - see contracts.h
 *
 * SPDX-License-Identifier: MIT */
#include "tests/unit/judge/contracts.h"

/* cmocka wants these first. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "common/scoped.h"
#include "common/xalloc.h"

contract *contract_of(const char *problem, const char *dtype_of_both)
{
    SCOPED(scoped_free)
    char *text = xasprintf(
        "{\"problem\":\"%s\",\"dims\":[{\"name\":\"rows\",\"min\":0,\"max\":8192},"
        "{\"name\":\"cols\",\"min\":1,\"max\":8192}],"
        "\"inputs\":[{\"name\":\"x\",\"dtype\":\"%s\",\"shape\":[\"rows\",\"cols\"]}],"
        "\"scalars\":[],"
        "\"outputs\":[{\"name\":\"y\",\"dtype\":\"%s\",\"shape\":[\"rows\",\"cols\"]}],"
        "\"reduction\":\"cols\",\"values\":[\"normal\",\"zeros\"],\"order_free\":false,"
        "\"shapes\":[{\"rows\":0,\"cols\":8},{\"rows\":1,\"cols\":1},{\"rows\":5,\"cols\":33}],"
        "\"benchmark\":{\"rows\":4096,\"cols\":4096}}",
        problem, dtype_of_both, dtype_of_both);
    err e = {0};
    contract *terms = contract_parse(text, strlen(text), "test", &e);
    if (terms == NULL)
        fail_msg("%s", e.text);
    return terms;
}
