/* ranking - who stands where on a board, and who does not, and why
 *
 * SPDX-License-Identifier: MIT */
#include "reports/ranking.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/json.h"
#include "common/scoped.h"
#include "common/stats.h"
#include "common/str.h"
#include "common/xalloc.h"

/* Of the bootstrap: the same board gives the same intervals. */
static const uint64_t seed = 20261130;

typedef struct making {
    const board *b;
    const agg_list *aggs;
    ranking *out;
    const grid *g; /* problems of all runs */
    size_t *place; /* of each among the problems of the board; NOWHERE: of those apart only */
} making;

#define NOWHERE SIZE_MAX

/* ---- what an entrant was measured by ---- */

typedef struct facts {
    const char *device, *other; /* names met; NULL: none, or no second one */
    const char *kind, *correctness, *timing;
    size_t met, impossible;
} facts;

static void meet(const char *value, const char **first, const char **other)
{
    if (value == NULL)
        return;
    if (*first == NULL)
        *first = value;
    else if (*first != value && strcmp(*first, value) != 0)
        *other = value;
}

static facts *facts_create(const board *b)
{
    facts *list = xcalloc(b->entrant_count + 1, sizeof *list);
    for (size_t i = 0; i < b->task_count; i++) {
        const board_facts *r = b->tasks[i].row->facts;
        const char *verdict = b->tasks[i].verdict;
        facts *f = &list[b->tasks[i].entrant];
        const char *ignored = NULL;
        if (b->tasks[i].row->state != TASK_DONE)
            continue;
        meet(r->device, &f->device, &f->other);
        meet(r->device_kind, &f->kind, &ignored);
        meet(r->correct_protocol, &f->correctness, &ignored);
        meet(r->timing_protocol, &f->timing, &ignored);
        f->impossible += verdict != NULL && strcmp(verdict, "impossible") == 0 ? 1 : 0;
    }
    return list;
}

static bool differ(const char *a, const char *b)
{
    return a != NULL && b != NULL && strcmp(a, b) != 0;
}

static const board_run *newest_run(const board *b)
{
    const board_run *best = &b->runs[0];
    for (size_t i = 1; i < b->run_count; i++) {
        const run_row *r = &b->runs[i].row;
        if (r->created_ms > best->row.created_ms ||
            (r->created_ms == best->row.created_ms && strcmp(r->id, best->row.id) > 0))
            best = &b->runs[i];
    }
    return best;
}

/* What the newest run was measured by: facts of all its entrants together. */
static facts facts_of_board(const making *m, const facts *list)
{
    facts sum = {0};
    for (size_t i = 0; i < m->b->entrant_count; i++) {
        const char *ignored = NULL;
        if (m->b->entrants[i].run != m->out->newest)
            continue;
        meet(list[i].device, &sum.device, &ignored);
        meet(list[i].kind, &sum.kind, &ignored);
        meet(list[i].correctness, &sum.correctness, &ignored);
        meet(list[i].timing, &sum.timing, &ignored);
    }
    return sum;
}

static bool is_human(const entrant_row *row)
{
    SCOPED(json_destroy)
    json *models = json_parse_tree(row->models, strlen(row->models), "models", NULL);
    size_t stages = 0;
    for (json_iter it = {0}; json_next(models, &it); stages++)
        if (strcmp(json_str(it.value, ""), "gold") != 0)
            return false;
    return stages > 0;
}

/* ---- why there is no rank ---- */

static char *why_apart(const making *m, size_t e, const facts *f, const facts *all)
{
    const run_row *run = &m->b->entrants[e].run->row;
    const run_row *want = &m->out->newest->row;
    if (strcmp(run->suite, want->suite) != 0 || !hash_equal(&run->suite_hash, &want->suite_hash))
        return xasprintf("another suite: %s %s with other content", run->suite, run->suite_version);
    if (differ(f->device, all->device))
        return xasprintf("another device: %s", f->device);
    if (differ(f->correctness, all->correctness))
        return xasprintf("another protocol of checks: %s", f->correctness);
    if (differ(f->timing, all->timing))
        return xasprintf("another protocol of times: %s", f->timing);
    return NULL;
}

static bool is_preliminary(const char *protocol)
{
    return protocol != NULL && (str_ends(protocol, "-0") || str_ends(protocol, "-0/emu"));
}

