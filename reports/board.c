/* board - everything a report reads, in one snapshot
 *
 * SPDX-License-Identifier: MIT */
#include "reports/board.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/intern.h"
#include "common/scoped.h"
#include "common/str.h"
#include "common/xalloc.h"

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
        entrant_list_read(tx, id, &out->entrants, e) < 0 || run_count(tx, id, &out->counts, e) < 0)
        return -1;
    return ranked_list_read(tx, id, &out->ranked, e);
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

static const char *why_unfinished(const board_row *row)
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

static void judge_numbers(board_task *t, const score_row *from, intern *texts)
{
    const result_row *r = &from->task->outcome;
    const char *silent = silent_about(r->device_kind);
    t->speedup = t->candidate_ms = t->baseline_ms = (double)NAN;
    t->ci_low = t->ci_high = t->margin = (double)NAN;
    if (t->row->state != TASK_DONE) {
        t->reason = why_unfinished(t->row);
    } else if (silent != NULL) {
        t->reason =
            r->result == OUTCOME_OK || r->reason == NULL ? silent : intern_text(texts, r->reason);
    } else {
        t->speedup = r->speedup;
        t->candidate_ms = r->candidate_ms;
        t->baseline_ms = r->baseline_ms;
        t->verdict = intern_text(texts, r->verdict);
        t->ci_low = r->ci_low;
        t->ci_high = r->ci_high;
        t->margin = from->margin;
        t->reason = isnan(r->speedup) ? intern_text(texts, r->reason) : NULL;
    }
}

/* ---- tasks, packed as they are read ---- */

typedef struct packing {
    board *b;
    const board_run *run;
    size_t problem;           /* of the task before; tasks come in suite order */
    const board_facts *facts; /* of the task before */
} packing;

static const board_facts *keep_facts(board *b, const board_facts *facts)
{
    for (size_t i = 0; i < b->facts_count; i++)
        if (memcmp(b->facts[i], facts, sizeof *facts) == 0)
            return b->facts[i];
    board_facts *fresh = xmalloc(sizeof *fresh);
    *fresh = *facts;
    b->facts = xreallocarray(b->facts, b->facts_count + 1, sizeof *b->facts);
    return b->facts[b->facts_count++] = fresh;
}

/* Texts are interned, so equal facts are equal pointers. */
static const board_facts *pack_facts(packing *p, const task_row *task)
{
    intern *texts = p->b->texts;
    const result_row *r = &task->outcome;
    const board_facts facts = {
        .device = intern_text(texts, r->device),
        .device_kind = intern_text(texts, r->device_kind),
        .device_uuid = intern_text(texts, r->device_uuid),
        .driver = intern_text(texts, r->driver),
        .torch = intern_text(texts, r->torch),
        .nvrtc = intern_text(texts, r->nvrtc),
        .node = intern_text(texts, task->node),
        .correct_protocol = intern_text(texts, r->correct_protocol),
        .timing_protocol = intern_text(texts, r->timing_protocol),
        .baseline_mode = intern_text(texts, r->baseline_mode),
    };
    if (p->facts == NULL || memcmp(p->facts, &facts, sizeof facts) != 0)
        p->facts = keep_facts(p->b, &facts);
    return p->facts;
}

static const hash *pack_hash(board *b, const hash *value, const hash *before)
{
    if (hash_is_zero(value))
        return NULL;
    if (before != NULL && hash_equal(before, value))
        return before;
    return intern_keep(b->texts, value, sizeof *value);
}

static board_outcome pack_outcome(board *b, const result_row *r, const board_outcome *before)
{
    intern *texts = b->texts;
    return (board_outcome){
        .result = r->result,
        .stage = intern_text(texts, r->stage),
        .detail = intern_text(texts, r->detail),
        .text = intern_text(texts, r->text),
        .verdict_reason = intern_text(texts, r->verdict_reason),
        .marks = intern_text(texts, r->marks),
        .sanitizer = intern_text(texts, r->sanitizer),
        .floor_ms = r->floor_ms,
        .wall_ms = r->wall_ms,
        .device_ms = r->device_ms,
        .source = pack_hash(b, &r->source, before != NULL ? before->source : NULL),
        .plan = pack_hash(b, &r->plan, before != NULL ? before->plan : NULL),
    };
}
static void pack_row(packing *p, const task_row *task, board_row *row)
{
    board *b = p->b;
    const board_outcome *before = b->task_count > 0 ? &(row - 1)->outcome : NULL;
    *row = (board_row){
        .id = intern_keep(b->texts, task->id, strlen(task->id) + 1),
        .problem = p->run->problems.rows[p->problem].id,
        .error = intern_text(b->texts, task->error),
        .facts = pack_facts(p, task),
        .sample = (int32_t)task->sample,
        .leases = (int32_t)task->leases,
        .state = task->state,
        .outcome = pack_outcome(b, &task->outcome, before),
    };
}

static void pack_usage(const usage_row *usage, board_usage *out)
{
    *out = (board_usage){
        .attempts = (int32_t)usage->attempts,
        .calls = (int32_t)usage->calls,
        .cost_unknown = (int32_t)usage->cost_unknown,
        .tokens_unknown = (int32_t)usage->tokens_unknown,
        .unknown_calls = (int32_t)usage->unknown_calls,
        .tokens_in = usage->tokens_in,
        .tokens_out = usage->tokens_out,
        .tokens_cache_read = usage->tokens_cache_read,
        .tokens_cache_write = usage->tokens_cache_write,
        .cost_usd = usage->cost_usd,
        .unknown_usd = usage->unknown_usd,
        .latency_ms = usage->latency_ms,
    };
}

