/* board - everything a report reads, in one snapshot
 *
 * Purpose:   loads runs with entrants, problems, tasks and usage; decides in one place which numbers may
 *            be shown: times that were scripted (fake) or could not be taken (emu) are NaN with a reason.
 * Ownership: board_read gives an owned object; all rows are borrowed from it. The store must live as long.
 * Threads:   immutable after reading.
 * Errors:    as store/run.h says for names of runs.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_REPORTS_BOARD_H
#define CE_REPORTS_BOARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "reports/gain.h"
#include "store/claim.h"
#include "store/query.h"
#include "store/run.h"
#include "store/score.h"
#include "store/store.h"
#include "store/task.h"

enum { BOARD_PROVISIONAL_BELOW = 3 }; /* samples */

/* What tasks ran on and by what; tasks that are alike share it. */
typedef struct board_facts {
    const char *device, *device_kind, *device_uuid, *driver, *torch, *nvrtc, *node;
    const char *correct_protocol, *timing_protocol, *baseline_mode;
} board_facts;

/* Of a task what is stored, small: a report holds a million. Its times are in board_task, where they have
 * been judged. */
typedef struct board_outcome {
    outcome result;                    /* OUTCOME_NOT_RUN until done */
    const char *stage, *detail, *text; /* as in store/result.h */
    const char *verdict_reason, *marks, *sanitizer;
    double floor_ms, wall_ms, device_ms;
    const hash *source, *plan; /* NULL: none */
} board_outcome;

typedef struct board_row {
    const char *id, *problem, *error;
    const board_facts *facts;
    int32_t sample, leases;
    task_state state;
    board_outcome outcome;
} board_row;

/* As in store/call.h. */
typedef struct board_usage {
    int32_t attempts, calls, cost_unknown, tokens_unknown, unknown_calls;
    int64_t tokens_in, tokens_out, tokens_cache_read, tokens_cache_write;
    double cost_usd, unknown_usd, latency_ms;
} board_usage;

/* What the tasks of a run were checked and timed by (NULL: not timed). While none is done: what the run was
 * started for, which need not be the device it meets. */
typedef struct board_protocols {
    const char *correctness, *timing;
} board_protocols;

typedef struct board_run {
    run_row row;
    problem_list problems;
    entrant_list entrants;
    score_sums sums; /* cost by entrant and stage, models that answered */
    run_counts counts;
    board_protocols protocols;
    ranked_list ranked; /* tasks in the view `ranked`, by entrant */
} board_run;

typedef struct board_task {
    const board_run *run;
    const board_row *row;
    const problem_row *problem;
    const board_usage *usage;
    uint32_t entrant;   /* index in board.entrants */
    double speedup;     /* NaN with reason */
    const char *reason; /* NULL when there is a speedup */
    double candidate_ms, baseline_ms;
    const char *verdict;    /* of the speed, or NULL */
    double ci_low, ci_high; /* of speedup; NaN: no interval */
    double margin;          /* of its comparison, 0.01 = 1 %; NaN: none is stored */
} board_task;

typedef struct board_entrant {
    const board_run *run;
    const entrant_row *row;
} board_entrant;

typedef struct board {
    store *
        db; /* it comes from: long texts are asked for when they are written; NULL: there are none */
    board_run *runs;
    size_t run_count;
    board_entrant *entrants;
    size_t entrant_count;
    gain *gains;       /* one an entrant */
    board_task *tasks; /* run after run, each by problem, entrant, sample */
    size_t task_count;
    board_row *rows; /* one a task, same order */
    board_usage *usage;
    board_facts **facts; /* each once, in order of appearance */
    size_t facts_count;
    struct intern *texts;
    claim_list claims; /* of other programs, apart from all this; empty unless asked for */
} board;

/* What to show: named runs (every entrant of them); or none named: the newest complete run of each
 * entrant on the newest hash of `suite` (NULL: of any suite). */
typedef struct board_ask {
    const char *const *runs;
    size_t run_count;
    const char *suite;
    bool claims;
} board_ask;

board *board_read(store *db, const board_ask *ask, err *e);
void board_destroy(board **self);

/* board_task_correct: scored ok. board_task_scored: done, with an outcome that counts. */
bool board_task_correct(const board_task *task);
bool board_task_scored(const board_task *task);
/* board_is_gemm: the problem is of the GEMM track: counted and shown as any other, but left out of medians
 * and means over speedups. */
bool board_is_gemm(const problem_row *problem);
/* board_is_degenerate: an answer that computes nothing passes the problem (category `degenerate`): it is run and
 * shown, and left out of every count, share, rank and mean but those that say so. */
bool board_is_degenerate(const problem_row *problem);
/* board_any_kind: some task ran on this kind of device ("fake"). */
bool board_any_kind(const board *self, const char *kind);
/* board_ranked_of: how many tasks of an entrant are in the view `ranked`. */
int64_t board_ranked_of(const board_entrant *entrant);
/* board_run_rankable: every task of the run is in the view `ranked`; board_rankable: of every run. */
bool board_run_rankable(const board_run *run);
bool board_rankable(const board *self);
/* board_task_hidden: what became of the hidden run, which the protocol ce-correct-1 has and older ones have not. */
typedef enum board_hidden {
    BOARD_HIDDEN_NONE,
    BOARD_HIDDEN_PASSED,
    BOARD_HIDDEN_FAILED
} board_hidden;
board_hidden board_task_hidden(const board_task *task);
/* board_task_sanitizer: what compute-sanitizer said; BOARD_SANITIZER_NONE: it did not come to that. */
typedef enum board_sanitizer {
    BOARD_SANITIZER_NONE,
    BOARD_SANITIZER_CLEAN,
    BOARD_SANITIZER_FINDING,
    BOARD_SANITIZER_NOT_RUN,
    BOARD_SANITIZERS
} board_sanitizer;
board_sanitizer board_task_sanitizer(const board_task *task);

#endif