/* The first on the board that has the problem, or NULL. */
static const board_task *first_at(const making *m, size_t problem)
{
    for (size_t e = 0; e < m->out->count; e++) {
        const board_task *t = grid_at(m->g, problem, e)->example;
        if (t != NULL && !m->out->rows[e].is_apart)
            return t;
    }
    return NULL;
}

static bool is_headline(const board_task *first)
{
    return first != NULL && !board_is_degenerate(first->problem);
}

static void place_problems(making *m)
{
    m->place = xcalloc(m->g->problem_count + 1, sizeof *m->place);
    for (size_t p = 0; p < m->g->problem_count; p++)
        m->place[p] = is_headline(first_at(m, p)) ? m->out->problems++ : NOWHERE;
}

/* Problems of the board that the entrant did not meet with the same contract. */
static size_t missing_problems(const making *m, size_t e)
{
    size_t missing = 0;
    for (size_t p = 0; p < m->g->problem_count; p++) {
        const board_task *first = first_at(m, p), *mine = grid_at(m->g, p, e)->example;
        bool met = first != NULL && mine != NULL &&
                   hash_equal(&first->problem->contract_hash, &mine->problem->contract_hash);
        missing += first != NULL && !met ? 1 : 0;
    }
    return missing;
}

static char *why_not_ranked(const making *m, size_t e, const facts *f)
{
    const board_entrant *entrant = &m->b->entrants[e];
    const agg *a = &m->aggs->rows[e];
    size_t missing = missing_problems(m, e);
    if (f->kind != NULL && strcmp(f->kind, "fake") == 0)
        return xstrdup("fake device: scripted, not a measurement");
    if (f->kind != NULL && strcmp(f->kind, "emu") == 0)
        return xstrdup("emulator: correctness only");
    if (a->scored < a->declared)
        return xasprintf("%zu of %zu tasks are not scored", a->declared - a->scored, a->declared);
    if (entrant->run->row.state != RUN_COMPLETE)
        return xasprintf("its run is %s", run_state_name(entrant->run->row.state));
    if (f->impossible > 0)
        return xasprintf("%zu kernel%s faster than the hardware can be: somebody has to look",
                         f->impossible, f->impossible == 1 ? " is" : "s are");
    if (is_preliminary(f->correctness) || is_preliminary(f->timing))
        return xasprintf("%s is never ranked",
                         is_preliminary(f->correctness) ? f->correctness : f->timing);
    if (missing > 0)
        return xasprintf("%zu of the board's %zu problems are not in its run", missing,
                         m->out->problems);
    if (f->other != NULL)
        return xasprintf("its tasks ran on more than one device: %s, %s", f->device, f->other);
    if (board_ranked_of(entrant) < (int64_t)a->declared)
        return xasprintf("only %" PRId64 " of %zu tasks may be ranked", board_ranked_of(entrant),
                         a->declared);
    return NULL;
}

static void judge_rows(making *m)
{
    SCOPED(scoped_free) facts *list = facts_create(m->b);
    const facts all = facts_of_board(m, list);
    for (size_t e = 0; e < m->out->count; e++) {
        ranking_row *row = &m->out->rows[e];
        row->is_human = is_human(m->b->entrants[e].row);
        row->unranked = why_apart(m, e, &list[e], &all);
        row->is_apart = row->unranked != NULL;
        m->out->shown += row->is_apart ? 0 : 1;
    }
    place_problems(m);
    for (size_t e = 0; e < m->out->count; e++) {
        ranking_row *row = &m->out->rows[e];
        if (!row->is_apart)
            row->unranked = why_not_ranked(m, e, &list[e]);
        m->out->ranked += row->unranked == NULL && !row->is_human ? 1 : 0;
    }
}

static bool has_rank(const ranking_row *row)
{
    return row->unranked == NULL && !row->is_human;
}

/* More than versus takes: nobody has a rank. */
static void limit_rows(ranking *r)
{
    if (r->ranked <= VERSUS_ENTRANTS_MAX)
        return;
    for (size_t e = 0; e < r->count; e++)
        if (has_rank(&r->rows[e]))
            r->rows[e].unranked =
                xasprintf("more than %d entrants: name fewer runs", VERSUS_ENTRANTS_MAX);
    r->ranked = 0;
}

