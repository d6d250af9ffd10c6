/* card - self-tests of cards, and what later verdicts need of them
 *
 * Purpose:   rows of the tables selftest and calibration: A/A runs of a card and duration class, the
 *            stored time of the known copy, whether the newest self-test passed.
 * Ownership: writing borrows; texts that are read are owned by the reader.
 * Threads:   inside a job (store.h).
 * Errors:    as the database says.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_STORE_CARD_H
#define CE_STORE_CARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/hash.h"
#include "store/store.h"

typedef struct card_check {
    const char *name, *label;
    const char *duration; /* short, middle, long, or NULL */
    bool decides, passed;
    const char *verdict, *reason;  /* or NULL */
    double theta, ci_low, ci_high; /* NaN: none */
    double candidate_ms;
    int64_t pairs;
    double value, bound;
    const char *text; /* or NULL */
    hash raw;         /* artifact, kept when it is there; zero: none */
} card_check;

typedef struct card_test {
    int64_t at_ms;
    const char *node, *device_uuid, *device, *device_kind, *driver, *torch, *version, *protocol;
    bool quick, passed;
    const char *failure; /* what said no; NULL exactly when passed */
    double wall_s;
} card_test;

int card_put(store_tx *tx, const card_test *test, const card_check *rows, size_t count, err *e);

/* card_thetas: of the newest A/A runs of a card and class, at most `max`, oldest first. */
int card_thetas(store_tx *tx, const char *device_uuid, const char *duration, double *out,
                size_t max, size_t *count, err *e);
/* card_copy: the median time of the known copy since then; NaN when none is stored. */
int card_copy(store_tx *tx, const char *device_uuid, int64_t since_ms, double *out, err *e);
/* card_failure: why the newest self-test of the card failed, in fresh memory; NULL: it passed, or
 * there is none. */
int card_failure(store_tx *tx, const char *device_uuid, char **out, err *e);

#endif
