/* agg - what an entrant's tasks add up to
 *
 * SPDX-License-Identifier: MIT */
#include "reports/agg.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/scoped.h"
#include "common/stats.h"
#include "common/xalloc.h"

const double agg_thresholds[AGG_THRESHOLDS] = {0, 0.5, 1, 1.5, 2, 4};
const size_t agg_ks[AGG_KS] = {1, 5, 10};

bool agg_is_certified(const board_task *t, double p)
{
    if (!board_task_correct(t) || t->verdict == NULL || isnan(t->ci_low) || isnan(t->margin) ||
        strcmp(t->verdict, "inconclusive") == 0 || strcmp(t->verdict, "impossible") == 0)
        return false;
    if (p == 1) /* what the node decided from more digits than an interval has */
        return strcmp(t->verdict, "faster") == 0;
    return t->ci_low > p * (1 + t->margin);
}

static void count_failure(agg *a, const board_outcome *r)
{
    const char *stage = r->stage != NULL ? r->stage : "";
    for (size_t i = 0; i < a->failure_count; i++)
        if (a->failures[i].result == r->result && strcmp(a->failures[i].stage, stage) == 0) {
            a->failures[i].count++;
            return;
        }
    if (a->failure_count < AGG_FAILURES_MAX) /* 15 outcomes in at most 6 stages, few of them met */
        a->failures[a->failure_count++] = (agg_failure){r->result, stage, 1};
}

static void count_use(agg *a, const board_task *t)
{
    a->attempts += t->usage->attempts;
    a->calls += t->usage->calls;
    a->cost_unknown += t->usage->cost_unknown;
    a->tokens_unknown += t->usage->tokens_unknown;
    a->tokens_in += t->usage->tokens_in;
    a->tokens_out += t->usage->tokens_out;
    a->tokens_cache_read += t->usage->tokens_cache_read;
    a->tokens_cache_write += t->usage->tokens_cache_write;
    a->cost_usd += t->usage->cost_usd;
    a->unknown_calls += t->usage->unknown_calls;
    a->unknown_usd += t->usage->unknown_usd;
    if (t->row->state == TASK_DONE && !isnan(t->row->outcome.wall_ms))
        a->wall_ms += t->row->outcome.wall_ms;
    if (t->row->state == TASK_DONE && !isnan(t->row->outcome.device_ms))
        a->device_ms += t->row->outcome.device_ms;
}

/* What is gathered of an entrant before it is summed up: speeds without the GEMM track and in it, model times
 * of tasks, hits by problem. */
typedef struct speed_set {
    double *in_scope, *gemm, *latency;
    size_t latencies;
    size_t *correct, *certified;
    double log_gain; /* sum of ln max(1, speedup) in scope */
} speed_set;

static void count_speed(agg *a, const board_task *t, speed_set *speeds)
{
    for (size_t p = 0; p < AGG_THRESHOLDS; p++)
        a->fast[p] += t->speedup > agg_thresholds[p] ? 1 : 0;
    if (board_is_gemm(t->problem)) {
        speeds->gemm[a->gemm_measured++] = t->speedup;
        return;
    }
    speeds->in_scope[a->measured++] = t->speedup;
    speeds->log_gain += t->speedup > 1 ? log(t->speedup) : 0;
    a->losses += t->speedup < 1 ? 1 : 0;
}

static void count_verdict(agg *a, const board_task *t)
{
    if (t->verdict == NULL)
        return;
    a->impossible += strcmp(t->verdict, "impossible") == 0 ? 1 : 0;
    a->inconclusive += strcmp(t->verdict, "inconclusive") == 0 ? 1 : 0;
    a->same += strcmp(t->verdict, "same") == 0 ? 1 : 0;
}

static void count_hits(agg *a, const board_task *t, speed_set *set)
{
    size_t problem = (size_t)(t->problem - t->run->problems.rows);
    set->correct[problem] += board_task_correct(t) ? 1 : 0;
    for (size_t p = 0; p < AGG_THRESHOLDS; p++)
        if (agg_is_certified(t, agg_thresholds[p])) {
            a->certified[p]++;
            set->certified[problem] += p == AGG_FAST_1 ? 1 : 0;
        }
}

/* Counted apart: it proves little. */
static void count_degenerate(agg *a, const board_task *t)
{
    a->degenerate_correct += board_task_correct(t) ? 1 : 0;
    a->degenerate_certified += agg_is_certified(t, 1) ? 1 : 0;
}

static void count_task(agg *a, const board_task *t, speed_set *set)
{
    board_hidden hidden = board_task_hidden(t);
    count_use(a, t);
    if (board_is_degenerate(t->problem)) {
        count_degenerate(a, t);
        return;
    }
    count_verdict(a, t);
    count_hits(a, t, set);
    if (t->usage->calls > 0)
        set->latency[set->latencies++] = t->usage->latency_ms;
    a->hidden_passed += hidden == BOARD_HIDDEN_PASSED ? 1 : 0;
    a->hidden_failed += hidden == BOARD_HIDDEN_FAILED ? 1 : 0;
    a->sanitizer[board_task_sanitizer(t)]++;
    a->scored += board_task_scored(t) ? 1 : 0;
    a->correct += board_task_correct(t) ? 1 : 0;
    if (board_task_correct(t) && !isnan(t->speedup))
        count_speed(a, t, set);
    else if (t->row->state == TASK_DONE && !board_task_correct(t))
        count_failure(a, &t->row->outcome);
}

