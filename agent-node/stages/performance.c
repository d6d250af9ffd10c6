/* performance - stage 4: the soft gate
 *
 * The best baseline is found and the candidate timed against it. While there is no verdict that reaches
 * the target the model may repair it; every repaired candidate passes correctness again before it is
 * timed. Near the roofline repair ends: parity is the ceiling there. The best verified one stands: when
 * it is a repaired one it is timed again in fresh processes on fresh inputs, and should it fail there,
 * the one before it stands.
 *
 * SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "agent-node/check.h"
#include "agent-node/duel.h"
#include "agent-node/measure.h"
#include "agent-node/profile.h"
#include "agent-node/roofline.h"
#include "agent-node/sanitize.h"
#include "agent-node/stages/lineage.h"
#include "agent-node/stages/prompt.h"
#include "agent-node/stages/stage.h"
#include "common/scoped.h"
#include "common/xalloc.h"

enum { EARLIER_MAX = 16 };

static const char published[] = "published";

/* A verified candidate and what its last comparison said. */
typedef struct contender {
    candidate *c;            /* NULL: it is p->best */
    comparison_record timed; /* borrows its texts from the stage record */
    size_t row;              /* of the comparison in the stage record */
} contender;

/* What the stage knows so far. */
typedef struct race {
    char *baseline_mode; /* NULL: no baseline */
    double baseline_ms;
    contender best;
    contender earlier[EARLIER_MAX]; /* the best ones before, oldest first */
    size_t earlier_count;
    lineage steps;
    const char *distrust; /* why nothing may be timed on this card, or NULL */
    char *missed; /* what the last repaired candidate lacked, for the model; NULL: nothing */
} race;

static void race_fini(race *self)
{
    for (size_t i = 0; i < self->earlier_count; i++) {
        candidate_destroy(&self->earlier[i].c);
    }
    lineage_fini(&self->steps);
    free(self->baseline_mode);
    free(self->missed);
}

/* ---- reading a finished stage ---- */

static const measurement_record *find_row(const stage_record *record, const char *side)
{
    bool baseline = strcmp(side, "baseline") == 0;
    for (size_t i = 0; i < record->measurement_count; i++) {
        const measurement_record *m = &record->measurements[i];
        bool warm = m->l2 != NULL && strcmp(m->l2, "warm") == 0;
        if (strcmp(m->side, side) == 0 && !warm && (!baseline || m->winner)) {
            return m;
        }
    }
    return NULL;
}

/* The newest published comparison of the candidate that goes on. */
static const comparison_record *find_published(const stage_record *record)
{
    for (size_t i = record->comparison_count; i-- > 0;) {
        const comparison_record *c = &record->comparisons[i];
        if (strcmp(c->purpose, published) == 0 && hash_equal(&c->source, &record->source) &&
            hash_equal(&c->plan, &record->plan)) {
            return c;
        }
    }
    return NULL;
}

static bool is_verdict(const comparison_record *c, const char *verdict)
{
    return strcmp(c->verdict, verdict) == 0;
}

/* Target 1 asks for the verdict, any other for the whole interval. */
static bool reaches(const comparison_record *c, double target)
{
    const double rounding = 1e-9;
    return target == 1.0 ? is_verdict(c, "faster") : c->ci_low >= target * (1 - rounding);
}

static char *marks_of(const pipeline *p, const comparison_record *c)
{
    const char *names[3];
    size_t count = 0;
    SCOPED(buf_fini) buf line;
    buf_init(&line, 256);
    if (!c->calibrated) {
        names[count++] = "uncalibrated";
    }
    if (roofline_near(c->candidate_ms, c->floor_ms)) {
        names[count++] = "near_roofline";
    }
    if (!reaches(c, p->spec->target)) {
        names[count++] = "below_target";
    }
    for (size_t i = 0; i < count; i++) {
        buf_printf(&line, "%s%s", i > 0 ? "," : "", names[i]);
    }
    return count > 0 ? buf_take(&line) : NULL;
}

