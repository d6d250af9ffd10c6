/* task - the unit that is leased to a node
 *
 * Purpose:   task rows, leases and their fencing tokens. States: waiting → leased → done, leased →
 *            waiting (returned, lost), leased or waiting → failed (given up). Every step is an event
 *            row.
 * Ownership: writing borrows; reading gives text that the row or list owns (*_fini).
 * Threads:   inside a job (store.h).
 * Errors:    ERR_NOT_FOUND: no such task. ERR_CONFLICT: an older or unknown token (a `late` event is
 *            kept although the job fails), a task in the wrong state, an ambiguous prefix.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_STORE_TASK_H
#define CE_STORE_TASK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/hash.h"
#include "store/result.h"
#include "store/store.h"

typedef enum task_state { TASK_WAITING, TASK_LEASED, TASK_DONE, TASK_FAILED } task_state;
const char *task_state_name(task_state state);

/* How a lease ends without a result. */
typedef enum task_ending { TASK_RETURNED, TASK_LOST, TASK_CANCELLED } task_ending;

typedef struct task_row {
    const char *id, *run;
    const char *kind; /* contract | synthesize */
    const char *problem;
    int64_t entrant; /* entrant_row.id; 0: none (contract) */
    int64_t sample;
    hash spec; /* artifact: wire/spec.h */
    /* The rest is the store's: ignored by task_insert. */
    task_state state;
    int64_t token;      /* of the newest lease; 0: never leased */
    int64_t leases;     /* how often handed out */
    const char *node;   /* newest holder */
    const char *error;  /* newest harness error */
    result_row outcome; /* result is OUTCOME_NOT_RUN and numbers NaN until done */
    int64_t finished_ms;
} task_row;
typedef struct task_list {
    task_row *rows;
    size_t count;
} task_list;

int task_insert(store_tx *tx, const task_row *row, err *e);
/* task_grant leases a waiting task. `token` must be above the task's newest (use token + 1). */
int task_grant(store_tx *tx, const char *task, const char *node, int64_t token, int64_t now_ms,
               err *e);
/* task_return puts a leased task back to waiting; `error` (may be NULL) is kept for people. */
typedef struct task_return_args {
    const char *task;
    int64_t token;
    task_ending ending;
    const char *error;
    int64_t now_ms;
} task_return_args;
int task_return(store_tx *tx, const task_return_args *args, err *e);
/* task_fail gives a waiting task up: it is never leased again (unless task_recover revives it). */
int task_fail(store_tx *tx, const char *task, const char *error, int64_t now_ms, err *e);
/* task_reclaim: the task waits, its newest lease was that node's under that token, and that node has it
 * still: the lease goes on. Calls that were given up with it are open again. ERR_CONFLICT otherwise. */
int task_reclaim(store_tx *tx, const char *task, const char *node, int64_t token, int64_t now_ms,
                 err *e);
/* task_recover is for a coordinator that starts on a run: leases that a dead one left open are ended
 * as lost and their tasks wait again; with `failed_too`, failed ones wait again as well. */
int task_recover(store_tx *tx, const char *run, bool failed_too, int64_t now_ms, err *e);

int task_get(store_tx *tx, const char *task, task_row *out, err *e);
/* task_find: `text` is an id, a unique prefix, or "latest" (NULL means latest): the newest task. */
int task_find(store_tx *tx, const char *text, task_row *out, err *e);
/* task_list_read: tasks of a run by suite order, entrant, sample; kind NULL = both (contract first). */
/* What a coordinator must know of each task; the texts are borrowed until the next one. */
typedef struct task_brief {
    const char *id, *kind, *problem, *node;
    int64_t entrant; /* 0: a contract task */
    hash spec;
    task_state state;
    int64_t token, leases;
    outcome result; /* once done */
} task_brief;
typedef int task_each_fn(store_tx *tx, const task_brief *row, void *arg, err *e);
/* task_each gives the tasks of a run one by one, in task_list_read's order: a million of them need no
 * memory. */
int task_each(store_tx *tx, const char *run, task_each_fn *fn, void *arg, err *e);
int task_list_read(store_tx *tx, const char *run, const char *kind, task_list *out, err *e);
/* When the newest lease of a task that is leased or has a result began and ended. */
typedef struct task_span {
    const char *task, *kind;
    int64_t from_ms, to_ms; /* to_ms 0: it goes on */
} task_span;
typedef struct task_span_list {
    task_span *rows;
    size_t count;
} task_span_list;
/* task_span_list_read: of a run, in no order. */
int task_span_list_read(store_tx *tx, const char *run, task_span_list *out, err *e);
void task_span_list_fini(task_span_list *self);
void task_row_fini(task_row *self);
void task_list_fini(task_list *self);

#endif