/* The mean of pass@k over the problems of a run. */
static double pass_at(const board_run *run, const size_t *hits, size_t k)
{
    double sum = 0;
    size_t n = (size_t)run->row.samples;
    size_t counted = 0;
    for (size_t p = 0; p < run->problems.count; p++) {
        if (board_is_degenerate(&run->problems.rows[p]))
            continue;
        sum += stats_pass_at_k(n, hits[p] < n ? hits[p] : n, k);
        counted++;
    }
    return counted > 0 ? sum / (double)counted : (double)NAN;
}

static void finish_shares(agg *a, const board_run *run, const speed_set *set)
{
    size_t scope = 0;
    stats_wilson(a->correct, a->declared, &a->correct_low, &a->correct_high);
    stats_wilson(a->certified[AGG_FAST_1], a->declared, &a->certified_low, &a->certified_high);
    for (size_t k = 0; k < AGG_KS; k++) {
        a->pass[k] = pass_at(run, set->correct, agg_ks[k]);
        a->certified_pass[k] = pass_at(run, set->certified, agg_ks[k]);
    }
    for (size_t p = 0; p < run->problems.count; p++)
        scope +=
            board_is_gemm(&run->problems.rows[p]) || board_is_degenerate(&run->problems.rows[p])
                ? 0
                : 1;
    a->in_scope = scope * (size_t)run->row.samples;
    a->gated = a->in_scope > 0 ? exp(set->log_gain / (double)a->in_scope) : (double)NAN;
}

static void finish(agg *a, const speed_set *set)
{
    const double *speeds = set->in_scope;
    a->median = stats_median(speeds, a->measured);
    a->p25 = stats_quantile(speeds, a->measured, 0.25);
    a->p75 = stats_quantile(speeds, a->measured, 0.75);
    a->geomean = stats_geomean(speeds, a->measured);
    a->gemm_geomean = stats_geomean(set->gemm, a->gemm_measured);
    a->latency_ms = stats_median(set->latency, set->latencies);
    a->latency_p95_ms = stats_quantile(set->latency, set->latencies, 0.95);
}

static int by_outcome_and_stage(const void *a, const void *b)
{
    const agg_failure *x = a, *y = b;
    if (x->result != y->result)
        return x->result < y->result ? -1 : 1;
    return strcmp(x->stage, y->stage);
}

/* Room for each entrant: at most all tasks of its run in any set. */
static speed_set *speeds_create(const board *b)
{
    speed_set *speeds = xcalloc(b->entrant_count + 1, sizeof *speeds);
    for (size_t i = 0; i < b->entrant_count; i++) {
        size_t room = (size_t)b->entrants[i].run->counts.planned + 1;
        size_t problems = b->entrants[i].run->problems.count + 1;
        speeds[i].in_scope = xcalloc(3 * room, sizeof(double));
        speeds[i].gemm = speeds[i].in_scope + room;
        speeds[i].latency = speeds[i].gemm + room;
        speeds[i].correct = xcalloc(2 * problems, sizeof(size_t));
        speeds[i].certified = speeds[i].correct + problems;
    }
    return speeds;
}

static void speeds_destroy(speed_set **speeds)
{
    for (size_t i = 0; (*speeds)[i].in_scope != NULL; i++) {
        free((*speeds)[i].in_scope);
        free((*speeds)[i].correct);
    }
    free(*speeds);
}

static size_t degenerate_problems(const board_run *run)
{
    size_t count = 0;
    for (size_t p = 0; p < run->problems.count; p++)
        count += board_is_degenerate(&run->problems.rows[p]) ? 1 : 0;
    return count;
}

static void aggregate(const board *b, agg *rows)
{
    SCOPED(speeds_destroy) speed_set *speeds = speeds_create(b);
    for (size_t i = 0; i < b->task_count; i++)
        count_task(&rows[b->tasks[i].entrant], &b->tasks[i], &speeds[b->tasks[i].entrant]);
    for (size_t i = 0; i < b->entrant_count; i++) {
        const board_run *run = b->entrants[i].run;
        rows[i].degenerate = degenerate_problems(run) * (size_t)run->row.samples;
        rows[i].declared = run->problems.count * (size_t)run->row.samples - rows[i].degenerate;
        qsort(rows[i].failures, rows[i].failure_count, sizeof(agg_failure), by_outcome_and_stage);
        finish(&rows[i], &speeds[i]);
        finish_shares(&rows[i], run, &speeds[i]);
    }
}

static double share(const agg *a)
{
    return a->declared > 0 ? (double)a->correct / (double)a->declared : 0;
}

/* a is listed before b. NaN geomeans go last. */
static bool ahead(const agg *a, const agg *b)
{
    if (fabs(share(a) - share(b)) > 1e-12)
        return share(a) > share(b);
    if (isnan(a->geomean) || isnan(b->geomean))
        return !isnan(a->geomean) && isnan(b->geomean);
    return a->geomean > b->geomean;
}

/* Insertion sort: stable, and boards have few entrants. */
static void sort(agg_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        size_t at = i;
        for (; at > 0 && ahead(&list->rows[i], &list->rows[list->order[at - 1]]); at--)
            list->order[at] = list->order[at - 1];
        list->order[at] = i;
    }
}

agg_list *agg_list_create(const board *b)
{
    agg_list *self = xcalloc(1, sizeof *self);
    self->count = b->entrant_count;
    self->rows = xcalloc(self->count + 1, sizeof *self->rows);
    self->order = xcalloc(self->count + 1, sizeof *self->order);
    aggregate(b, self->rows);
    sort(self);
    return self;
}

void agg_list_destroy(agg_list **self)
{
    if (*self == NULL)
        return;
    free((*self)->rows);
    free((*self)->order);
    free(*self);
    *self = NULL;
}