static char *copied(const char *text)
{
    return text != NULL ? xstrdup(text) : NULL;
}

static void take_comparison(pipeline *p, const comparison_record *c)
{
    result_record *r = &p->result;
    bool impossible = is_verdict(c, "impossible");
    r->verdict = xstrdup(c->verdict);
    r->verdict_reason = copied(c->reason);
    r->candidate_ms = c->candidate_ms;
    r->baseline_ms = c->baseline_ms;
    r->baseline_mode = xstrdup(c->baseline_mode);
    r->floor_ms = c->floor_ms;
    r->marks = marks_of(p, c);
    r->profile = copied(c->profile);
    if (impossible || isnan(c->speedup)) {
        r->reason = impossible ? xasprintf("impossible: %.4f ms is below what the memory allows, "
                                           "%.4f ms",
                                           c->candidate_ms, c->floor_ms)
                               : xasprintf("inconclusive: %s", c->reason);
        return;
    }
    r->speedup = c->speedup;
    r->ci_low = c->ci_low;
    r->ci_high = c->ci_high;
}

void performance_result(pipeline *p, const stage_record *record)
{
    const comparison_record *compared = find_published(record);
    const measurement_record *timed = find_row(record, "candidate");
    const measurement_record *baseline = find_row(record, "baseline");
    result_record *r = &p->result;
    r->lineage = copied(record->lineage);
    if (compared != NULL && record->result == OUTCOME_OK) {
        take_comparison(p, compared);
        return;
    }
    if (timed != NULL) {
        r->candidate_ms = timed->median_ms;
    }
    if (baseline != NULL) {
        r->baseline_ms = baseline->median_ms;
        r->baseline_mode = xstrdup(baseline->mode);
    }
    if (record->result == OUTCOME_OK) {
        r->reason = xstrdup(record->text != NULL ? record->text /* on emu */
                            : baseline == NULL   ? "every baseline mode failed"
                                                 : "not timed");
    }
}

/* ---- steps on the device lane ---- */

/* A step runs while its task holds the lane; the time counts as the stage's device time. */
typedef struct step {
    int (*run)(pipeline *p, lane *held, struct step *self, err *e);
    stage_record *record;    /* baselines: where the rows go */
    const race *race;        /* candidate: what it runs against */
    const candidate *c;      /* candidate: which */
    bool checked;            /* it has just passed correctness */
    bool quick;              /* a repair round */
    bool both;               /* profile: the baseline's spans, too */
    char *profile;           /* profile: the record; the receiver's */
    comparison_record timed; /* candidate: filled when the verdict is ok and there is a baseline */
    measurement_record
        alone; /* candidate: cold when the verdict is ok and there is none, else warm */
    runner_verdict verdict; /* candidate */
    baseline_origin origin; /* baselines */
    const char *distrust;   /* baselines: why nothing may be timed on this card; NULL: it may */
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
    s->distrust = pipeline_distrust(p, lane_get_facts(held)->uuid);
    return s->distrust != NULL ? 0 : measure_baseline(p, held, s->record, &s->origin, e);
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
    if (!verdict_is_ok(&s->verdict)) {
        return 0;
    }
    if (s->race->baseline_mode == NULL) {
        return measure_candidate(p, held, s->c, p->attempts, &s->alone, &s->verdict, e);
    }
    const duel_request request = {.p = p,
                                  .held = held,
                                  .c = s->c,
                                  .mode = s->race->baseline_mode,
                                  .baseline_ms = s->race->baseline_ms,
                                  .number = (int64_t)s->record->comparison_count,
                                  .warm = s->quick ? NULL : &s->alone,
                                  .quick = s->quick};
    return duel_run(&request, &s->timed, &s->verdict, e);
}

