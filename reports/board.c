/* board - everything a report reads, in one snapshot
 *
 * SPDX-License-Identifier: MIT */
#include "reports/board.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/scoped.h"
#include "common/xalloc.h"
#include "store/query.h"

/* Why a device kind has no times to show, whatever was stored. */
typedef struct silence {
    const char *kind;
    const char *reason;
} silence;

static const silence silences[] = {
    {"fake", "scripted times, not a measurement"},
    {"emu", "not measured on emu"},
};

/* ---- reading ---- */

typedef struct reading {
    const board_ask *ask;
    board *board;
} reading;

static int read_run(store_tx *tx, const char *name, board_run *out, err *e)
{
    if (run_find(tx, name, &out->row, e) < 0)
        return -1;
    const char *id = out->row.id;
    if (problem_list_read(tx, id, &out->problems, e) < 0 ||
        entrant_list_read(tx, id, &out->entrants, e) < 0 ||
        task_list_read(tx, id, "synthesize", &out->tasks, e) < 0 ||
        usage_list_read(tx, id, &out->usage, e) < 0 ||
        spend_list_read(tx, id, &out->spend, e) < 0 || run_count(tx, id, &out->counts, e) < 0)
        return -1;
    return query_ranked(tx, id, &out->ranked, e);
}

/* A run that is already there is not read twice. */
static int add_run(store_tx *tx, board *b, const char *name, err *e)
{
    b->runs = xreallocarray(b->runs, b->run_count + 1, sizeof *b->runs);
    board_run *fresh = &b->runs[b->run_count];
    memset(fresh, 0, sizeof *fresh);
    b->run_count++;
    if (read_run(tx, name, fresh, e) < 0)
        return -1;
    for (size_t i = 0; i + 1 < b->run_count; i++)
        if (strcmp(b->runs[i].row.id, fresh->row.id) == 0)
            return err_set(e, ERR_USAGE, "run %s is named twice", fresh->row.id);
    return 0;
}

static bool has_run(const board *b, const char *id)
{
    for (size_t i = 0; i < b->run_count; i++)
        if (strcmp(b->runs[i].row.id, id) == 0)
            return true;
    return false;
}

static int add_newest(store_tx *tx, board *b, const standing_list *standing, err *e)
{
    for (size_t i = 0; i < standing->count; i++)
        if (!has_run(b, standing->rows[i].run) && add_run(tx, b, standing->rows[i].run, e) < 0)
            return -1;
    return 0;
}

/* An entrant of an older run that another run speaks for is left out. */
static bool speaks(const standing_list *standing, const entrant_row *entrant)
{
    if (standing->count == 0)
        return true;
    for (size_t i = 0; i < standing->count; i++)
        if (strcmp(standing->rows[i].entrant, entrant->name) == 0)
            return strcmp(standing->rows[i].run, entrant->run) == 0;
    return false;
}

static void list_entrants(board *b, const standing_list *standing)
{
    size_t room = 0;
    for (size_t r = 0; r < b->run_count; r++)
        room += b->runs[r].entrants.count;
    b->entrants = xcalloc(room + 1, sizeof *b->entrants);
    for (size_t r = 0; r < b->run_count; r++)
        for (size_t i = 0; i < b->runs[r].entrants.count; i++)
            if (speaks(standing, &b->runs[r].entrants.rows[i]))
                b->entrants[b->entrant_count++] =
                    (board_entrant){&b->runs[r], &b->runs[r].entrants.rows[i]};
}

static bool find_entrant(const board *b, int64_t id, size_t *out)
{
    for (size_t i = 0; i < b->entrant_count; i++)
        if (b->entrants[i].row->id == id) {
            *out = i;
            return true;
        }
    return false;
}

/* Tasks come in suite order, so the next one is at `hint` or just after it. */
static const problem_row *find_problem(const board_run *run, const char *id, size_t *hint)
{
    for (size_t n = 0; n < run->problems.count; n++, (*hint)++) {
        if (*hint == run->problems.count)
            *hint = 0;
        if (strcmp(run->problems.rows[*hint].id, id) == 0)
            return &run->problems.rows[*hint];
    }
    return NULL;
}

static const char *why_unfinished(const task_row *row)
{
    static const char *const words[] = {"not run yet", "still running", "", "the harness gave up"};
    return row->error != NULL && row->state == TASK_FAILED ? row->error : words[row->state];
}

static const char *silent_about(const char *kind)
{
    for (size_t i = 0; kind != NULL && i < sizeof silences / sizeof silences[0]; i++)
        if (strcmp(silences[i].kind, kind) == 0)
            return silences[i].reason;
    return NULL;
}

