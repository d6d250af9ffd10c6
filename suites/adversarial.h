/* adversarial - kernels that cheat or break, and honest ones that look as if they did
 *
 * Purpose:   read suites/adversarial strictly: adversarial.yaml lists {problem, name, expect, detail,
 *            emu, sanitizer, why}; kernels/ holds NAME.cu and NAME.json, where the problem's gold.json does not
 *            fit. A plan may be wrong there: that can be the point. An outcome of `ok` marks an honest
 *            kernel that must pass.
 * Ownership: adversarial_load gives an owned object; problems are borrowed from the suite.
 * Threads:   immutable after loading.
 * Errors:    ERR_CONFIG with file, line and JSON pointer; ERR_NOT_FOUND for a missing file.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_SUITES_ADVERSARIAL_H
#define CE_SUITES_ADVERSARIAL_H

#include "suites/suite.h"

typedef struct adversarial {
    mutants kernels;          /* in the order of the list; names are unique over all problems */
    const problem **problems; /* of kernel i */
} adversarial;

/* adversarial_load: `root` is the folder that holds the suites. */
adversarial *adversarial_load(const char *root, const suite *problems, err *e);
void adversarial_destroy(adversarial **self);

#endif