/* ---- ranks ---- */

static size_t shared_samples(const making *m)
{
    size_t least = (size_t)m->out->newest->row.samples;
    for (size_t e = 0; e < m->out->count; e++) {
        size_t mine = (size_t)m->b->entrants[e].run->row.samples;
        if (has_rank(&m->out->rows[e]) && mine < least)
            least = mine;
    }
    return least;
}

/* Certified wins of every entrant that has a rank, entrant after entrant. */
static void fill_hits(const making *m, const size_t *slots, uint32_t *hits)
{
    size_t hint = 0;
    for (size_t i = 0; i < m->b->task_count; i++) {
        const board_task *t = &m->b->tasks[i];
        if (!has_rank(&m->out->rows[t->entrant]) || (size_t)t->row->sample >= m->out->samples ||
            !agg_is_certified(t, 1) || board_is_degenerate(t->problem))
            continue;
        size_t problem = m->place[grid_find(m->g, t->row->problem, &hint)];
        hits[slots[t->entrant] * m->out->problems + problem]++;
    }
}

/* The largest share of problems on which two entrants differ. */
static double most_discordant(const ranking *r, const uint32_t *hits)
{
    size_t most = 0;
    for (size_t a = 0; a < r->ranked; a++)
        for (size_t b = a + 1; b < r->ranked; b++) {
            size_t n = 0;
            for (size_t p = 0; p < r->problems; p++)
                n += (hits[a * r->problems + p] > 0) != (hits[b * r->problems + p] > 0) ? 1 : 0;
            most = n > most ? n : most;
        }
    return (double)most / (double)r->problems;
}

static void give_ranks(making *m)
{
    ranking *r = m->out;
    r->samples = shared_samples(m);
    r->detectable = (double)NAN;
    if (r->ranked == 0 || r->problems == 0)
        return;
    SCOPED(scoped_free) size_t *slots = xcalloc(r->count + 1, sizeof *slots);
    SCOPED(scoped_free) uint32_t *hits = xcalloc(r->ranked * r->problems, sizeof *hits);
    for (size_t e = 0, slot = 0; e < r->count; e++)
        slots[e] = has_rank(&r->rows[e]) ? slot++ : 0;
    fill_hits(m, slots, hits);
    const versus_input input = {.hits = hits,
                                .entrants = r->ranked,
                                .problems = r->problems,
                                .samples = r->samples,
                                .seed = seed};
    SCOPED(versus_destroy) versus *v = versus_create(&input);
    for (size_t e = 0; e < r->count; e++)
        if (has_rank(&r->rows[e]))
            r->rows[e].place = versus_ranks(v)[slots[e]];
    if (r->ranked > 1)
        r->detectable = versus_detectable(r->problems, most_discordant(r, hits));
}

/* ---- the common set ---- */

static bool counts(const ranking_row *row)
{
    return row->covered > 0 && !row->is_apart;
}

static bool in_scope(const making *m, size_t problem)
{
    const board_task *t = first_at(m, problem);
    return is_headline(t) && !board_is_gemm(t->problem);
}

static bool is_common(const making *m, size_t problem)
{
    size_t with = 0;
    for (size_t e = 0; e < m->out->count; e++) {
        if (!counts(&m->out->rows[e]))
            continue;
        if (isnan(grid_at(m->g, problem, e)->speedup))
            return false;
        with++;
    }
    return with > 0;
}

static void find_common(making *m)
{
    ranking *r = m->out;
    SCOPED(scoped_free) bool *scope = xcalloc(m->g->problem_count + 1, sizeof *scope);
    SCOPED(scoped_free) double *speeds = xcalloc(m->g->problem_count + 1, sizeof *speeds);
    for (size_t p = 0; p < m->g->problem_count; p++) {
        scope[p] = in_scope(m, p);
        r->scope += scope[p] ? 1 : 0;
        for (size_t e = 0; e < r->count; e++)
            r->rows[e].covered += scope[p] && !isnan(grid_at(m->g, p, e)->speedup) ? 1 : 0;
    }
    for (size_t p = 0; p < m->g->problem_count; p++) {
        scope[p] = scope[p] && is_common(m, p);
        r->common += scope[p] ? 1 : 0;
    }
    for (size_t e = 0; e < r->count; e++) {
        size_t n = 0;
        for (size_t p = 0; p < m->g->problem_count; p++)
            if (scope[p] && counts(&r->rows[e]))
                speeds[n++] = grid_at(m->g, p, e)->speedup;
        r->rows[e].common_geomean = stats_geomean(speeds, n);
    }
}