static int run_profile(pipeline *p, lane *held, step *s, err *e)
{
    const profile_request request = {.p = p,
                                     .held = held,
                                     .c = s->c,
                                     .timed = &s->race->best.timed,
                                     .baseline = s->both,
                                     .number = (int64_t)s->record->comparison_count};
    (void)e;
    s->profile = profile_run(&request);
    return 0;
}

/* keep_comparison moves a finished comparison into the record, which owns it from now on. */
static void keep_comparison(stage_record *record, const comparison_record *row)
{
    record->comparisons =
        xreallocarray(record->comparisons, record->comparison_count + 1, sizeof(*row));
    record->comparisons[record->comparison_count++] = *row;
}

static void keep_alone(stage_record *record, const measurement_record *row)
{
    record->measurements =
        xreallocarray(record->measurements, record->measurement_count + 1, sizeof(*row));
    record->measurements[record->measurement_count++] = *row;
}

static comparison_record *newest_comparison(stage_record *record)
{
    return &record->comparisons[record->comparison_count - 1];
}

/* note_step: what came of a candidate; its comparison, if it has one, is the record's newest. */
static void note_step(race *r, const stage_record *record, const step *s)
{
    bool timed = s->timed.verdict != NULL;
    const lineage_step one = {.attempt = s->c->attempt,
                              .result = s->verdict.result,
                              .row = timed ? (int64_t)record->comparison_count - 1 : -1};
    lineage_add(&r->steps, &one);
}

/* keep_times keeps what a step measured; `before` is the speed of the candidate kept so far, NaN: this
 * is the first, or the same again. */
static void keep_times(stage_record *record, step *s, double before)
{
    if (s->timed.verdict != NULL) {
        s->timed.gain = s->timed.speedup > 0 && before > 0 ? s->timed.speedup / before : 0;
        keep_comparison(record, &s->timed);
    }
    if (s->alone.side != NULL) {
        keep_alone(record, &s->alone);
    }
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
    r->distrust = s.distrust;
    if (r->distrust != NULL) {
        return 0;
    }
    if (winner != NULL) {
        r->baseline_ms = winner->median_ms;
        r->baseline_mode = xstrdup(winner->mode);
    }
    stage_note(w, "%s", origin_notes[s.origin]);
    return 0;
}

/* ---- repair ---- */

/* Is there a clear picture of a kernel that could be faster? */
static bool may_improve(const pipeline *p, const race *r)
{
    const comparison_record *c = &r->best.timed;
    if (c->verdict == NULL || is_verdict(c, "impossible") || reaches(c, p->spec->target) ||
        roofline_near(c->candidate_ms, c->floor_ms)) {
        return false;
    }
    return !is_verdict(c, "inconclusive") || strcmp(c->reason, "interval") == 0 ||
           strcmp(c->reason, "bootstrap") == 0;
}

/* ---- profile ---- */

/* doubt takes back a verdict whose two clocks disagree. */
static void doubt(comparison_record *row)
{
    if (is_verdict(row, "impossible")) {
        return;
    }
    free(row->verdict);
    free(row->reason);
    row->verdict = xstrdup("inconclusive");
    row->reason = xstrdup("timing_suspect");
}

/* look_at_best profiles p->best; what its two clocks say counts for the number that is published. */
static int look_at_best(pipeline *p, stage_work *w, race *r, bool published_number, err *e)
{
    step s = {.run = run_profile,
              .record = &w->record,
              .race = r,
              .c = p->best,
              .both = published_number};
    if (r->best.timed.verdict == NULL) {
        return 0;
    }
    if (run_step(p, w, &s, e) != 0) {
        return -1;
    }
    comparison_record *row = &w->record.comparisons[r->best.row];
    free(row->profile);
    row->profile = s.profile;
    if (published_number && profile_disagrees(row->profile)) {
        doubt(row);
    }
    r->best.timed = *row;
    return 0;
}

