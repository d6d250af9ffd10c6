/* shelf - every suite under one root
 *
 * Purpose:   what the suite commands look things up in, and the JSON rows that they print.
 * Ownership: shelf_load gives an owned object; suites and problems are borrowed from it.
 * Threads:   one owner.
 * Errors:    what loading a suite says; ERR_NOT_FOUND for an unknown name.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_COORDINATOR_SHELF_H
#define CE_COORDINATOR_SHELF_H

#include "common/json.h"
#include "suites/suite.h"

typedef struct shelf {
    suite **suites;
    size_t count;
} shelf;

/* shelf_load: NULL means the installed suites. */
shelf *shelf_load(const char *given, err *e);
void shelf_destroy(shelf **self);
/* shelf_suite is the suite of that name, or NULL. shelf_problem is the problem, and its suite. */
const suite *shelf_suite(const shelf *self, const char *name);
const problem *shelf_problem(const shelf *self, const char *id, const suite **of);

/* shelf_json: {"suites": […], "problems": […]} of these suites. Caller owns. */
json *shelf_json(suite *const *suites, size_t count);
/* shelf_problem_json: one problem with contract, texts and mutants. */
json *shelf_problem_json(const suite *of, const problem *p);

#endif
