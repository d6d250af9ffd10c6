/* kernelbench - the problems of a KernelBench checkout, as `ce-node checkout` tells them
 *
 * Purpose:   reads its lines (agent-node/judge/checkout.py) into a suite and a list of every file: what
 *            is supported, what it needs, and which problems prove little because an answer that computes
 *            nothing passes them. Reads the words that people name levels and problems by.
 * Ownership: kernelbench_read gives an owned object; its suite's problems are borrowed from it.
 * Threads:   immutable after reading.
 * Errors:    ERR_CONFIG: what the checkout lacks, or a line that is no row; ERR_USAGE for a word.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_SUITES_KERNELBENCH_H
#define CE_SUITES_KERNELBENCH_H

#include "suites/suite.h"

#define KERNELBENCH_SUITE      "kernelbench"
#define KERNELBENCH_DEGENERATE "degenerate" /* the category of a problem that proves little */

enum { KERNELBENCH_LEVELS = 4 };

typedef struct kernelbench_file {
    char *id; /* l1_19: level 1, number 19 */
    char *title;
    bool supported, admitted;
    char *reason;      /* why it is not supported, or NULL */
    char *degenerate;  /* what passes without computing anything, or NULL */
    int64_t inputs;    /* bytes */
    int64_t needs;     /* bytes that a check on one card takes */
    const problem *is; /* in the suite; NULL: not supported */
} kernelbench_file;

typedef struct kernelbench {
    suite *problems; /* the supported ones, in the order of level and number */
    kernelbench_file *files;
    size_t file_count;
    char *layout; /* main, v0.1, v0 or problems */
} kernelbench;

/* kernelbench_read: text is what `ce-node checkout` printed; shots names the prompts' condition. */
kernelbench *kernelbench_read(const char *text, size_t size, const char *shots, err *e);
void kernelbench_destroy(kernelbench **self);
/* kernelbench_take_suite gives the suite away; rows keep no pointer into it. */
suite *kernelbench_take_suite(kernelbench *self);

/* kernelbench_id: "1/19" and "l1_19" are the problem l1_19; any other word is itself. Fresh memory. */
char *kernelbench_id(const char *word);
/* kernelbench_levels reads "1,2,3" into an array of numbers; NULL text: 1, 2 and 3. */
json *kernelbench_levels(const char *text, err *e);

#endif
