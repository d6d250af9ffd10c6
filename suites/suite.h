/* suite - an ordered, versioned set of problems with a content hash
 *
 * Purpose:   load suites/<name>/ (suite.yaml: id, version, title; one folder a problem) strictly.
 *            Every problem folder must be listed, and every listed one must load.
 * Ownership: suite_load gives an owned object; problems are borrowed from it.
 * Threads:   immutable after loading.
 * Errors:    ERR_NOT_FOUND for an unknown suite (lists the known), ERR_CONFIG with file, line, pointer.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_SUITES_SUITE_H
#define CE_SUITES_SUITE_H

#include "suites/problem.h"

enum { SUITE_PROBLEMS_MAX = 1024 };

typedef struct suite {
    char *id;
    char *version;
    char *title;
    char *folder;
    problem *problems;
    size_t problem_count;
    hash content; /* over id, version and the problems' ids and hashes, in order */
} suite;

/* suite_load: root is the folder that holds the suites (see suite_root). */
suite *suite_load(const char *root, const char *name, err *e);
void suite_destroy(suite **self);
const problem *suite_find(const suite *self, const char *id); /* NULL when absent */
/* suite_root: `given` if not NULL, else share/ce/suites beside the executable's folder, else suites/ of
 * the source tree. Fresh memory. */
char *suite_root(const char *given, err *e);
/* suite_names: folder names under root that hold a suite.yaml, sorted; caller frees each and array. */
char **suite_names(const char *root, size_t *count, err *e);
#endif