static int pack_fn(void *arg, const score_row *from, err *e)
{
    (void)e;
    packing *p = arg;
    const task_row *task = from->task;
    board *b = p->b;
    size_t entrant;
    while (strcmp(p->run->problems.rows[p->problem].id, task->problem) != 0)
        p->problem++;
    if (!find_entrant(b, task->entrant, &entrant))
        return 0;
    board_row *row = &b->rows[b->task_count];
    board_task *t = &b->tasks[b->task_count];
    pack_row(p, task, row);
    pack_usage(from->usage, &b->usage[b->task_count]);
    *t = (board_task){.run = p->run,
                      .row = row,
                      .problem = &p->run->problems.rows[p->problem],
                      .usage = &b->usage[b->task_count],
                      .entrant = (uint32_t)entrant};
    judge_numbers(t, from, b->texts);
    gain_add(&b->gains[entrant], from->tries, t->speedup);
    b->task_count++;
    return 0;
}

static board_protocols protocols_of(const board *b, const board_run *run)
{
    for (size_t i = 0; i < b->task_count; i++) {
        const board_row *row = b->tasks[i].row;
        if (b->tasks[i].run == run && row->state == TASK_DONE &&
            row->facts->correct_protocol != NULL)
            return (board_protocols){row->facts->correct_protocol, row->facts->timing_protocol};
    }
    if (strcmp(run->row.device, "emu") != 0)
        return (board_protocols){run->row.correct_protocol, run->row.timing_protocol};
    SCOPED(scoped_free) char *emulated = xasprintf("%s/emu", run->row.correct_protocol);
    return (board_protocols){intern_text(b->texts, emulated), NULL};
}

static int read_tasks(store_tx *tx, board *b, err *e)
{
    size_t room = 1;
    for (size_t r = 0; r < b->run_count; r++)
        room += (size_t)b->runs[r].counts.planned;
    b->gains = xcalloc(b->entrant_count + 1, sizeof *b->gains);
    b->tasks = xcalloc(room, sizeof *b->tasks);
    b->rows = xcalloc(room, sizeof *b->rows);
    b->usage = xcalloc(room, sizeof *b->usage);
    for (size_t r = 0; r < b->run_count; r++) {
        board_run *run = &b->runs[r];
        packing p = {.b = b, .run = run};
        if (score_each(tx, run->row.id, pack_fn, &p, &run->sums, e) < 0)
            return -1;
        run->protocols = protocols_of(b, run);
    }
    return 0;
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
    if (ask->claims && claim_list_read(tx, &in->board->claims, e) < 0)
        return -1;
    return read_tasks(tx, in->board, e);
}

board *board_read(store *db, const board_ask *ask, err *e)
{
    board *self = xcalloc(1, sizeof *self);
    self->db = db;
    self->texts = intern_create();
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
        score_sums_fini(&b->runs[i].sums);
        ranked_list_fini(&b->runs[i].ranked);
    }
    free(b->runs);
    free(b->entrants);
    free(b->tasks);
    free(b->gains);
    free(b->rows);
    free(b->usage);
    for (size_t i = 0; i < b->facts_count; i++)
        free(b->facts[i]);
    free(b->facts);
    intern_destroy(&b->texts);
    claim_list_fini(&b->claims);
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

bool board_is_degenerate(const problem_row *problem)
{
    return strcmp(problem->category, "degenerate") == 0;
}

bool board_any_kind(const board *self, const char *kind)
{
    for (size_t i = 0; i < self->task_count; i++) {
        const char *ran = self->tasks[i].row->facts->device_kind;
        if (ran != NULL && strcmp(ran, kind) == 0)
            return true;
    }
    return false;
}

int64_t board_ranked_of(const board_entrant *entrant)
{
    const ranked_list *list = &entrant->run->ranked;
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(list->rows[i].entrant, entrant->row->name) == 0)
            return list->rows[i].tasks;
    return 0;
}

bool board_run_rankable(const board_run *run)
{
    int64_t sum = 0;
    for (size_t i = 0; i < run->ranked.count; i++)
        sum += run->ranked.rows[i].tasks;
    return sum > 0 && sum == run->counts.planned;
}

bool board_rankable(const board *self)
{
    for (size_t i = 0; i < self->run_count; i++)
        if (!board_run_rankable(&self->runs[i]))
            return false;
    return self->run_count > 0;
}

board_hidden board_task_hidden(const board_task *task)
{
    const board_facts *facts = task->row->facts;
    const char *text = task->row->outcome.text;
    if (task->row->state != TASK_DONE || facts->correct_protocol == NULL ||
        !str_starts(facts->correct_protocol, "ce-correct-1") || facts->device_kind == NULL ||
        strcmp(facts->device_kind, "fake") == 0)
        return BOARD_HIDDEN_NONE;
    if (task->row->outcome.result == OUTCOME_OK)
        return BOARD_HIDDEN_PASSED;
    return text != NULL && str_starts(text, "hidden run") ? BOARD_HIDDEN_FAILED : BOARD_HIDDEN_NONE;
}

board_sanitizer board_task_sanitizer(const board_task *task)
{
    const char *state = task->row->outcome.sanitizer;
    if (state == NULL)
        return BOARD_SANITIZER_NONE;
    if (strcmp(state, "clean") == 0)
        return BOARD_SANITIZER_CLEAN;
    return str_starts(state, "not run") ? BOARD_SANITIZER_NOT_RUN : BOARD_SANITIZER_FINDING;
}
