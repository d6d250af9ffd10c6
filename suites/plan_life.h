/* plan_life - which scratch buffers of a plan share memory
 *
 * Purpose:   a buffer lives from the first step that uses it to the last. Buffers whose lives do not
 *            overlap may lie in one place, which is as large as its largest buffer. The result depends on
 *            sizes, lives and order of writing only. Private to suites/plan*.c and their tests.
 * Ownership: works on the caller's steps.
 * Threads:   safe.
 * Errors:    none.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_SUITES_PLAN_LIFE_H
#define CE_SUITES_PLAN_LIFE_H

#include "suites/plan.h"

/* plan_life_place takes bytes, first and last of every scratch buffer and fills in the rest: place and
 * inherits, place_bytes and place_count. Places are in the order of falling size. */
void plan_life_place(plan_steps *steps);

#endif
