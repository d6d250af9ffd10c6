/* regress - a run against earlier ones: what became slower, what is no longer solved
 *
 * Purpose:   times by reports/gate.h, pass rates by an exact paired test over the problems that both have,
 *            Holm over entrants. Only the same contract on the same card by the same protocol is compared.
 * Ownership: regress_create gives an owned object; names are borrowed from the boards.
 * Threads:   pure.
 * Errors:    ERR_CONFIG: the runs cannot be compared; says why.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_REPORTS_REGRESS_H
#define CE_REPORTS_REGRESS_H

#include "common/buf.h"
#include "reports/board.h"
#include "reports/gate.h"

typedef struct regress_ask {
    const board *now;
    const board *before; /* one run or more; pass rates are compared with the first */
    const board *again;  /* a repetition of `now`, or NULL */
    const gate_rules *rules;
} regress_ask;

typedef struct regress_row {
    const char *entrant, *problem;
    gate_task time;
} regress_row;

typedef struct regress_rate {
    const char *entrant;
    size_t problems; /* that both met */
    size_t before, now, only_before, only_now;
    double p;          /* exact McNemar, adjusted */
    double detectable; /* smallest difference that these problems can show */
    bool is_worse;
} regress_rate;

typedef struct regress {
    regress_row *rows; /* by entrant and problem, as the board has them */
    size_t count;
    regress_rate *rates; /* one an entrant of `now` that `before` has too */
    size_t rate_count;
    gate_sum times;
    size_t worse;      /* entrants that solve less */
    bool is_confirmed; /* there was a repetition */
} regress;

regress *regress_create(const regress_ask *ask, err *e);
void regress_destroy(regress **self);
/* regress_failed: something became worse. A shifted night is not failed, it is not judged. */
bool regress_failed(const regress *self);

/* regress_verdict: one line. regress_text: the tables, at most `rows_max` rows each. */
void regress_verdict(const regress *self, buf *out);
void regress_text(const regress *self, size_t rows_max, buf *out);
/* regress_sentence: the verdict without Markdown and line end; the caller frees it. */
char *regress_sentence(const regress *self);

#endif
