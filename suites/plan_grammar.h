/* plan_grammar - the form of a launch plan, as one table
 *
 * Purpose:   the keys that plan_parse takes, the schema that providers bind answers to, and the normal
 *            form by which two plans are compared come from here; the meaning is docs/launch-plan.md.
 * Ownership: constant.
 * Threads:   safe.
 * Errors:    none.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_SUITES_PLAN_GRAMMAR_H
#define CE_SUITES_PLAN_GRAMMAR_H

#include "common/grammar.h"

extern const grammar_node plan_grammar, plan_grammar_kernel, plan_grammar_repeat, plan_grammar_view,
    plan_grammar_scratch, plan_grammar_variant;

/* plan_grammar_same: do two texts say the same plan, whatever is left out or written as text? False when
 * one is no JSON. */
bool plan_grammar_same(const char *a, const char *b);

#endif
