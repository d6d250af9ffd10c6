/* night - the nights of each series, and what became of them
 *
 * Purpose:   rows of table `night`: begun, linked to the run that they started, ended, accepted by a person.
 * Ownership: writing borrows; reading gives text that the list owns.
 * Threads:   inside a job (store.h).
 * Errors:    as the database says; ERR_NOT_FOUND: there is no such night.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_STORE_NIGHT_H
#define CE_STORE_NIGHT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "store/store.h"

typedef enum night_verdict {
    NIGHT_OPEN,       /* it is at work, or was killed: the next start goes on with it */
    NIGHT_GOOD,       /* complete, canaries fine, nothing worse than the last good night */
    NIGHT_WORSE,      /* slower, or solves less */
    NIGHT_CANARY,     /* the suite's own kernels or a card's self-test failed */
    NIGHT_UNJUDGED,   /* the machine or what is measured changed */
    NIGHT_INCOMPLETE, /* planned is not scored */
    NIGHT_BUDGET,     /* the budget was reached */
    NIGHT_FAILED,     /* the harness or the suite failed before a task began */
    NIGHT_ABANDONED   /* never ended, and too old to go on with */
} night_verdict;
const char *night_verdict_name(night_verdict verdict);

typedef struct night_row {
    int64_t id;
    const char *series, *folder;
    int64_t began_ms, ended_ms; /* 0: it is not over */
    const char *run, *again;    /* or NULL */
    night_verdict verdict;
    const char *reason; /* or NULL */
    bool accepted, told;
} night_row;
typedef struct night_list {
    night_row *rows;
    size_t count;
} night_list;

/* night_begin: an open night; *id is its number, its folder is `out`/DATE-NUMBER. */
int night_begin(store_tx *tx, const char *series, const char *out, int64_t now_ms, int64_t *id,
                err *e);
/* night_link: the run that the night started; in the transaction that makes the run, so that no moment
 * separates them. `again`: the second one. */
int night_link(store_tx *tx, int64_t id, const char *run, bool again, err *e);
int night_end(store_tx *tx, int64_t id, night_verdict verdict, const char *reason, int64_t now_ms,
              err *e);
/* night_accept makes an ended night good, and the first that later ones are held against. */
int night_accept(store_tx *tx, int64_t id, err *e);
int night_tell(store_tx *tx, int64_t id, err *e);
/* night_list_read: of a series, newest first. */
int night_list_read(store_tx *tx, const char *series, night_list *out, err *e);
void night_list_fini(night_list *self);

/* Self-tests of cards since a moment: the A/A canary. */
typedef struct night_cards {
    int64_t tested, failed;
    char *failure; /* of the newest that failed, with its card; NULL: none; the caller frees */
} night_cards;
int night_cards_read(store_tx *tx, int64_t since_ms, night_cards *out, err *e);

/* When a series last had a good night. */
typedef struct night_success {
    const char *series;
    int64_t ended_ms; /* 0: never */
} night_success;
typedef struct night_success_list {
    night_success *rows;
    size_t count;
} night_success_list;
int night_success_read(store_tx *tx, night_success_list *out, err *e);
void night_success_list_fini(night_success_list *self);

#endif
