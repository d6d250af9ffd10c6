/* selftest - see selftest.h.
 *
 * A table says which checks there are and how often each is made. Comparisons are whole duels, with the
 * looks and processes of any other; their pairs go where all raw samples go.
 *
 * SPDX-License-Identifier: MIT */
#include "agent-node/selftest.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent-node/duel.h"
#include "agent-node/measure.h"
#include "agent-node/profile.h"
#include "agent-node/runner/timing/ce_timing.h"
#include "agent-node/specimen.h"
#include "common/clock.h"
#include "common/scoped.h"
#include "common/stats.h"
#include "common/xalloc.h"
#include "suites/cases.h"

enum { CHEAT_MS = 1000 };

#define MIB(n) (INT64_C(1048576) * (n) / 4) /* floats in n MiB */

static const int64_t cheat_floats = 1000001; /* no multiple of anything */
static const int64_t tiny_floats = 1024;     /* a copy that is nothing but its launch */
static const double share_wanted = 0.90;     /* of the slower copies that are called slower */
static const double share_false = 0.05;      /* of A/A runs that may be called */
static const double paths_apart = 0.015;     /* |θ| between runner and judge, at most */
static const double warm_ratio = 1.3;        /* cold over warm, more than */
static const double copy_apart = 0.05;       /* of what is stored, at most */

/* ---- rows ---- */

typedef struct session_state {
    const node_parts *node;
    lane *held;
    const selftest_options *options;
    calibration_record *out;
    int64_t number; /* of the next comparison: its inputs are fresh */
} session_state;

static calibration_check *add_row(session_state *s, const char *name, const char *label)
{
    const double none = (double)NAN;
    calibration_record *r = s->out;
    r->checks = xreallocarray(r->checks, r->check_count + 1, sizeof *r->checks);
    calibration_check *row = &r->checks[r->check_count++];
    *row = (calibration_check){.name = xstrdup(name),
                               .label = xstrdup(label),
                               .theta = none,
                               .ci_low = none,
                               .ci_high = none,
                               .candidate_ms = none,
                               .value = none,
                               .limit = none};
    return row;
}

static void say(const session_state *s, const calibration_check *row)
{
    if (s->options->said != NULL)
        s->options->said(s->options->arg, row);
}

/* not_run: a check that could not be made decides nothing. */
static void not_run(const session_state *s, calibration_check *row, const char *why)
{
    row->passed = true;
    row->decides = false;
    row->text = xasprintf("not run: %s", why);
    say(s, row);
}

/* ---- comparisons ---- */

static void take_comparison(calibration_check *row, comparison_record *c)
{
    row->verdict = TAKE(c->verdict);
    row->reason = TAKE(c->reason);
    row->theta = log(c->speedup);
    row->ci_low = log(c->ci_low);
    row->ci_high = log(c->ci_high);
    row->candidate_ms = c->candidate_ms;
    row->pairs = c->pairs;
    row->raw = c->raw;
    row->duration = c->candidate_ms > 0 ? xstrdup(calibration_class(c->candidate_ms)) : NULL;
    comparison_record_fini(c);
}

typedef struct fight {
    const specimen_bench *bench;
    const candidate *c, *rival; /* rival NULL: the judge's eager */
    bool quick;                 /* any verdict ends it */
} fight;

/* compare fills the row; *made false when there was no comparison, and the row says why. */
static int compare(session_state *s, const fight *f, calibration_check *row, bool *made, err *e)
{
    comparison_record got = {.verdict = NULL};
    runner_verdict verdict;
    err why = {0};
    const duel_request request = {.p = &f->bench->p,
                                  .held = s->held,
                                  .c = f->c,
                                  .rival = f->rival,
                                  .mode = f->rival != NULL ? f->rival->alias : "eager",
                                  .baseline_ms = (double)INFINITY,
                                  .number = s->number++,
                                  .quick = f->quick};
    *made = false;
    int rc = duel_run(&request, &got, &verdict, &why);
    if (rc != 0 && why.code == ERR_LIMIT) {
        not_run(s, row, why.text);
        return 0;
    }
    if (rc != 0) {
        *e = why;
        return err_wrap(e, "%s, %s", row->name, row->label);
    }
    if (!verdict_is_ok(&verdict)) {
        row->text = xasprintf("%s: %s", outcome_name(verdict.result), verdict.text);
        row->decides = true;
        say(s, row);
        return 0;
    }
    take_comparison(row, &got);
    *made = true;
    return 0;
}

