/* made - boards in memory, made from a seed
 *
 * SPDX-License-Identifier: MIT */
#include "tests/unit/reports/made.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/rng.h"
#include "common/xalloc.h"

/* What rows point at and nobody else owns. */
struct made_texts {
    char **rows;
    size_t count;
};

static const char *const default_names[MADE_ENTRANTS_MAX] = {"ada", "bea",  "cid", "dot",
                                                             "eve", "finn", "gus", "hal"};

made_ask made_ask_of(uint64_t seed, const double *strengths, size_t n)
{
    made_ask ask = {.seed = seed, .problems = 30, .samples = 2, .entrants = n};
    for (size_t e = 0; e < n; e++) {
        ask.strength[e] = strengths[e];
        ask.stream[e] = e;
        ask.place[e] = e;
        ask.names[e] = default_names[e];
    }
    return ask;
}

static const char *keep(made *m, char *text)
{
    struct made_texts *t = m->texts;
    t->rows = xreallocarray(t->rows, t->count + 1, sizeof *t->rows);
    return t->rows[t->count++] = text;
}

static void make_problems(made *m, const made_ask *ask, board_run *run)
{
    run->problems.count = ask->problems;
    run->problems.rows = xcalloc(ask->problems, sizeof *run->problems.rows);
    for (size_t p = 0; p < ask->problems; p++) {
        const char *id = keep(m, xasprintf("problem%02zu", p));
        run->problems.rows[p] = (problem_row){.run = "made",
                                              .id = id,
                                              .position = (int64_t)p,
                                              .title = id,
                                              .category = p % 7 == 6   ? "gemm"
                                                          : p % 2 == 0 ? "scan"
                                                                       : "reduction",
                                              .dtype = p % 3 == 0 ? "f16" : "f32",
                                              .contract = "{}",
                                              .contract_hash = hash_of_text(id)};
    }
}

static void make_entrants(const made_ask *ask, board *b)
{
    board_run *run = b->runs;
    run->entrants.count = ask->entrants;
    run->entrants.rows = xcalloc(ask->entrants, sizeof *run->entrants.rows);
    b->entrant_count = ask->entrants;
    b->entrants = xcalloc(ask->entrants + 1, sizeof *b->entrants);
    for (size_t e = 0; e < ask->entrants; e++) {
        entrant_row *row = &run->entrants.rows[ask->place[e]];
        *row = (entrant_row){.id = (int64_t)ask->place[e] + 1,
                             .run = "made",
                             .name = ask->names[e],
                             .models = "{\"codegen\":\"some:model\"}"};
        b->entrants[ask->place[e]] = (board_entrant){run, row};
    }
}

/* An outcome before it is packed. */
typedef struct drawn {
    outcome result;
    const char *stage, *reason, *verdict, *verdict_reason;
    double speedup, ci_low, ci_high, candidate_ms, baseline_ms, wall_ms, device_ms;
} drawn;

static drawn failed(rng *r)
{
    static const outcome kinds[] = {OUTCOME_WRONG, OUTCOME_COMPILE_FAILED, OUTCOME_NO_ANSWER,
                                    OUTCOME_HUNG};
    static const char *const stages[] = {"correctness", "codegen", "codegen", "correctness"};
    uint32_t kind = rng_below(r, 4);
    return (drawn){.result = kinds[kind],
                   .stage = stages[kind],
                   .reason = "not correct",
                   .speedup = (double)NAN,
                   .ci_low = (double)NAN,
                   .ci_high = (double)NAN,
                   .candidate_ms = (double)NAN,
                   .baseline_ms = (double)NAN};
}

/* A win, or correct with any other verdict. */
static drawn passed(rng *r, bool win)
{
    static const char *const verdicts[] = {"slower", "same", "inconclusive"};
    uint32_t kind = rng_below(r, 3);
    double speedup = win         ? 1.05 + 4 * rng_unit(r)
                     : kind == 0 ? 0.3 + 0.6 * rng_unit(r)
                                 : 0.999 + 0.01 * rng_unit(r);
    double half = win ? 0.01 : kind == 2 ? 0.05 : 0.005;
    return (drawn){.result = OUTCOME_OK,
                   .speedup = speedup,
                   .verdict = win ? "faster" : verdicts[kind],
                   .verdict_reason = !win && kind == 2 ? "interval" : NULL,
                   .ci_low = speedup * (1 - half),
                   .ci_high = speedup * (1 + half),
                   .candidate_ms = 0.1 / speedup,
                   .baseline_ms = 0.1};
}

static drawn draw(const made_ask *ask, size_t e, rng *r)
{
    double u = rng_unit(r);
    bool win = u < ask->strength[e];
    drawn out = win || u < (1 + ask->strength[e]) / 2 ? passed(r, win) : failed(r);
    out.wall_ms = 1000 + 1000 * rng_unit(r);
    out.device_ms = 100 * rng_unit(r);
    return out;
}

static board_usage usage_of(rng *r)
{
    const int32_t calls = 1 + (int32_t)rng_below(r, 4);
    return (board_usage){.attempts = 1 + (int32_t)rng_below(r, 3),
                         .calls = calls,
                         .cost_unknown = rng_below(r, 20) == 0 ? 1 : 0,
                         .tokens_in = (int64_t)1000 * calls,
                         .tokens_out = (int64_t)300 * calls,
                         .tokens_cache_read = rng_below(r, 500),
                         .tokens_cache_write = rng_below(r, 100),
                         .cost_usd = 0.01 * rng_unit(r),
                         .latency_ms = 1000 * rng_unit(r)};
}

