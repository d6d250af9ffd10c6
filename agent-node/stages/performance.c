/* performance - stage 4: the soft gate
 *
 * The best baseline is found, the candidate timed; while it is below the target the model may repair
 * it, and every repaired candidate passes correctness again before it is timed. The best verified one
 * stands. When there was a choice, the published time comes from a fresh process and fresh inputs.
 *
 * SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "agent-node/check.h"
#include "agent-node/measure.h"
#include "agent-node/stages/prompt.h"
#include "agent-node/stages/stage.h"
#include "common/scoped.h"
#include "common/xalloc.h"

/* What the stage knows so far. */
typedef struct race {
    double baseline_ms;      /* NaN: no baseline */
    measurement_record best; /* row of p->best */
    bool improved; /* p->best is a repaired candidate: its time was chosen among several */
    char *missed;  /* what the last repaired candidate lacked, for the model; NULL: nothing */
} race;

static void race_fini(race *self)
{
    measurement_record_fini(&self->best);
    free(self->missed);
}

/* ---- reading a finished stage ---- */

static const measurement_record *find_row(const stage_record *record, const char *side)
{
    bool baseline = strcmp(side, "baseline") == 0;
    for (size_t i = 0; i < record->measurement_count; i++) {
        const measurement_record *m = &record->measurements[i];
        if (strcmp(m->side, side) == 0 && (!baseline || m->winner)) {
            return m;
        }
    }
    return NULL;
}

void performance_result(pipeline *p, const stage_record *record)
{
    const measurement_record *timed = find_row(record, "candidate");
    const measurement_record *baseline = find_row(record, "baseline");
    result_record *r = &p->result;
    if (timed != NULL) {
        r->candidate_ms = timed->median_ms;
    }
    if (baseline != NULL) {
        r->baseline_ms = baseline->median_ms;
        r->baseline_mode = xstrdup(baseline->mode);
    }
    r->speedup = r->baseline_ms / r->candidate_ms;
    if (record->result == OUTCOME_OK && isnan(r->speedup)) {
        bool skipped = strcmp(record->status, "skipped") == 0;
        r->reason = xstrdup(skipped            ? record->text
                            : baseline == NULL ? "every baseline mode failed"
                                               : "not timed");
    }
    if (!isnan(r->speedup) && r->speedup < p->spec->target) {
        r->marks = xstrdup("below_target");
    }
}

/* ---- steps on the device lane ---- */

/* A step runs while its task holds the lane; the time counts as the stage's device time. */
typedef struct step {
    int (*run)(pipeline *p, lane *held, struct step *self, err *e);
    stage_record *record;    /* baselines: where the rows go */
    const candidate *c;      /* candidate: which */
    bool checked;            /* it has just passed correctness */
    measurement_record *row; /* candidate: filled when the verdict is ok */
    runner_verdict verdict;  /* candidate */
    baseline_origin origin;  /* baselines */
} step;

static int run_step(pipeline *p, stage_work *w, step *s, err *e)
{
    lane *held = stage_hold(p, w, e);
    if (held == NULL) {
        return -1;
    }
    int rc = s->run(p, held, s, e);
    stage_let_go(p, w, &held);
    return rc;
}

static int run_baseline(pipeline *p, lane *held, step *s, err *e)
{
    return measure_baseline(p, held, s->record, &s->origin, e);
}

static int run_candidate(pipeline *p, lane *held, step *s, err *e)
{
    SCOPED(check_report_fini) check_report report = {0};
    verdict_ok(&s->verdict);
    if (!s->checked) {
        if (check_candidate(p, held, s->c, &report, e) != 0) {
            return -1;
        }
        s->verdict = report.verdict;
    }
    return verdict_is_ok(&s->verdict)
               ? measure_candidate(p, held, s->c, p->attempts, s->row, &s->verdict, e)
               : 0;
}

static const char *const origin_notes[] = {
    [BASELINE_FOUND] = "baseline found anew: every mode compiled and timed",
    [BASELINE_KNOWN] = "baseline known: nothing compiled, eager and the winner timed again",
    [BASELINE_COMPILED] = "baseline known, no usable compiler cache: the winner compiled again"};

static int find_baseline(pipeline *p, stage_work *w, race *r, err *e)
{
    step s = {.run = run_baseline, .record = &w->record};
    if (run_step(p, w, &s, e) != 0) {
        return -1;
    }
    const measurement_record *winner = find_row(&w->record, "baseline");
    r->baseline_ms = winner != NULL ? winner->median_ms : (double)NAN;
    stage_note(w, "%s", origin_notes[s.origin]);
    return 0;
}

