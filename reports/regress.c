/* regress - a run against earlier ones: what became slower, what is no longer solved
 *
 * SPDX-License-Identifier: MIT */
#include "reports/regress.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/scoped.h"
#include "common/stats.h"
#include "common/versus.h"
#include "common/xalloc.h"
#include "reports/text.h"

enum { NAMES_MAX = 4096, SENTENCE_MAX = 4096 };

#define LOOK_SIGMAS 2.394 /* an interval at 98.3 % is so many standard deviations on each side */

/* ---- may they be compared? ---- */

static int same_fact(const board *a, const board *b, size_t offset, const char *what, err *e)
{
    SCOPED(buf_fini) buf left = {0};
    SCOPED(buf_fini) buf right = {0};
    buf_init(&left, NAMES_MAX);
    buf_init(&right, NAMES_MAX);
    text_distinct(&left, a, offset);
    text_distinct(&right, b, offset);
    if (strcmp(buf_text(&left), buf_text(&right)) == 0)
        return 0;
    return err_set(e, ERR_CONFIG, "the runs cannot be compared: %s is %.60s and was %.60s", what,
                   buf_text(&left), buf_text(&right));
}

static int check_comparable(const board *a, const board *b, err *e)
{
    if (strcmp(a->runs[0].row.suite, b->runs[0].row.suite) != 0)
        return err_set(e, ERR_CONFIG, "the runs cannot be compared: suite is %s and was %s",
                       a->runs[0].row.suite, b->runs[0].row.suite);
    if (same_fact(a, b, offsetof(board_facts, device_kind), "the kind of device", e) < 0 ||
        same_fact(a, b, offsetof(board_facts, device), "the device", e) < 0 ||
        same_fact(a, b, offsetof(board_facts, correct_protocol), "the protocol of checks", e) < 0)
        return -1;
    return same_fact(a, b, offsetof(board_facts, timing_protocol), "the protocol of times", e);
}

/* ---- the tasks of an entrant at a problem ---- */

typedef struct entry {
    const char *entrant;
    const board_task *task;
    size_t position;
} entry;

typedef struct lookup {
    entry *rows;
    size_t count;
} lookup;

static int by_key(const entry *x, const entry *y)
{
    int by_entrant = strcmp(x->entrant, y->entrant);
    return by_entrant != 0 ? by_entrant : strcmp(x->task->row->problem, y->task->row->problem);
}

/* Of one key: by the age of the run, oldest first. */
static int in_order(const void *a, const void *b)
{
    const entry *x = a, *y = b;
    int64_t left = x->task->run->row.created_ms, right = y->task->run->row.created_ms;
    int key = by_key(x, y);
    if (key != 0 || left != right)
        return key != 0 ? key : (left > right) - (left < right);
    return (x->position > y->position) - (x->position < y->position);
}

static void lookup_init(lookup *self, const board *b)
{
    self->rows = xcalloc(b->task_count + 1, sizeof *self->rows);
    for (size_t i = 0; i < b->task_count; i++)
        self->rows[self->count++] =
            (entry){b->entrants[b->tasks[i].entrant].row->name, &b->tasks[i], i};
    if (self->count > 1)
        qsort(self->rows, self->count, sizeof *self->rows, in_order);
}

static void lookup_fini(lookup *self)
{
    free(self->rows);
}

