/* entrants - who competes: from the command line and from a file
 *
 * Purpose:   makes the entrants of a run's settings of --model-id, --stage, --effort, --temperature,
 *            --escalate and of a YAML file (docs/entrants.md) with named entrants and named servers.
 * Ownership: fills the settings' entrants, which settings_fini frees.
 * Threads:   one.
 * Errors:    ERR_USAGE for the command line, ERR_CONFIG "FILE:LINE: /pointer: …" for the file: among them
 *            what a user demands and the model refuses.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_COORDINATOR_ENTRANTS_H
#define CE_COORDINATOR_ENTRANTS_H

#include "coordinator/settings.h"

enum { ENTRANTS_BUDGET_MAX = 12, ENTRANTS_NAME_MAX = 120 };

typedef struct entrants_wanted {
    const char *const *models; /* --model-id */
    size_t model_count;
    const char *const *stages; /* --stage: "polish=P:M" */
    size_t stage_count;
    const char *file;     /* --entrants; NULL: none */
    const char *effort;   /* --effort; NULL: none */
    double temperature;   /* --temperature; NaN: none */
    const char *escalate; /* --escalate; NULL: none */
} entrants_wanted;

/* entrants_make fills settings.entrants; every model can be used and takes what is demanded of it. */
int entrants_make(const entrants_wanted *wanted, settings *out, err *e);

#endif