static bool is(const calibration_check *row, const char *verdict)
{
    return row->verdict != NULL && strcmp(row->verdict, verdict) == 0;
}

/* A bench with an honest copy and one more kernel. */
typedef struct ring {
    specimen_bench bench;
    candidate *copy, *other;
} ring;

static void ring_fini(ring *self)
{
    candidate_destroy(&self->copy);
    candidate_destroy(&self->other);
    specimen_close(&self->bench);
}

static int build_honest(const ring *r, const specimen *what, candidate **out, err *e)
{
    if (specimen_build(&r->bench, what, out, e) != 0)
        return -1;
    const compile_result *c = &(*out)->compiled;
    return c->result == OUTCOME_OK
               ? 0
               : err_set(e, ERR_INTERNAL, "%s does not compile: %s", what->name, c->text);
}

static int ring_open(ring *self, const session_state *s, int64_t n, int64_t ignored,
                     const specimen *other, err *e)
{
    *self = (ring){.copy = NULL};
    if (specimen_open(&self->bench, s->node, lane_get_facts(s->held), n, ignored, NULL, e) != 0 ||
        build_honest(self, &specimen_copy, &self->copy, e) != 0)
        return -1;
    return other != NULL ? build_honest(self, other, &self->other, e) : 0;
}

/* ---- A/A ---- */

typedef struct size_row {
    const char *label;
    int64_t floats;
    int runs, quick_runs;
    const specimen *what;
} size_row;

/* 5 µs to 2 ms on a card that moves 4 TB/s. */
static const size_row sizes[] = {
    {"6 MiB", MIB(6), 7, 1, &specimen_copy},    {"16 MiB", MIB(16), 7, 0, &specimen_copy},
    {"64 MiB", MIB(64), 7, 1, &specimen_copy},  {"256 MiB", MIB(256), 7, 0, &specimen_copy},
    {"1 GiB", MIB(1024), 7, 1, &specimen_copy}, {"2 GiB twice", MIB(2048), 5, 0, &specimen_twice}};

static int run_itself(session_state *s, const size_row *size, int runs, int counts[2], err *e)
{
    ring r SCOPED(ring_fini) = {.copy = NULL};
    if (runs > 0 && ring_open(&r, s, size->floats, size->floats / 8, size->what, e) != 0)
        return -1;
    for (int i = 0; i < runs; i++) {
        bool made = false;
        const fight f = {.bench = &r.bench, .c = r.other, .rival = r.other};
        calibration_check *row = add_row(s, CALIBRATION_AA, size->label);
        if (compare(s, &f, row, &made, e) != 0)
            return -1;
        if (!made)
            break;
        row->passed = !is(row, "faster") && !is(row, "slower");
        counts[0]++;
        counts[1] += !row->passed;
        say(s, row);
    }
    return 0;
}

static int check_itself(session_state *s, err *e)
{
    int counts[2] = {0, 0}; /* runs, and how many of them were called */
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        if (run_itself(s, &sizes[i], s->options->quick ? sizes[i].quick_runs : sizes[i].runs,
                       counts, e) != 0)
            return -1;
    calibration_check *row = add_row(s, "aa_called", "all");
    row->value = counts[1];
    row->limit = fmax(1, floor(share_false * counts[0]));
    row->decides = true;
    row->passed = counts[0] > 0 && row->value <= row->limit;
    row->text = xasprintf("%d of %d comparisons of a kernel with itself were called faster or "
                          "slower",
                          counts[1], counts[0]);
    say(s, row);
    return 0;
}

/* ---- slower by design ---- */