/* Of an entrant at a problem's sample: depends on seed, stream and strength only. */
static void make_task(made *m, const made_ask *ask, size_t p, size_t e, size_t s)
{
    board *b = &m->board;
    board_run *run = b->runs;
    size_t place = ask->place[e];
    size_t i = (p * ask->entrants + place) * ask->samples + s;
    rng r;
    rng_init(&r, ask->seed * 1000003 + ask->stream[e] * 100003 + p * 101 + s);
    const drawn d = draw(ask, e, &r);
    b->rows[i] = (board_row){.id = keep(m, xasprintf("t%zu-%zu-%zu", p, place, s)),
                             .problem = run->problems.rows[p].id,
                             .facts = b->facts[0],
                             .sample = (int32_t)s,
                             .state = TASK_DONE,
                             .outcome = {.result = d.result,
                                         .stage = d.stage,
                                         .verdict_reason = d.verdict_reason,
                                         .floor_ms = (double)NAN,
                                         .wall_ms = d.wall_ms,
                                         .device_ms = d.device_ms}};
    b->usage[i] = usage_of(&r);
    b->tasks[i] = (board_task){.run = run,
                               .row = &b->rows[i],
                               .problem = &run->problems.rows[p],
                               .usage = &b->usage[i],
                               .entrant = (uint32_t)place,
                               .speedup = d.speedup,
                               .reason = d.reason,
                               .candidate_ms = d.candidate_ms,
                               .baseline_ms = d.baseline_ms,
                               .verdict = d.verdict,
                               .ci_low = d.ci_low,
                               .ci_high = d.ci_high,
                               .margin = d.verdict != NULL ? 0.01 : (double)NAN};
}

static void make_facts(board *b)
{
    b->facts = xcalloc(1, sizeof(board_facts *));
    b->facts[0] = xcalloc(1, sizeof **b->facts);
    b->facts_count = 1;
    *b->facts[0] = (board_facts){.device = "NVIDIA H200",
                                 .device_kind = "cuda",
                                 .driver = "13000",
                                 .torch = "2.11.0",
                                 .nvrtc = "13.0",
                                 .correct_protocol = "ce-correct-1",
                                 .timing_protocol = "ce-timing-1",
                                 .baseline_mode = "eager"};
    b->runs->protocols = (board_protocols){"ce-correct-1", "ce-timing-1"};
}

/* What the view `ranked` says of it: everything. */
static void make_ranked(const made_ask *ask, board_run *run)
{
    run->ranked.count = ask->entrants;
    run->ranked.rows = xcalloc(ask->entrants, sizeof *run->ranked.rows);
    for (size_t e = 0; e < ask->entrants; e++)
        run->ranked.rows[e] = (ranked_row){ask->names[e], (int64_t)(ask->problems * ask->samples)};
}

made *made_create(const made_ask *ask)
{
    made *self = xcalloc(1, sizeof *self);
    board *b = &self->board;
    size_t tasks = ask->problems * ask->entrants * ask->samples;
    self->texts = xcalloc(1, sizeof *self->texts);
    b->run_count = 1;
    b->runs = xcalloc(1, sizeof *b->runs);
    b->runs->row = (run_row){.id = "made",
                             .created_ms = 1764520000000,
                             .finished_ms = 1764520090000,
                             .state = RUN_COMPLETE,
                             .suite = "internal",
                             .suite_version = "0.1",
                             .suite_hash = hash_of_text("internal 0.1"),
                             .device = "cuda",
                             .samples = (int64_t)ask->samples,
                             .correct_protocol = "ce-correct-1",
                             .timing_protocol = "ce-timing-1",
                             .settings = "{}",
                             .command = "ce-coord eval",
                             .version = "0.1.0"};
    b->runs->counts =
        (run_counts){.planned = (int64_t)tasks, .done = (int64_t)tasks, .scored = (int64_t)tasks};
    make_problems(self, ask, b->runs);
    make_entrants(ask, b);
    make_facts(b);
    b->rows = xcalloc(tasks + 1, sizeof *b->rows);
    b->usage = xcalloc(tasks + 1, sizeof *b->usage);
    b->tasks = xcalloc(tasks + 1, sizeof *b->tasks);
    b->task_count = tasks;
    for (size_t p = 0; p < ask->problems; p++)
        for (size_t e = 0; e < ask->entrants; e++)
            for (size_t s = 0; s < ask->samples; s++)
                make_task(self, ask, p, e, s);
    make_ranked(ask, b->runs);
    return self;
}

void made_destroy(made **self)
{
    if (*self == NULL)
        return;
    board *b = &(*self)->board;
    free(b->runs->problems.rows);
    free(b->runs->entrants.rows);
    free(b->runs->ranked.rows);
    free(b->runs);
    free(b->entrants);
    free(b->tasks);
    free(b->rows);
    free(b->usage);
    free(b->facts[0]);
    free(b->facts);
    for (size_t i = 0; i < (*self)->texts->count; i++)
        free((*self)->texts->rows[i]);
    free((*self)->texts->rows);
    free((*self)->texts);
    free(*self);
    *self = NULL;
}
