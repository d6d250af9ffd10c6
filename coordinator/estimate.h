/* estimate - what a run would be, before it is
 *
 * Purpose:   how many tasks and, at most, model calls; whether any call costs money. Printed by --dry-run
 *            and before the question that paid calls are worth.
 * Ownership: plain values.
 * Threads:   safe.
 * Errors:    estimate_confirm: ERR_USAGE with the estimate when nobody can be asked.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_COORDINATOR_ESTIMATE_H
#define CE_COORDINATOR_ESTIMATE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "common/json.h"
#include "coordinator/selection.h"
#include "coordinator/settings.h"

typedef struct estimate {
    int64_t contract_tasks, tasks;
    int64_t calls_max; /* every stage uses its whole budget */
    int64_t paid_max;  /* of them, calls that cost money */
} estimate;

estimate estimate_of(const settings *s, const selection *chosen);
void estimate_print(const estimate *self, const settings *s, const selection *chosen, FILE *out);
json *estimate_json(const estimate *self, const settings *s, const selection *chosen);

/* estimate_confirm asks on `out` and reads from `in` when calls cost money. *go tells the answer; with
 * `yes` or without paid calls nobody is asked. */
typedef struct estimate_ask {
    FILE *in, *out;
    bool terminal; /* `in` is one */
    bool yes;      /* --yes */
} estimate_ask;
int estimate_confirm(const estimate *self, const estimate_ask *ask, bool *go, err *e);

#endif
