/* scaffold - a new problem from a PyTorch function
 *
 * Purpose:   what `suite new` makes: the function is called at small sizes (agent-node/judge/scaffold.py,
 *            a child process) to find its outputs, their dtypes and shapes, and the value families that
 *            it is defined for; contract, reference and the beginning of a prompt are written, and the
 *            problem is listed in its suite. Gold and mutants are the author's.
 * Ownership: borrows the request; a result's texts are freed by scaffold_result_fini.
 * Threads:   one.
 * Errors:    ERR_USAGE or ERR_CONFIG, a sentence of its own for each thing that can be wrong. Nothing is
 *            left behind then: the folder appears whole or not at all, the suite's list as it was.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_COORDINATOR_SCAFFOLD_H
#define CE_COORDINATOR_SCAFFOLD_H

#include <stddef.h>
#include <stdint.h>

#include "common/err.h"
#include "common/json.h"

enum { SCAFFOLD_INPUTS_MAX = 16, SCAFFOLD_SIZES_MAX = 8, SCAFFOLD_DIMS_MAX = 8 };

typedef struct scaffold_request {
    const char *name;          /* of the problem */
    const char *from;          /* file.py:function or module:function */
    const char *const *shapes; /* "x=rows:4096,cols:4096" */
    size_t shape_count;
    const char *const *dtypes; /* "f16", or "x=f16" */
    size_t dtype_count;
    const char *suite;  /* name of an existing suite */
    const char *root;   /* folder of the suites; NULL: the default one */
    const char *python; /* NULL: searched */
} scaffold_request;

typedef struct scaffold_result {
    char *folder; /* of the new problem */
} scaffold_result;

int scaffold_make(const scaffold_request *request, scaffold_result *out, err *e);
void scaffold_result_fini(scaffold_result *self);

/* scaffold_question is what the child is asked: names, dtypes and sizes read and checked. Caller owns. */
json *scaffold_question(const scaffold_request *request, err *e);
/* scaffold_yaml is problem.yaml from question and answer; caller frees. */
char *scaffold_yaml(const char *name, const json *question, const json *answer);
/* scaffold_list adds a name to the text of a suite.yaml; NULL when its list is not one item a line. */
char *scaffold_list(const char *text, const char *name);

#endif
