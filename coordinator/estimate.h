/* estimate - what a run would be, before it is
 *
 * Purpose:   how many tasks and model calls, and what they may cost: low, expected, high, and the worst
 *            case that a budget would have to hold. Printed by --dry-run and before the question that
 *            paid calls are worth. What the numbers assume is printed with them.
 * Ownership: plain values.
 * Threads:   safe.
 * Errors:    estimate_confirm: ERR_USAGE with the estimate when nobody can be asked. A model without a
 *            price: NaN and the reason, never 0.
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

typedef struct estimate_usd {
    double low, expected, high, worst; /* NaN: a price is not known */
} estimate_usd;

typedef struct estimate_entrant {
    int64_t tasks;
    int64_t calls_expected, calls_max; /* max: every stage uses its whole budget */
    int64_t paid_max;                  /* of them, calls that cost money */
    estimate_usd usd;
    const char *unpriced; /* the first model id without a price, of the settings; NULL: none */
} estimate_entrant;

typedef struct estimate {
    int64_t contract_tasks;
    estimate_entrant all; /* sums; unpriced: of any entrant */
    estimate_entrant entrants[SETTINGS_ENTRANTS_MAX];
} estimate;

/* estimate_of takes the prices of the day wall_ms. */
estimate estimate_of(const settings *s, const selection *chosen, int64_t wall_ms);
void estimate_print(const estimate *self, const settings *s, const selection *chosen, FILE *out);
json *estimate_json(const estimate *self, const settings *s, const selection *chosen);

/* estimate_check_budget: with a budget (0: none) every paid model must have a price. */
int estimate_check_budget(const settings *s, double budget_usd, int64_t wall_ms, err *e);
/* estimate_confirm asks on `out` and reads from `in` when calls cost money. *go tells the answer; with
 * `yes` or without paid calls nobody is asked. */
typedef struct estimate_ask {
    FILE *in, *out;
    bool terminal; /* `in` is one */
    bool yes;      /* --yes */
} estimate_ask;
int estimate_confirm(const estimate *self, const estimate_ask *ask, bool *go, err *e);

#endif