static int check_slower(session_state *s, const char *name, const specimen *what, int runs, err *e)
{
    int called = 0;
    int made_all = 0;
    ring r SCOPED(ring_fini);
    if (ring_open(&r, s, MIB(256), MIB(256) / 8, what, e) != 0)
        return -1;
    for (int i = 0; i < runs; i++) {
        bool made = false;
        const fight f = {.bench = &r.bench, .c = r.other, .rival = r.copy};
        calibration_check *row = add_row(s, name, "256 MiB");
        if (compare(s, &f, row, &made, e) != 0)
            return -1;
        if (!made)
            return 0;
        row->passed = is(row, "slower") && (what != &specimen_slower_10 || row->pairs <= 10);
        made_all++;
        called += row->passed;
        say(s, row);
    }
    SCOPED(scoped_free) char *sum = xasprintf("%s_called", name);
    calibration_check *row = add_row(s, sum, "256 MiB");
    row->value = (double)called / made_all;
    row->limit = share_wanted;
    row->decides = true;
    row->passed = row->value >= share_wanted;
    row->text = xasprintf("%d of %d were called slower%s", called, made_all,
                          what == &specimen_slower_10 ? " within 10 pairs" : "");
    say(s, row);
    return 0;
}

static int check_slower_3(session_state *s, err *e)
{
    return check_slower(s, "slower_3", &specimen_slower_3, s->options->quick ? 1 : 10, e);
}

static int check_slower_10(session_state *s, err *e)
{
    return check_slower(s, "slower_10", &specimen_slower_10, s->options->quick ? 1 : 3, e);
}

/* ---- through the judge ---- */

static int compare_paths(session_state *s, const char *label, int64_t floats, err *e)
{
    bool made = false;
    ring plain SCOPED(ring_fini);
    ring r SCOPED(ring_fini) = {.copy = NULL};
    if (ring_open(&plain, s, floats, floats / 8, NULL, e) != 0)
        return -1;
    SCOPED(scoped_free) char *reference = specimen_reference(plain.copy);
    if (specimen_open(&r.bench, s->node, lane_get_facts(s->held), floats, floats / 8, reference,
                      e) != 0)
        return -1;
    const fight f = {.bench = &r.bench, .c = plain.copy};
    calibration_check *row = add_row(s, "paths", label);
    if (compare(s, &f, row, &made, e) != 0)
        return -1;
    if (!made)
        return 0;
    row->value = fabs(row->theta);
    row->limit = paths_apart;
    row->decides = true;
    row->passed = !is(row, "faster") && !is(row, "slower") && row->value <= paths_apart;
    row->text = xstrdup("one kernel in the runner against itself in the judge");
    say(s, row);
    return 0;
}

static int check_paths(session_state *s, err *e)
{
    if (!s->options->quick && compare_paths(s, "16 MiB", MIB(16), e) != 0)
        return -1;
    return compare_paths(s, "256 MiB", MIB(256), e);
}

/* ---- single kernels ---- */

/* A short look at the copy of so many floats; `alias` is its name on the fake device. */
static int look_at(session_state *s, int64_t floats, const char *alias, measure_short *out,
                   runner_verdict *verdict, err *e)
{
    ring r SCOPED(ring_fini);
    trial t SCOPED(trial_fini) = {.p = NULL};
    if (ring_open(&r, s, floats, floats / 8, NULL, e) != 0)
        return -1;
    r.copy->alias = alias;
    if (trial_open(&t, &r.bench.p, s->held, r.copy, verdict, e) != 0)
        return -1;
    return verdict_is_ok(verdict) ? measure_estimate(&t, s->number++, out, verdict, e) : 0;
}

static void say_failed(const session_state *s, calibration_check *row,
                       const runner_verdict *verdict)
{
    row->decides = true;
    row->text = xasprintf("%s: %s", outcome_name(verdict->result), verdict->text);
    say(s, row);
}

/* The part of a single call's time that no cache can change: launching. It is taken out here only, where a
 * ratio of two times of some microseconds must tell whether the flush works. */