static void judge_numbers(board_task *t)
{
    const result_row *r = &t->row->outcome;
    const char *silent = silent_about(r->device_kind);
    t->speedup = t->candidate_ms = t->baseline_ms = t->ci_low = t->ci_high = (double)NAN;
    if (t->row->state != TASK_DONE) {
        t->reason = why_unfinished(t->row);
    } else if (silent != NULL) {
        t->reason = r->result == OUTCOME_OK || r->reason == NULL ? silent : r->reason;
    } else {
        t->speedup = r->speedup;
        t->candidate_ms = r->candidate_ms;
        t->baseline_ms = r->baseline_ms;
        t->verdict = r->verdict;
        t->ci_low = r->ci_low;
        t->ci_high = r->ci_high;
        t->reason = isnan(r->speedup) ? r->reason : NULL;
    }
}

static void list_tasks(board *b)
{
    size_t room = 0;
    for (size_t r = 0; r < b->run_count; r++)
        room += b->runs[r].tasks.count;
    b->tasks = xcalloc(room + 1, sizeof *b->tasks);
    for (size_t r = 0; r < b->run_count; r++) {
        const board_run *run = &b->runs[r];
        size_t hint = 0;
        for (size_t i = 0; i < run->tasks.count; i++) {
            board_task *t = &b->tasks[b->task_count];
            *t = (board_task){.run = run, .row = &run->tasks.rows[i], .usage = &run->usage.rows[i]};
            t->problem = find_problem(run, t->row->problem, &hint);
            if (!find_entrant(b, t->row->entrant, &t->entrant))
                continue;
            judge_numbers(t);
            b->task_count++;
        }
    }
}

static int read_fn(store_tx *tx, void *arg, err *e)
{
    reading *in = arg;
    const board_ask *ask = in->ask;
    SCOPED(standing_list_fini) standing_list standing = {0};
    for (size_t i = 0; i < ask->run_count; i++)
        if (add_run(tx, in->board, ask->runs[i], e) < 0)
            return -1;
    if (ask->run_count == 0 && (query_newest(tx, ask->suite, &standing, e) < 0 ||
                                add_newest(tx, in->board, &standing, e) < 0))
        return -1;
    list_entrants(in->board, &standing);
    list_tasks(in->board);
    return 0;
}

board *board_read(store *db, const board_ask *ask, err *e)
{
    board *self = xcalloc(1, sizeof *self);
    reading in = {ask, self};
    if (store_run(db, read_fn, &in, e) < 0)
        board_destroy(&self);
    return self;
}

void board_destroy(board **self)
{
    board *b = *self;
    if (b == NULL)
        return;
    for (size_t i = 0; i < b->run_count; i++) {
        run_row_fini(&b->runs[i].row);
        problem_list_fini(&b->runs[i].problems);
        entrant_list_fini(&b->runs[i].entrants);
        task_list_fini(&b->runs[i].tasks);
        usage_list_fini(&b->runs[i].usage);
        spend_list_fini(&b->runs[i].spend);
    }
    free(b->runs);
    free(b->entrants);
    free(b->tasks);
    free(b);
    *self = NULL;
}

/* ---- looking ---- */

bool board_task_scored(const board_task *task)
{
    return task->row->state == TASK_DONE && outcome_is_scored(task->row->outcome.result);
}

bool board_task_correct(const board_task *task)
{
    return task->row->state == TASK_DONE && task->row->outcome.result == OUTCOME_OK;
}

bool board_is_gemm(const problem_row *problem)
{
    return strcmp(problem->category, "gemm") == 0;
}

bool board_any_kind(const board *self, const char *kind)
{
    for (size_t i = 0; i < self->task_count; i++) {
        const char *ran = self->tasks[i].row->outcome.device_kind;
        if (ran != NULL && strcmp(ran, kind) == 0)
            return true;
    }
    return false;
}

board_protocols board_protocols_of(const run_row *run, const task_list *tasks)
{
    for (size_t i = 0; i < tasks->count; i++) {
        const result_row *r = &tasks->rows[i].outcome;
        if (tasks->rows[i].state == TASK_DONE && r->correct_protocol != NULL)
            return (board_protocols){r->correct_protocol, r->timing_protocol};
    }
    return (board_protocols){run->correct_protocol, run->timing_protocol};
}

bool board_rankable(const board *self)
{
    for (size_t i = 0; i < self->run_count; i++)
        if (self->runs[i].ranked == 0 || self->runs[i].ranked != self->runs[i].counts.planned)
            return false;
    return self->run_count > 0;
}