static void note_miss(race *r, const step *s)
{
    free(r->missed);
    r->missed =
        verdict_is_ok(&s->verdict)
            ? xasprintf(" Your last attempt to make it faster took %.4f ms.", s->timed.candidate_ms)
            : xasprintf(" Your last attempt to make it faster was not correct (%s): %s",
                        outcome_name(s->verdict.result), s->verdict.text);
}

/* promote: `row` is the newest comparison of the record, that of *next. */
static void promote(pipeline *p, race *r, candidate **next, comparison_record *row, size_t number)
{
    if (r->earlier_count < EARLIER_MAX) {
        r->earlier[r->earlier_count++] = (contender){TAKE(p->best), r->best.timed, r->best.row};
    }
    candidate_destroy(&p->best);
    p->best = TAKE(*next);
    row->kept = true;
    r->best.timed = *row;
    r->best.row = number;
}

/* A repaired candidate that is correct and faster becomes the best. */
static int race_candidate(pipeline *p, stage_work *w, race *r, candidate **next, err *e)
{
    step s = {.run = run_candidate, .record = &w->record, .race = r, .c = *next, .quick = true};
    if (run_step(p, w, &s, e) != 0) {
        return -1;
    }
    keep_times(&w->record, &s, r->best.timed.speedup);
    note_step(r, &w->record, &s);
    attempt_record *a = stage_attempt(p, w, s.verdict.result, s.verdict.detail, s.verdict.text);
    a->source = (*next)->source_hash;
    a->plan = (*next)->plan_hash;
    if (!verdict_is_ok(&s.verdict) || is_verdict(&s.timed, "impossible") ||
        !(s.timed.speedup > r->best.timed.speedup)) {
        note_miss(r, &s);
        return 0;
    }
    promote(p, r, next, newest_comparison(&w->record), w->record.comparison_count - 1);
    return 0;
}

static char *finding(const race *r)
{
    const comparison_record *c = &r->best.timed;
    SCOPED(buf_fini) buf text;
    buf_init(&text, 16384);
    buf_printf(&text,
               "The kernel is correct. At the benchmark shape it takes %.4f ms; the best PyTorch "
               "baseline (%s) takes %.4f ms at the same moment: %.3f times as fast (%s, interval "
               "%.3f to %.3f).",
               c->candidate_ms, c->baseline_mode, c->baseline_ms, c->speedup, c->verdict, c->ci_low,
               c->ci_high);
    if (!isnan(c->floor_ms)) {
        buf_printf(&text, " Reading and writing every byte once takes %.4f ms on this device.",
                   c->floor_ms);
    }
    if (c->profile != NULL) {
        buf_puts(&text, "\n\n");
        profile_text(c->profile, &text);
        buf_puts(&text, "\n");
    }
    buf_printf(&text, " Make it faster and keep it exact.%s", r->missed != NULL ? r->missed : "");
    return buf_take(&text);
}