static void say_warm(const session_state *s, calibration_check *row, const measure_short *got,
                     const measure_short *tiny)
{
    double warm = stats_median(got->warm, MEASURE_SHORT);
    double launch = stats_median(tiny->warm, MEASURE_SHORT);
    row->candidate_ms = got->median_ms;
    row->value = (got->median_ms - launch) / (warm - launch);
    row->limit = warm_ratio;
    row->decides = true;
    row->passed = warm > launch && row->value > warm_ratio;
    row->text = xasprintf("cold %.4f ms, warm %.4f ms, of both %.4f ms launching: the flush works "
                          "when the ratio of what is left is above %.1f",
                          got->median_ms, warm, launch, warm_ratio);
    say(s, row);
}

/* A copy of a sixth of L2 to another sixth. */
static int check_warm(session_state *s, err *e)
{
    const int64_t floats = lane_get_facts(s->held)->l2_bytes / 6 / 16 * 4;
    measure_short got = {0}, tiny = {0};
    runner_verdict verdict;
    verdict_ok(&verdict);
    if (look_at(s, floats > tiny_floats ? floats : MIB(10), specimen_copy.name, &got, &verdict,
                e) != 0 ||
        (verdict_is_ok(&verdict) &&
         look_at(s, tiny_floats, "selftest_launch", &tiny, &verdict, e) != 0))
        return -1;
    calibration_check *row = add_row(s, "warm", "L2 / 6");
    if (!verdict_is_ok(&verdict)) {
        say_failed(s, row, &verdict);
        return 0;
    }
    say_warm(s, row, &got, &tiny);
    row = add_row(s, "event_floor", "empty pair");
    row->value = got.event_floor_ms;
    row->passed = true;
    row->text = xstrdup("milliseconds between two events with nothing between them");
    say(s, row);
    return 0;
}

static int check_copy(session_state *s, err *e)
{
    double known = s->options->copy_ms;
    measurement_record timed SCOPED(measurement_record_fini) = {.side = NULL};
    runner_verdict verdict;
    ring r SCOPED(ring_fini);
    if (ring_open(&r, s, MIB(64), MIB(64) / 8, NULL, e) != 0 ||
        measure_candidate(&r.bench.p, s->held, r.copy, s->number++, &timed, &verdict, e) != 0)
        return -1;
    calibration_check *row = add_row(s, CALIBRATION_COPY, "64 MiB");
    if (!verdict_is_ok(&verdict)) {
        say_failed(s, row, &verdict);
        return 0;
    }
    row->candidate_ms = row->value = timed.median_ms;
    row->raw = timed.samples;
    row->limit = known > 0 ? known : (double)NAN;
    row->decides = known > 0;
    row->passed = !(known > 0) || fabs(timed.median_ms / known - 1) <= copy_apart;
    row->text = known > 0
                    ? xasprintf("%.5f ms, stored median %.5f ms", timed.median_ms, known)
                    : xasprintf("%.5f ms; nothing is stored to compare it with", timed.median_ms);
    say(s, row);
    return 0;
}

/* ---- two clocks ---- */

/* A side's events against CUPTI's span of the same call. */
static void offset_row(session_state *s, const char *side, const json *profile)
{
    const json *spans = json_get(profile, side);
    calibration_check *row = add_row(s, "offset", side);
    const char *unavailable = json_str(json_get(profile, "reason"), NULL);
    if (unavailable == NULL)
        unavailable = json_str(json_get(spans, "unavailable"), NULL);
    const double event = json_real(json_get(spans, "event_ms"), (double)NAN);
    const double span = json_real(json_get(spans, "span_ms"), (double)NAN);
    const double floor_ms = json_real(json_get(profile, "launch_floor_ms"), (double)NAN);
    if (unavailable != NULL || isnan(event - span - floor_ms)) {
        not_run(s, row, unavailable != NULL ? unavailable : "CUPTI told no span");
        return;
    }
    row->candidate_ms = event;
    row->value = event - floor_ms - span;
    row->limit = fmax(0.05 * span, 1.5e-3);
    row->decides = true;
    row->passed = json_bool(json_get(spans, "agrees"), false);
    row->text =
        xasprintf("events say %.5f ms, of which %.5f ms are launching; CUPTI's span is %.5f ms",
                  event, floor_ms, span);
    say(s, row);
}

