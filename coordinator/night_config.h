/* night_config - what a nightly.yaml says
 *
 * Purpose:   suites, entrants, where, what the gate is held against, what is kept, who is told: docs/nightly.md.
 *            A path that is not absolute is taken from the folder of the file.
 * Ownership: night_config_load gives an owned object.
 * Threads:   plain values.
 * Errors:    ERR_CONFIG "FILE:LINE: /pointer: …"; what only looking can tell (an entrants file, rules) too.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_COORDINATOR_NIGHT_CONFIG_H
#define CE_COORDINATOR_NIGHT_CONFIG_H

#include <stdbool.h>
#include <stdint.h>

#include "coordinator/settings.h"
#include "reports/gate.h"

enum { NIGHT_WINDOW_MAX = 30 };
#define NIGHT_GOLD "gold" /* the entrant that is the canary: always there, always first */

typedef struct night_config {
    char *path; /* as typed */
    char *name; /* of the series */
    char *out;  /* folder: one folder a night in it */
    char *db;   /* or NULL: the default */
    char *keys; /* folder of keys, or NULL: the default */
    settings run;
    int64_t window; /* good nights that the gate looks back on */
    gate_rules rules;
    bool confirm; /* measure a second time what became slower */
    bool pack;    /* evidence */
    char *sign;   /* ssh key, or NULL */
    char *source; /* checkout, or NULL */
    int64_t keep_nights, keep_packs, keep_db_mib;
    char **hook; /* NULL-ended, or NULL */
    int64_t overdue_hours;
} night_config;

night_config *night_config_load(const char *path, err *e);
void night_config_destroy(night_config **self);

#endif
