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

/* The speeds of an entrant: without the GEMM track, and in it. */
typedef struct speed_set {
    double *in_scope, *gemm;
} speed_set;

static void count_speed(agg *a, const board_task *t, const speed_set *speeds)
{
    for (size_t p = 0; p < AGG_THRESHOLDS; p++)
        a->fast[p] += t->speedup > agg_thresholds[p] ? 1 : 0;
    if (board_is_gemm(t->problem)) {
        speeds->gemm[a->gemm_measured++] = t->speedup;
        return;
    }
    speeds->in_scope[a->measured++] = t->speedup;
    a->losses += t->speedup < 1 ? 1 : 0;
}

static void count_task(agg *a, const board_task *t, const speed_set *speeds)
{
    count_use(a, t);
    a->scored += board_task_scored(t) ? 1 : 0;
    a->correct += board_task_correct(t) ? 1 : 0;
    if (board_task_correct(t) && !isnan(t->speedup))
        count_speed(a, t, speeds);
    else if (t->row->state == TASK_DONE && !board_task_correct(t))
        count_failure(a, &t->row->outcome);
}

static void finish(agg *a, const speed_set *set)
{
    const double *speeds = set->in_scope;
    stats_wilson(a->correct, a->declared, &a->correct_low, &a->correct_high);
    a->median = stats_median(speeds, a->measured);
    a->p25 = stats_quantile(speeds, a->measured, 0.25);
    a->p75 = stats_quantile(speeds, a->measured, 0.75);
    a->geomean = stats_geomean(speeds, a->measured);
    a->gemm_geomean = stats_geomean(set->gemm, a->gemm_measured);
}

static int by_outcome_and_stage(const void *a, const void *b)
{
    const agg_failure *x = a, *y = b;
    if (x->result != y->result)
        return x->result < y->result ? -1 : 1;
    return strcmp(x->stage, y->stage);
}

/* Room for the speeds of each entrant: at most all tasks of its run in either set. */
static speed_set *speeds_create(const board *b)
{
    speed_set *speeds = xcalloc(b->entrant_count + 1, sizeof *speeds);
    for (size_t i = 0; i < b->entrant_count; i++) {
        size_t room = (size_t)b->entrants[i].run->counts.planned + 1;
        speeds[i].in_scope = xcalloc(2 * room, sizeof(double));
        speeds[i].gemm = speeds[i].in_scope + room;
    }
    return speeds;
}

static void speeds_destroy(speed_set **speeds)
{
    for (size_t i = 0; (*speeds)[i].in_scope != NULL; i++)
        free((*speeds)[i].in_scope);
    free(*speeds);
}

static void aggregate(const board *b, agg *rows)
{
    SCOPED(speeds_destroy) speed_set *speeds = speeds_create(b);
    for (size_t i = 0; i < b->task_count; i++)
        count_task(&rows[b->tasks[i].entrant], &b->tasks[i], &speeds[b->tasks[i].entrant]);
    for (size_t i = 0; i < b->entrant_count; i++) {
        const board_run *run = b->entrants[i].run;
        rows[i].declared = run->problems.count * (size_t)run->row.samples;
        qsort(rows[i].failures, rows[i].failure_count, sizeof(agg_failure), by_outcome_and_stage);
        finish(&rows[i], &speeds[i]);
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