/* The copy of 64 MiB, and PyTorch's, by events and by CUPTI. */
static int check_offset(session_state *s, err *e)
{
    ring r SCOPED(ring_fini);
    comparison_record timed = {.baseline_mode = (char *)(uintptr_t) "eager",
                               .timing_mode = (char *)(uintptr_t) "E"};
    if (ring_open(&r, s, MIB(64), MIB(64) / 8, NULL, e) != 0 ||
        measure_slots(&r.bench.p, r.copy, 0.0, &timed.slots, e) != 0)
        return -1;
    const profile_request request = {.p = &r.bench.p,
                                     .held = s->held,
                                     .c = r.copy,
                                     .timed = &timed,
                                     .baseline = true,
                                     .number = s->number++};
    SCOPED(scoped_free) char *told = profile_run(&request);
    SCOPED(json_destroy) json *profile = json_parse_tree(told, strlen(told), "profile", NULL);
    offset_row(s, "candidate", profile);
    offset_row(s, "baseline", profile);
    return 0;
}

/* ---- cheats ---- */

/* One look at a cheat on one shape, as ce-correct-1 takes it. */
static int try_cheat(session_state *s, const specimen_bench *b, const candidate *c,
                     runner_verdict *verdict, err *e)
{
    const contract *terms = b->p.terms;
    SCOPED(judge_staging_fini) judge_staging staging = {0};
    SCOPED(judge_comparison_fini) judge_comparison said = {0};
    trial t SCOPED(trial_fini) = {.p = NULL};
    const int64_t salt = trial_seed(&b->spec, "cheat salt", s->number++);
    judge_draw_request draw = {.shape = &terms->benchmark,
                               .seed = trial_seed(&b->spec, "cheat", s->number),
                               .family = cases_benchmark(terms).family,
                               .slots = 1};
    runner_check request = {.terms = terms,
                            .shape = &terms->benchmark,
                            .staging = &staging,
                            .salt = salt,
                            .pair_salt = salt + 1,
                            .deadline_ms = CHEAT_MS};
    if (trial_open(&t, &b->p, s->held, c, verdict, e) != 0)
        return -1;
    if (!verdict_is_ok(verdict))
        return 0;
    if (judge_draw(t.judge, &draw, &staging, e) != 0 ||
        runner_proc_check(t.runner, &request, verdict, e) != 0)
        return -1;
    if (!verdict_is_ok(verdict))
        return 0;
    if (judge_compare(t.judge, 0, salt, &said, e) != 0)
        return -1;
    if (!said.equal)
        verdict_set(verdict, OUTCOME_WRONG, said.detail, "%s", said.text);
    return 0;
}

static int refuse_one(session_state *s, const specimen_bench *b, const specimen *what, err *e)
{
    runner_verdict verdict;
    SCOPED(candidate_destroy) candidate *c = NULL;
    verdict_ok(&verdict);
    if (specimen_build(b, what, &c, e) != 0)
        return -1;
    if (c->compiled.result != OUTCOME_OK)
        verdict_set(&verdict, c->compiled.result, c->compiled.detail, "%s", c->compiled.text);
    else if (try_cheat(s, b, c, &verdict, e) != 0)
        return err_wrap(e, "%s", what->name);
    calibration_check *row = add_row(s, "refused", what->name);
    row->decides = true;
    for (size_t i = 0; i < what->must_count; i++)
        row->passed |= verdict.result == what->must[i];
    row->text = xasprintf("%s: %s%s%s", what->why, outcome_name(verdict.result),
                          verdict.text[0] != '\0' ? ": " : "", verdict.text);
    say(s, row);
    return 0;
}

static int check_refused(session_state *s, err *e)
{
    specimen_bench b SCOPED(specimen_close);
    if (specimen_open(&b, s->node, lane_get_facts(s->held), cheat_floats, cheat_floats / 8, NULL,
                      e) != 0)
        return -1;
    for (const specimen *what = specimen_cheats; what->name != NULL; what++)
        if (refuse_one(s, &b, what, e) != 0)
            return -1;
    return 0;
}

