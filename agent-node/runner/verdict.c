/* verdict - see verdict.h.
 *
 * SPDX-License-Identifier: MIT */
#include "agent-node/runner/verdict.h"

#include <stdarg.h>
#include <stdio.h>

void verdict_ok(runner_verdict *v)
{
    *v = (runner_verdict){.result = OUTCOME_OK};
}

void verdict_set(runner_verdict *v, outcome result, const char *detail, const char *format, ...)
{
    v->result = result;
    snprintf(v->detail, sizeof v->detail, "%s", detail != NULL ? detail : "");
    va_list args;
    va_start(args, format);
    vsnprintf(v->text, sizeof v->text, format, args);
    va_end(args);
}

bool verdict_is_ok(const runner_verdict *v)
{
    return v->result == OUTCOME_OK;
}