/* ---- lines ---- */

static int group_of(const ranking_row *row)
{
    if (row->is_apart)
        return 2;
    return row->unranked != NULL ? 1 : 0;
}

static double wins(const agg *a)
{
    return a->declared > 0 ? (double)a->certified[AGG_FAST_1] / (double)a->declared : 0;
}

/* Below 0: a is printed before b. NaN goes last. */
static int by_number(double a, double b)
{
    if (isnan(a) || isnan(b))
        return isnan(a) - isnan(b);
    return (a < b) - (a > b);
}

static double correct_share(const agg *a)
{
    return a->declared > 0 ? (double)a->correct / (double)a->declared : 0;
}

/* Only for the order of lines: a line has to stand somewhere, so at last by name and run. */
static int by_figures(const making *m, size_t x, size_t y)
{
    const agg *a = &m->aggs->rows[x], *b = &m->aggs->rows[y];
    const board_entrant *mine = &m->b->entrants[x], *other = &m->b->entrants[y];
    int order = 0;
    if (m->out->rows[x].unranked != NULL)
        order = by_number(correct_share(a), correct_share(b));
    if (order == 0)
        order = by_number(a->gated, b->gated);
    if (order == 0)
        order = by_number(-a->cost_usd, -b->cost_usd);
    if (order == 0)
        order = strcmp(mine->row->name, other->row->name);
    return order != 0 ? order : strcmp(mine->run->row.id, other->run->row.id);
}

/* Everybody but the human line. */
static bool is_before(const making *m, size_t x, size_t y)
{
    const ranking_row *a = &m->out->rows[x], *b = &m->out->rows[y];
    if (group_of(a) != group_of(b))
        return group_of(a) < group_of(b);
    if (group_of(a) == 0 && a->place.rank != b->place.rank)
        return a->place.rank < b->place.rank;
    return by_figures(m, x, y) < 0;
}

/* The human line stands before the first who has fewer certified wins. */
static bool is_human_before(const making *m, size_t human, size_t other)
{
    const ranking_row *row = &m->out->rows[other];
    return group_of(row) > 0 || wins(&m->aggs->rows[human]) >= wins(&m->aggs->rows[other]);
}

static void insert(ranking *r, size_t filled, size_t at, size_t entrant)
{
    memmove(&r->order[at + 1], &r->order[at], (filled - at) * sizeof *r->order);
    r->order[at] = entrant;
}

/* Boards have few entrants: insertion. */
static void put_in_order(making *m)
{
    ranking *r = m->out;
    size_t filled = 0;
    for (int human = 0; human < 2; human++)
        for (size_t e = 0; e < r->count; e++) {
            bool is_line = r->rows[e].is_human && r->rows[e].unranked == NULL;
            if (is_line != (human == 1))
                continue;
            size_t at = 0;
            while (at < filled && (is_line ? !is_human_before(m, e, r->order[at])
                                           : !is_before(m, e, r->order[at])))
                at++;
            insert(r, filled++, at, e);
        }
}

/* ---- public ---- */

ranking *ranking_create(const board *b, const agg_list *aggs, const grid *cells)
{
    ranking *self = xcalloc(1, sizeof *self);
    making m = {.b = b, .aggs = aggs, .out = self, .g = cells};
    self->count = b->entrant_count;
    self->rows = xcalloc(self->count + 1, sizeof *self->rows);
    self->order = xcalloc(self->count + 1, sizeof *self->order);
    self->newest = newest_run(b);
    judge_rows(&m);
    limit_rows(self);
    give_ranks(&m);
    find_common(&m);
    put_in_order(&m);
    free(m.place);
    return self;
}

void ranking_destroy(ranking **self)
{
    if (*self == NULL)
        return;
    for (size_t e = 0; e < (*self)->count; e++)
        free((*self)->rows[e].unranked);
    free((*self)->rows);
    free((*self)->order);
    free(*self);
    *self = NULL;
}
