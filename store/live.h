/* live - what a page, a scrape or a screen asks of the database while runs go on
 *
 * Purpose:   events after a known one, each with the task it is about; totals over everything
 *            stored, small whatever the size of the runs: rows are grouped by what may label a metric; and
 *            what is going on in one run, for who looks at it again and again.
 * Ownership: reading gives text that the list owns (*_fini).
 * Threads:   inside a job (store.h); with STORE_READ one consistent snapshot.
 * Errors:    as the database says.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_STORE_LIVE_H
#define CE_STORE_LIVE_H

#include <stddef.h>
#include <stdint.h>

#include "store/store.h"

enum { LIVE_BATCH = 1024 };

/* An event, and the task it is about as it stands now. NULL and NaN: does not apply, not known. */
typedef struct live_event {
    int64_t id, at_ms;
    const char *run, *task, *node, *kind, *detail;
    const char *problem, *entrant; /* entrant NULL: a contract check */
    int64_t sample;                /* -1: no task */
    const char *state, *outcome, *outcome_detail;
    double speedup;
    const char *verdict;
} live_event;
typedef struct live_event_list {
    live_event *rows;
    size_t count;
} live_event_list;

/* live_newest is the id of the newest event; 0: there is none. */
int live_newest(store_tx *tx, int64_t *id, err *e);
/* live_events reads up to LIVE_BATCH events after that id, oldest first. */
int live_events(store_tx *tx, int64_t after, live_event_list *out, err *e);
void live_event_list_fini(live_event_list *self);

/* How many of something there are, under up to two names. */
typedef struct live_count {
    const char *name, *other; /* NULL where a total has fewer names */
    int64_t count;
} live_count;
typedef struct live_count_list {
    live_count *rows;
    size_t count;
} live_count_list;
/* What may be counted; the names of a row stand beside it. */
typedef enum live_total {
    LIVE_RESULTS, /* scored tasks: suite, outcome */
    LIVE_TASKS,   /* tasks of runs that go on or can: suite, state */
    LIVE_EVENTS,  /* every event: kind */
    LIVE_NODES,   /* nodes: state */
    LIVE_RUNS     /* runs: state */
} live_total;
int live_count_read(store_tx *tx, live_total which, live_count_list *out, err *e);
void live_count_list_fini(live_count_list *self);

/* What a model was asked and what that came to, over all runs. */
typedef struct live_model {
    const char *provider, *model;
    int64_t calls, cost_unknown; /* cost_unknown: calls among them whose cost is not known */
    int64_t tokens_in, tokens_out, tokens_cache_read, tokens_cache_write;
    double cost_usd, latency_ms; /* sums */
} live_model;
typedef struct live_model_list {
    live_model *rows;
    size_t count;
} live_model_list;
int live_model_read(store_tx *tx, live_model_list *out, err *e);
void live_model_list_fini(live_model_list *self);

/* Wall times of finished tasks. */
enum { LIVE_BUCKETS = 10 };
extern const double live_bucket_s[LIVE_BUCKETS]; /* upper ends, seconds */
typedef struct live_durations {
    int64_t below[LIVE_BUCKETS]; /* tasks that took at most that long */
    int64_t count;
    double sum_ms;
} live_durations;
int live_durations_read(store_tx *tx, live_durations *out, err *e);

/* live_last_complete: when the newest complete run was finished, Unix ms; 0: none was. */
int live_last_complete(store_tx *tx, int64_t *finished_ms, err *e);

/* ---- one run ---- */

enum {
    LIVE_TASKS_MAX = 256,    /* tasks that are read; more are only counted */
    LIVE_PACE_MAX = 64,      /* results that the pace comes from */
    LIVE_EVENTS_BACK = 20000 /* how far back a node's newest fault is looked for */
};

/* live_working is the run that a task was handed out of last, in fresh memory; NULL: there is none. */
int live_working(store_tx *tx, char **run, err *e);

/* How many of a run's tasks, of both kinds where none is said. */
typedef struct live_tally {
    int64_t waiting, leased;
    int64_t contracts, contracts_done;
    int64_t planned, done, correct, failed; /* of kind synthesize; failed: given up */
} live_tally;
int live_tally_read(store_tx *tx, const char *run, live_tally *out, err *e);

/* A task that is not over. NULL: does not apply. */
typedef struct live_task {
    const char *id, *kind, *problem;
    const char *entrant; /* NULL: a contract check */
    int64_t sample;
    const char *node;  /* newest holder */
    const char *stage; /* newest finished stage */
    const char *error; /* newest harness error */
    int64_t since_ms;  /* when its newest lease was granted; 0: never */
    int64_t leases;
} live_task;
typedef struct live_task_list {
    live_task *rows;
    size_t count;
} live_task_list;
/* live_running and live_waiting read up to LIVE_TASKS_MAX tasks that are leased, and that wait, oldest first. */
int live_running(store_tx *tx, const char *run, live_task_list *out, err *e);
int live_waiting(store_tx *tx, const char *run, live_task_list *out, err *e);
void live_task_list_fini(live_task_list *self);

/* A node that is up, or was when the run had begun. NULL and 0: not known. */
typedef struct live_node {
    const char *name, *state; /* up, lost, left */
    const char *devices;      /* JSON: its lanes */
    int64_t joined_ms, seen_ms;
    int64_t held;        /* tasks of the run that it has */
    int64_t tested_ms;   /* its newest self-test */
    const char *failure; /* what that said no to */
    const char *fault;   /* its newest lost or returned task or loss: "lost: …" */
} live_node;
typedef struct live_node_list {
    live_node *rows;
    size_t count;
} live_node_list;
int live_nodes(store_tx *tx, const char *run, live_node_list *out, err *e);
void live_node_list_fini(live_node_list *self);

/* The newest results of a run: so many came since then. */
typedef struct live_pace {
    int64_t results, since_ms;
} live_pace;
int live_pace_read(store_tx *tx, const char *run, live_pace *out, err *e);

#endif