/* ---- repair ---- */

static bool below_target(const pipeline *p, const race *r)
{
    return r->baseline_ms / r->best.median_ms < p->spec->target; /* false for NaN */
}

static void note_miss(race *r, const runner_verdict *verdict, double ms)
{
    free(r->missed);
    r->missed = verdict_is_ok(verdict)
                    ? xasprintf(" Your last attempt to make it faster took %.4f ms.", ms)
                    : xasprintf(" Your last attempt to make it faster was not correct (%s): %s",
                                outcome_name(verdict->result), verdict->text);
}

/* A repaired candidate that is correct and faster becomes the best. */
static int race_candidate(pipeline *p, stage_work *w, race *r, candidate **next, err *e)
{
    SCOPED(measurement_record_fini) measurement_record row = {0};
    step s = {.run = run_candidate, .c = *next, .row = &row};
    if (run_step(p, w, &s, e) != 0) {
        return -1;
    }
    attempt_record *a = stage_attempt(p, w, s.verdict.result, s.verdict.detail, s.verdict.text);
    a->source = (*next)->source_hash;
    a->plan = (*next)->plan_hash;
    if (!verdict_is_ok(&s.verdict) || !(row.median_ms < r->best.median_ms)) {
        note_miss(r, &s.verdict, row.median_ms);
        return 0;
    }
    measurement_record slower = r->best;
    r->best = row;
    row = slower;
    r->improved = true;
    candidate_destroy(&p->best);
    p->best = TAKE(*next);
    return 0;
}

static char *finding(const race *r)
{
    return xasprintf("The kernel is correct. At the benchmark shape it takes %.4f ms; the best "
                     "PyTorch baseline takes %.4f ms. Make it faster and keep it exact.%s",
                     r->best.median_ms, r->baseline_ms, r->missed != NULL ? r->missed : "");
}

/* One faster candidate is sought; answers that do not compile are told why, on the same budget. */
static int improve(pipeline *p, stage_work *w, race *r, err *e)
{
    conversation talk SCOPED(conversation_fini);
    SCOPED(candidate_destroy) candidate *next = NULL;
    SCOPED(scoped_free) char *slow = finding(r);
    SCOPED(scoped_free) char *question = prompt_candidate(p, p->best, slow);
    conversation_init(&talk, prompt_system(), ANSWER_CANDIDATE);
    conversation_add(&talk, "user", question);
    if (stage_seek(p, w, &talk, &next, e) != 0) {
        return -1;
    }
    return next != NULL ? race_candidate(p, w, r, &next, e) : 0;
}

/* ---- the stage ---- */

/* Times p->best; its verdict decides the stage when it is not ok. */
static int time_best(pipeline *p, stage_work *w, race *r, err *e)
{
    measurement_record_fini(&r->best);
    r->best = (measurement_record){.median_ms = (double)NAN};
    step s = {.run = run_candidate, .c = p->best, .checked = true, .row = &r->best};
    if (run_step(p, w, &s, e) != 0) {
        return -1;
    }
    if (!verdict_is_ok(&s.verdict)) {
        stage_decide(w, "failed", s.verdict.result, s.verdict.detail, s.verdict.text);
        p->over = true;
    }
    return 0;
}

static void keep_row(stage_work *w, race *r)
{
    stage_record *record = &w->record;
    record->measurements = xreallocarray(record->measurements, record->measurement_count + 1,
                                         sizeof(*record->measurements));
    record->measurements[record->measurement_count++] = r->best;
    memset(&r->best, 0, sizeof(r->best));
}

int stage_performance(pipeline *p, stage_work *w, err *e)
{
    race r SCOPED(race_fini) = {.baseline_ms = (double)NAN};
    if (strcmp(p->facts->kind, "emu") == 0) {
        stage_decide(w, "skipped", OUTCOME_OK, NULL, "not measured on emu");
        return 0;
    }
    if (find_baseline(p, w, &r, e) != 0 || time_best(p, w, &r, e) != 0) {
        return -1;
    }
    while (!p->over && below_target(p, &r) && stage_may_ask(p, w)) {
        if (improve(p, w, &r, e) != 0) {
            return -1;
        }
    }
    if (r.improved && !p->over && time_best(p, w, &r, e) != 0) {
        return -1;
    }
    if (p->over) {
        return 0;
    }
    keep_row(w, &r);
    stage_decide(w, "passed", OUTCOME_OK, NULL, NULL);
    return 0;
}