/* One faster candidate is sought; answers that do not compile are told why, on the same budget. */
static int improve(pipeline *p, stage_work *w, race *r, err *e)
{
    if (r->best.timed.profile == NULL && look_at_best(p, w, r, false, e) != 0) {
        return -1;
    }
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

/* ---- the sanitizer ---- */

/* Whoever may get a rank or change a record is looked at; in a validation, who is said to be. */
static const char *without_sanitizer(const pipeline *p, const race *r)
{
    const comparison_record *c = &r->best.timed;
    if (p->spec->trial != NULL) {
        return p->spec->sanitize != 0 ? NULL : "not run (not asked for)";
    }
    return c->verdict != NULL && is_verdict(c, "faster") ? NULL
                                                         : "not run (not faster than the baseline)";
}

/* A finding replaces the outcome. */
static int sanitize_best(pipeline *p, stage_work *w, const race *r, runner_verdict *verdict, err *e)
{
    sanitize_report report;
    const char *why_not = without_sanitizer(p, r);
    verdict_ok(verdict);
    if (why_not != NULL) {
        w->record.sanitizer = xstrdup(why_not);
        return 0;
    }
    lane *held = stage_hold(p, w, e);
    if (held == NULL) {
        return -1;
    }
    int rc = sanitize_candidate(p, held, p->best, &report, e);
    stage_let_go(p, w, &held);
    if (rc == 0) {
        *verdict = report.verdict;
        w->record.sanitizer = xstrdup(report.state);
    }
    return rc;
}

/* ---- the stage ---- */

/* time_best times p->best for the board. */
static int time_best(pipeline *p, stage_work *w, race *r, runner_verdict *verdict, err *e)
{
    step s = {.run = run_candidate, .record = &w->record, .race = r, .c = p->best, .checked = true};
    if (run_step(p, w, &s, e) != 0) {
        return -1;
    }
    keep_times(&w->record, &s, (double)NAN);
    note_step(r, &w->record, &s);
    *verdict = s.verdict;
    r->best.timed = s.timed;
    if (s.timed.verdict == NULL) {
        return 0;
    }
    newest_comparison(&w->record)->kept = true;
    r->best.row = w->record.comparison_count - 1;
    return look_at_best(p, w, r, true, e);
}

/* fall_back makes the best one before it the best again. */
static void fall_back(pipeline *p, stage_work *w, race *r, const runner_verdict *verdict)
{
    contender *before = &r->earlier[--r->earlier_count];
    stage_note(w,
               "the fastest candidate failed when it was timed again (%s: %s); the one before it "
               "stands",
               outcome_name(verdict->result), verdict->text);
    w->record.comparisons[r->best.row].kept = false;
    candidate_destroy(&p->best);
    p->best = TAKE(before->c);
    r->best.timed = before->timed;
    r->best.row = before->row;
}

/* publish sees to it that the number of p->best is not one that was chosen among several. */
static int publish(pipeline *p, stage_work *w, race *r, err *e)
{
    while (r->best.timed.purpose != NULL && strcmp(r->best.timed.purpose, published) != 0) {
        runner_verdict verdict;
        if (time_best(p, w, r, &verdict, e) != 0) {
            return -1;
        }
        if (!verdict_is_ok(&verdict)) {
            fall_back(p, w, r, &verdict); /* the first one is published: there is one before */
        }
    }
    return 0;
}

static int improve_all(pipeline *p, stage_work *w, race *r, err *e)
{
    while (may_improve(p, r) && stage_may_ask(p, w)) {
        if (improve(p, w, r, e) != 0) {
            return -1;
        }
    }
    return publish(p, w, r, e);
}

static void stop(pipeline *p, stage_work *w, const runner_verdict *verdict)
{
    stage_decide(w, "failed", verdict->result, verdict->detail, verdict->text);
    p->over = true;
}

int stage_performance(pipeline *p, stage_work *w, err *e)
{
    race r SCOPED(race_fini) = {.baseline_ms = (double)NAN};
    runner_verdict verdict;
    if (strcmp(p->facts->kind, "emu") == 0) {
        return performance_modelled(p, w, e);
    }
    if (find_baseline(p, w, &r, e) != 0) {
        return -1;
    }
    if (r.distrust != NULL) {
        SCOPED(scoped_free)
        char *why = xasprintf("not timed: this card fails its self-test (%s)", r.distrust);
        stage_decide(w, "skipped", OUTCOME_OK, NULL, why);
        return 0;
    }
    if (time_best(p, w, &r, &verdict, e) != 0) {
        return -1;
    }
    if (!verdict_is_ok(&verdict)) {
        stop(p, w, &verdict);
        return 0;
    }
    if (improve_all(p, w, &r, e) != 0 || sanitize_best(p, w, &r, &verdict, e) != 0) {
        return -1;
    }
    w->record.lineage = lineage_json(&r.steps, &w->record);
    if (verdict_is_ok(&verdict)) {
        stage_decide(w, "passed", OUTCOME_OK, NULL, NULL);
    } else {
        stop(p, w, &verdict);
    }
    return 0;
}
