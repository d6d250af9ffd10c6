/* fixture - a database in a folder of its own, with a small run inside
 *
 * Purpose:   what every store and report test needs first.
 * Ownership: fixture_create / fixture_destroy; destroy deletes the folder.
 * Threads:   one.
 * Errors:    a failed step fails the test.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_TESTS_UNIT_STORE_FIXTURE_H
#define CE_TESTS_UNIT_STORE_FIXTURE_H

#include "common/hash.h"
#include "store/result.h"
#include "store/run.h"
#include "store/stage.h"
#include "store/store.h"

typedef struct fixture {
    char folder[64];
    char path[96];
    store *db;
} fixture;

fixture *fixture_create(void);
void fixture_destroy(fixture **self);
void fixture_reopen(fixture *self);

/* fixture_do runs a job that must succeed; fixture_fails one that must fail with `code`, and gives the
 * sentence. */
void fixture_do(fixture *self, store_fn *fn, void *arg);
const char *fixture_fails(fixture *self, store_fn *fn, void *arg, err_code code);

/* fixture_count counts what "SELECT count(*) FROM <from>" says. */
int64_t fixture_count(fixture *self, const char *from);
/* fixture_exec runs SQL text that must succeed. */
void fixture_exec(fixture *self, const char *sql);

/* fixture_seed makes run "run1" (internal 0.1, cuda, 1 sample), entrant "gold", problems "add" and
 * "sum", and tasks "task1" (add) and "task2" (sum), waiting. */
void fixture_seed(fixture *self);
/* fixture_text stores a text as an artifact. */
hash fixture_text(fixture *self, const char *text);

/* A result with nothing measured, and one that is right and 1.5 times faster. */
result_row fixture_failed_result(outcome result, const char *stage);
result_row fixture_ok_result(double candidate_ms, double baseline_ms);

#endif