/* The group that holds the key; *n is 0 when there is none. */
static const entry *group_of(const lookup *self, const entry *key, size_t *n)
{
    size_t low = 0, high = self->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (by_key(&self->rows[middle], key) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    for (*n = 0; low + *n < self->count && by_key(&self->rows[low + *n], key) == 0;)
        (*n)++;
    return self->rows + low;
}

/* ---- times ---- */

/* What is gathered for one row. */
typedef struct times {
    double *ms;
    size_t count;
} times;

static void widen(double *noise, const board_task *t)
{
    if (t->ci_low > 0 && t->ci_high > 0)
        *noise = fmax(*noise, log(t->ci_high / t->ci_low) / (2 * LOOK_SIGMAS));
}

static times gather(const lookup *from, const entry *key, double *noise)
{
    size_t n;
    const entry *group = group_of(from, key, &n);
    times out = {xcalloc(n + 1, sizeof(double)), 0};
    for (size_t i = 0; i < n; i++) {
        const board_task *t = group[i].task;
        bool same = hash_equal(&t->problem->contract_hash, &key->task->problem->contract_hash);
        if (!same || !board_task_correct(t) || isnan(t->candidate_ms))
            continue;
        out.ms[out.count++] = t->candidate_ms;
        widen(noise, t);
    }
    return out;
}

/* Everything while rows are made. */
typedef struct making {
    const regress_ask *ask;
    lookup now, before, again;
    times *kept; /* three a row */
    gate_times *inputs;
    gate_task *judged;
    regress *out;
} making;

static void making_fini(making *m)
{
    lookup_fini(&m->now);
    lookup_fini(&m->before);
    lookup_fini(&m->again);
    for (size_t i = 0; i < 3 * m->out->count; i++)
        free(m->kept[i].ms);
    free(m->kept);
    free(m->inputs);
    free(m->judged);
}

static void add_row(making *m, const entry *key)
{
    size_t i = m->out->count++;
    double noise = (double)NAN;
    times *t = &m->kept[3 * i];
    t[0] = gather(&m->before, key, &noise);
    t[1] = gather(&m->now, key, &noise);
    t[2] = gather(&m->again, key, &noise);
    m->inputs[i] = (gate_times){.before = t[0].ms,
                                .now = t[1].ms,
                                .again = t[2].ms,
                                .before_count = t[0].count,
                                .now_count = t[1].count,
                                .again_count = t[2].count,
                                .told_noise = noise};
    m->out->rows[i] = (regress_row){.entrant = key->entrant, .problem = key->task->row->problem};
}

/* ---- the canary: times of references, which nobody changed ---- */

static bool is_same_reference(const board_task *a, const board_task *b)
{
    const char *mode = a->row->facts->baseline_mode, *torch = a->row->facts->torch;
    return mode != NULL && torch != NULL && b->row->facts->baseline_mode != NULL &&
           b->row->facts->torch != NULL && strcmp(mode, b->row->facts->baseline_mode) == 0 &&
           strcmp(torch, b->row->facts->torch) == 0 &&
           hash_equal(&a->problem->contract_hash, &b->problem->contract_hash);
}

/* The median time of the reference that `like` met; NaN without one. */
static double reference_ms(const lookup *from, const entry *like)
{
    size_t n, count = 0;
    const entry *group = group_of(from, like, &n);
    SCOPED(scoped_free) double *ms = xcalloc(n + 1, sizeof *ms);
    for (size_t i = 0; i < n; i++)
        if (!isnan(group[i].task->baseline_ms) && is_same_reference(group[i].task, like->task))
            ms[count++] = group[i].task->baseline_ms;
    return stats_median(ms, count);
}

static double find_canary(const making *m)
{
    SCOPED(scoped_free) double *changes = xcalloc(m->now.count + 1, sizeof *changes);
    size_t count = 0;
    for (size_t i = 0; i < m->now.count; i++) {
        const entry *key = &m->now.rows[i];
        if (i > 0 && by_key(&m->now.rows[i - 1], key) == 0)
            continue;
        double change = reference_ms(&m->now, key) / reference_ms(&m->before, key) - 1;
        if (!isnan(change))
            changes[count++] = change;
    }
    return gate_canary(changes, count);
}

static void make_rows(making *m)
{
    size_t room = m->now.count;
    m->kept = xcalloc(3 * room + 1, sizeof *m->kept);
    m->inputs = xcalloc(room + 1, sizeof *m->inputs);
    m->judged = xcalloc(room + 1, sizeof *m->judged);
    m->out->rows = xcalloc(room + 1, sizeof *m->out->rows);
    for (size_t i = 0; i < room; i++)
        if (i == 0 || by_key(&m->now.rows[i - 1], &m->now.rows[i]) != 0)
            add_row(m, &m->now.rows[i]);
    m->out->times = gate_judge(m->ask->rules, m->inputs, m->out->count, find_canary(m), m->judged);
    for (size_t i = 0; i < m->out->count; i++)
        m->out->rows[i].time = m->judged[i];
}

/* ---- pass rates ---- */

static bool solved(const entry *group, size_t n, const board_run *run)
{
    for (size_t i = 0; i < n; i++)
        if (group[i].task->run == run && board_task_correct(group[i].task))
            return true;
    return false;
}

static bool met(const entry *group, size_t n, const board_run *run, const hash *contract)
{
    for (size_t i = 0; i < n; i++)
        if (group[i].task->run == run && board_task_scored(group[i].task) &&
            hash_equal(&group[i].task->problem->contract_hash, contract))
            return true;
    return false;
}

static void count_problem(const making *m, const entry *key, regress_rate *rate)
{
    size_t before_n, now_n;
    const board_run *was = &m->ask->before->runs[0], *is = &m->ask->now->runs[0];
    const entry *before = group_of(&m->before, key, &before_n);
    const entry *now = group_of(&m->now, key, &now_n);
    const hash *contract = &key->task->problem->contract_hash;
    if (!met(before, before_n, was, contract) || !met(now, now_n, is, contract))
        return;
    bool then = solved(before, before_n, was), today = solved(now, now_n, is);
    rate->problems++;
    rate->before += then ? 1 : 0;
    rate->now += today ? 1 : 0;
    rate->only_before += then && !today ? 1 : 0;
    rate->only_now += today && !then ? 1 : 0;
}

static void finish_rate(regress_rate *rate)
{
    double n = (double)rate->problems;
    rate->p = versus_mcnemar(rate->only_before, rate->only_now);
    rate->detectable = versus_detectable(
        rate->problems, (double)(rate->only_before + rate->only_now) / (n > 0 ? n : 1));
}

static void adjust(regress *out, double alpha)
{
    SCOPED(scoped_free) double *p = xcalloc(out->rate_count + 1, sizeof *p);
    for (size_t i = 0; i < out->rate_count; i++)
        p[i] = out->rates[i].p;
    versus_holm(p, out->rate_count);
    for (size_t i = 0; i < out->rate_count; i++) {
        regress_rate *r = &out->rates[i];
        r->p = p[i];
        r->is_worse = r->p < alpha && r->only_before > r->only_now;
        out->worse += r->is_worse ? 1 : 0;
    }
}

static void make_rates(making *m)
{
    regress *out = m->out;
    out->rates = xcalloc(m->ask->now->entrant_count + 1, sizeof *out->rates);
    for (size_t i = 0; i < m->now.count; i++) {
        const entry *at = &m->now.rows[i];
        bool fresh = i == 0 || strcmp(m->now.rows[i - 1].entrant, at->entrant) != 0;
        if (i > 0 && by_key(&m->now.rows[i - 1], at) == 0)
            continue;
        if (fresh)
            out->rates[out->rate_count++] = (regress_rate){.entrant = at->entrant};
        count_problem(m, at, &out->rates[out->rate_count - 1]);
    }
    size_t kept = 0;
    for (size_t i = 0; i < out->rate_count; i++)
        if (out->rates[i].problems > 0) {
            finish_rate(&out->rates[i]);
            out->rates[kept++] = out->rates[i];
        }
    out->rate_count = kept;
    adjust(out, m->ask->rules->pass_alpha);
}

/* ---- all ---- */

regress *regress_create(const regress_ask *ask, err *e)
{
    if (check_comparable(ask->now, ask->before, e) < 0 ||
        (ask->again != NULL && check_comparable(ask->now, ask->again, e) < 0))
        return NULL;
    SCOPED(regress_destroy) regress *self = xcalloc(1, sizeof *self);
    SCOPED(making_fini) making m = {.ask = ask, .out = self};
    lookup_init(&m.now, ask->now);
    lookup_init(&m.before, ask->before);
    if (ask->again != NULL)
        lookup_init(&m.again, ask->again);
    self->is_confirmed = ask->again != NULL;
    make_rows(&m);
    make_rates(&m);
    if (self->rate_count > 0)
        return TAKE(self);
    err_set(e, ERR_CONFIG, "the runs have no entrant with a problem in common");
    return NULL;
}

void regress_destroy(regress **self)
{
    if (*self == NULL)
        return;
    free((*self)->rows);
    free((*self)->rates);
    free(*self);
    *self = NULL;
}

bool regress_failed(const regress *self)
{
    return self->times.slower > 0 || self->times.drifting > 0 || self->worse > 0;
}

/* ---- words ---- */

void regress_verdict(const regress *self, buf *out)
{
    const gate_sum *t = &self->times;
    if (regress_failed(self))
        buf_printf(out,
                   "**regression**: %zu of %zu kernels became slower%s, %zu of %zu entrants "
                   "solve less",
                   t->slower, t->judged,
                   t->slower == 0 || self->is_confirmed ? "" : " (not confirmed by a second run)",
                   self->worse, self->rate_count);
    else
        buf_printf(out,
                   "no regression: times of %zu kernel%s and pass rates of %zu entrant%s are "
                   "compared",
                   t->judged, t->judged == 1 ? "" : "s", self->rate_count,
                   self->rate_count == 1 ? "" : "s");
    if (t->drifting > 0)
        buf_printf(out, "; **drift**: %zu become slower night after night", t->drifting);
    if (t->is_sick)
        buf_printf(out,
                   "; **infrastructure**: the references' own times moved by %+.1f %%, so that "
                   "times are not judged",
                   100 * t->canary);
    else if (t->is_shifted)
        buf_printf(out,
                   "; **infrastructure**: half of all kernels moved by %+.1f %% or more, so "
                   "that times are not judged",
                   100 * t->shift);
    else if (t->faster > 0)
        buf_printf(out, "; %zu became faster", t->faster);
    if (isnan(t->canary))
        buf_puts(out, "; no canary (fewer than five references were timed on both sides)");
    else if (!t->is_sick)
        buf_printf(out, "; the canary is well (references %+.1f %%)", 100 * t->canary);
    buf_puts(out, "\n");
}

char *regress_sentence(const regress *self)
{
    SCOPED(buf_fini) buf line = {0};
    buf_init(&line, SENTENCE_MAX);
    regress_verdict(self, &line);
    char *out = xstrdup(buf_text(&line)), *to = out;
    for (const char *from = out; *from != '\0'; from++)
        if (*from != '*' && *from != '\n')
            *to++ = *from;
    *to = '\0';
    return out;
}

static bool is_told(const regress_row *row)
{
    return row->time.verdict == GATE_SLOWER || row->time.verdict == GATE_FASTER ||
           row->time.verdict == GATE_DRIFTING;
}

static void put_row(const regress_row *row, buf *out)
{
    const gate_task *t = &row->time;
    buf_puts(out, "| ");
    text_cell(out, row->problem);
    buf_puts(out, " | ");
    text_cell(out, row->entrant);
    buf_printf(out, " | %s | ", gate_name(t->verdict));
    text_ms(out, t->before_ms);
    buf_puts(out, " | ");
    text_ms(out, t->now_ms);
    buf_printf(out, " | %+.1f %% | %.1f %% | %.1f %% | %s |\n",
               100 * (t->verdict == GATE_DRIFTING ? t->drift : t->change), 100 * t->noise,
               100 * t->threshold, t->confirmed ? "yes" : "no");
}

/* Slower ones first. */
static void put_times(const regress *self, size_t rows_max, buf *out)
{
    static const gate_verdict order[] = {GATE_SLOWER, GATE_DRIFTING, GATE_FASTER};
    size_t told = 0, shown = 0;
    for (size_t i = 0; i < self->count; i++)
        told += is_told(&self->rows[i]) ? 1 : 0;
    if (told == 0) {
        buf_puts(out, "No kernel's time changed beyond its threshold.\n");
        return;
    }
    buf_puts(out,
             "| problem | entrant | became | before ms | now ms | change | noise | threshold | "
             "seen again |\n|---|---|---|--:|--:|--:|--:|--:|---|\n");
    for (size_t k = 0; k < sizeof order / sizeof order[0]; k++)
        for (size_t i = 0; i < self->count; i++)
            if (self->rows[i].time.verdict == order[k] && shown < rows_max) {
                put_row(&self->rows[i], out);
                shown++;
            }
    if (shown < told)
        buf_printf(out, "\n… and %zu more.\n", told - shown);
}

static void put_rates(const regress *self, size_t rows_max, buf *out)
{
    buf_puts(out, "\n| entrant | problems | solved before | now | only before | only now | p | "
                  "smallest difference that can be shown |\n|---|--:|--:|--:|--:|--:|--:|--:|\n");
    for (size_t i = 0; i < self->rate_count && i < rows_max; i++) {
        const regress_rate *r = &self->rates[i];
        buf_puts(out, "| ");
        text_cell(out, r->entrant);
        buf_printf(out, " | %zu | %zu | %zu%s | %zu | %zu | %.3g | %.0f points |\n", r->problems,
                   r->before, r->now, r->is_worse ? " **worse**" : "", r->only_before, r->only_now,
                   r->p, 100 * r->detectable);
    }
    if (self->rate_count > rows_max)
        buf_printf(out, "\n… and %zu more.\n", self->rate_count - rows_max);
}

void regress_text(const regress *self, size_t rows_max, buf *out)
{
    put_times(self, rows_max, out);
    put_rates(self, rows_max, out);
}
