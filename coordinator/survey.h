/* survey - a KernelBench checkout, read by a ce-node
 *
 * Purpose:   whatever needs Python runs under ce-node: this starts `ce-node checkout`, waits, and reads
 *            what it printed. What admission found is kept in a folder beside the database, by source.
 * Ownership: survey_read gives an owned object.
 * Threads:   one; blocks until the node is done.
 * Errors:    what kernelbench_read says; ERR_TIMEOUT; ERR_UNAVAILABLE with the node's last words.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_COORDINATOR_SURVEY_H
#define CE_COORDINATOR_SURVEY_H

#include <stdio.h>

#include "suites/kernelbench.h"

/* Zero is default everywhere but `root`. */
typedef struct survey_request {
    const char *root;   /* the checkout */
    const char *level;  /* "1,2,3" */
    const char *only;   /* "1/19,2/9" */
    const char *shots;  /* zero, one, few */
    const char *found;  /* folder of what admission found; NULL: neither read nor kept */
    const char *suites; /* as --suites */
    const char *python;
    const char *device; /* with admit: cpu or cuda:N */
    bool admit;
} survey_request;

kernelbench *survey_read(const survey_request *request, err *e);
/* survey_found is the folder beside a database. Fresh memory. */
char *survey_found(const char *db);
/* survey_print writes the table of all files, and how many are what. */
void survey_print(const kernelbench *self, FILE *out);
json *survey_json(const kernelbench *self);

#endif