/* ---- what brings nothing, and what cannot be ---- */

static int check_keeps_l2(session_state *s, err *e)
{
    bool made = false;
    ring r SCOPED(ring_fini);
    if (s->options->quick)
        return 0;
    if (ring_open(&r, s, MIB(8), MIB(8) / 8, &specimen_keeps_l2, e) != 0)
        return -1;
    const fight f = {.bench = &r.bench, .c = r.other, .rival = r.copy};
    calibration_check *row = add_row(s, "keeps_l2", "8 MiB");
    if (compare(s, &f, row, &made, e) != 0)
        return -1;
    if (!made)
        return 0;
    row->decides = true;
    row->passed = !is(row, "faster");
    row->text = xstrdup("a copy that asks L2 to keep its input must not be called faster");
    say(s, row);
    return 0;
}

/* The copy leaves two thirds of what the contract calls input unread: no kernel that reads it all could be
 * so fast. */
static int check_floor(session_state *s, err *e)
{
    bool made = false;
    ring r SCOPED(ring_fini);
    if (ring_open(&r, s, MIB(256), MIB(512), NULL, e) != 0)
        return -1;
    const fight f = {.bench = &r.bench, .c = r.copy, .rival = r.copy, .quick = true};
    calibration_check *row = add_row(s, "floor", "256 MiB");
    if (!(lane_get_facts(s->held)->memory_rate > 0)) {
        not_run(s, row, "the device does not tell its memory rate");
        return 0;
    }
    if (compare(s, &f, row, &made, e) != 0)
        return -1;
    if (!made)
        return 0;
    row->decides = true;
    row->passed = is(row, "impossible");
    row->text = xstrdup("a kernel that is faster than its memory must be called impossible");
    say(s, row);
    return 0;
}

/* ---- all of it ---- */

typedef int check_fn(session_state *s, err *e);

static check_fn *const checks[] = {check_refused,  check_warm,      check_copy,     check_offset,
                                   check_paths,    check_slower_10, check_slower_3, check_floor,
                                   check_keeps_l2, check_itself};

static void fill_head(const session_state *s)
{
    const lane_facts *f = lane_get_facts(s->held);
    *s->out = (calibration_record){.device = xstrdup(f->name),
                                   .device_kind = xstrdup(f->kind),
                                   .device_uuid = xstrdup(f->uuid),
                                   .driver = xstrdup(f->driver),
                                   .torch = xstrdup(""),
                                   .version = xstrdup(s->options->version),
                                   .protocol = xstrdup(CE_TIMING_PROTOCOL),
                                   .quick = s->options->quick,
                                   .passed = true};
}

static int fill_torch(session_state *s, err *e)
{
    judge *j = lane_judge(s->held, e);
    if (j == NULL)
        return -1;
    free(s->out->torch);
    s->out->torch = xstrdup(judge_get_facts(j)->torch);
    return 0;
}

/* add_error: what was found before the harness failed is worth keeping, but it is no pass. */
static void add_error(session_state *s, const err *why)
{
    calibration_check *row = add_row(s, "harness", "");
    row->decides = true;
    row->text = xstrdup(why != NULL ? why->text : "the harness failed");
    say(s, row);
}

int selftest_run(const node_parts *node, lane *held, const selftest_options *options,
                 calibration_record *out, err *e)
{
    session_state s = {.node = node, .held = held, .options = options, .out = out};
    int64_t start = clock_mono_ms();
    fill_head(&s);
    int rc = fill_torch(&s, e);
    for (size_t i = 0; rc == 0 && i < sizeof checks / sizeof *checks; i++)
        rc = checks[i](&s, e);
    if (rc != 0)
        add_error(&s, e);
    for (size_t i = 0; i < out->check_count; i++)
        out->passed &= out->checks[i].passed || !out->checks[i].decides;
    out->wall_s = (double)(clock_mono_ms() - start) / 1e3;
    return rc;
}
