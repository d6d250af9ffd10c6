/* measure - a candidate by itself and the baselines, at the benchmark shape
 *
 * SPDX-License-Identifier: MIT */
#include "agent-node/measure.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent-node/roofline.h"
#include "agent-node/runner/timing/ce_timing.h"
#include "common/scoped.h"
#include "common/stats.h"
#include "common/xalloc.h"
#include "suites/cases.h"

enum {
    MEASURE_DEADLINE_MS = 60000,
    UNTIMED = 3,
    NODES_KEPT_MAX = 131072 /* launches in all graphs of a candidate together */
};

/* most_slots: how many graphs of the plan are kept at once, at least two. */
static uint32_t most_slots(const pipeline *p, const candidate *c)
{
    plan_fault fault;
    SCOPED(plan_steps_fini) plan_steps steps = {0};
    if (c == NULL ||
        plan_expand(c->plan, p->terms, &p->terms->benchmark, &p->facts->limits, &steps, &fault) <
            0 ||
        steps.step_count == 0) {
        return CE_TIMING_SLOTS_MAX;
    }
    const size_t most = NODES_KEPT_MAX / steps.step_count;
    return most < 2 ? 2 : most < CE_TIMING_SLOTS_MAX ? (uint32_t)most : CE_TIMING_SLOTS_MAX;
}

int measure_slots(const pipeline *p, const candidate *c, double estimate_us, int64_t *out, err *e)
{
    int64_t bytes = 0;
    if (roofline_bytes(p->terms, &p->terms->benchmark, &bytes, e) != 0) {
        return -1;
    }
    uint64_t l2 = p->facts->l2_bytes > 0 ? (uint64_t)p->facts->l2_bytes : 1;
    uint32_t slots =
        ce_timing_slots((uint64_t)bytes, l2, estimate_us, (uint64_t)p->facts->limits.memory_bytes);
    if (slots == 0) {
        return err_set(e, ERR_LIMIT, "the benchmark shape of %s does not fit the device",
                       p->spec->problem);
    }
    const uint32_t most = most_slots(p, c);
    *out = slots < most ? slots : most;
    return 0;
}

static const char *benchmark_family(const contract *terms)
{
    return cases_benchmark(terms).family;
}

/* ---- the candidate alone ---- */

json *measure_samples_json(const double *samples, size_t count)
{
    json *array = json_new_array();
    for (size_t i = 0; i < count; i++) {
        json *value = json_new_real(samples[i]);
        json_append(array, &value);
    }
    return array;
}

/* One block of a candidate by itself. */
typedef struct solo {
    const trial *t;
    bool whole; /* the full warm-up, and a timed call's outputs are compared */
    int64_t samples, slots, salt;
    double event_floor_ms;
    judge_staging staging;
    runner_timing timing;       /* of the block */
    double warm[MEASURE_SHORT]; /* of the block after it; not when whole */
} solo;

static void solo_fini(solo *self)
{
    judge_staging_fini(&self->staging);
    runner_timing_fini(&self->timing);
}

static int solo_arm(solo *s, int64_t number, runner_verdict *verdict, err *e)
{
    const pipeline *p = s->t->p;
    SCOPED(runner_timing_fini) runner_timing armed = {0};
    judge_draw_request draw = {.shape = &p->terms->benchmark,
                               .seed = trial_seed(p->spec, "time", number),
                               .family = benchmark_family(p->terms),
                               .slots = s->slots};
    if (judge_draw(s->t->judge, &draw, &s->staging, e) != 0) {
        return -1;
    }
    s->salt = trial_seed(p->spec, "time salt", number);
    runner_arm request = {.terms = p->terms,
                          .shape = &p->terms->benchmark,
                          .salt = s->salt,
                          .staging = &s->staging,
                          .slots = s->slots,
                          .settle = s->whole,
                          .keeps = s->whole,
                          .deadline_ms = MEASURE_DEADLINE_MS};
    if (runner_proc_arm(s->t->runner, &request, &armed, e) != 0) {
        return -1;
    }
    *verdict = armed.verdict;
    s->event_floor_ms = armed.event_floor_ms;
    return 0;
}

static int solo_block(solo *s, runner_verdict *verdict, err *e)
{
    runner_block request = {.samples = s->samples,
                            .untimed = UNTIMED,
                            .keep = s->whole ? s->salt % s->samples : -1,
                            .deadline_ms = MEASURE_DEADLINE_MS};
    if (runner_proc_block(s->t->runner, &request, &s->timing, e) != 0) {
        return -1;
    }
    *verdict = s->timing.verdict;
    return 0;
}

/* A second block with a warm L2. */
static int solo_warm(solo *s, runner_verdict *verdict, err *e)
{
    SCOPED(runner_timing_fini) runner_timing timing = {0};
    runner_block request = {.samples = s->samples,
                            .untimed = UNTIMED,
                            .keep = -1,
                            .warm = true,
                            .deadline_ms = MEASURE_DEADLINE_MS};
    if (runner_proc_block(s->t->runner, &request, &timing, e) != 0) {
        return -1;
    }
    *verdict = timing.verdict;
    for (size_t i = 0; i < timing.sample_count && i < MEASURE_SHORT; i++) {
        s->warm[i] = timing.samples[i];
    }
    return 0;
}

/* What a timed call left behind is the answer to its slot's inputs. */
static int solo_compare(solo *s, runner_verdict *verdict, err *e)
{
    SCOPED(judge_comparison_fini) judge_comparison comparison = {0};
    int64_t slot = s->timing.kept_count > 0 ? s->timing.kept[0] : 0;
    if (runner_proc_kept(s->t->runner, &s->staging, 0, verdict, e) != 0) {
        return -1;
    }
    if (!verdict_is_ok(verdict)) {
        return 0;
    }
    if (judge_compare(s->t->judge, slot, s->salt, &comparison, e) != 0) {
        return -1;
    }
    if (!comparison.equal) {
        verdict_set(verdict, OUTCOME_WRONG, comparison.detail, "in a timed call: %s",
                    comparison.text);
    }
    return 0;
}

static int solo_run(solo *s, int64_t number, runner_verdict *verdict, err *e)
{
    if (measure_slots(s->t->p, s->t->c, 0.0, &s->slots, e) != 0 ||
        solo_arm(s, number, verdict, e) != 0) {
        return -1;
    }
    if (verdict_is_ok(verdict) && solo_block(s, verdict, e) != 0) {
        return -1;
    }
    if (verdict_is_ok(verdict) &&
        (s->whole ? solo_compare(s, verdict, e) : solo_warm(s, verdict, e)) != 0) {
        return -1;
    }
    return verdict_is_ok(verdict) ? runner_proc_disarm(s->t->runner, verdict, e) : 0;
}

int measure_estimate(const trial *t, int64_t number, measure_short *out, runner_verdict *verdict,
                     err *e)
{
    solo s SCOPED(solo_fini) = {.t = t, .samples = MEASURE_SHORT};
    if (solo_run(&s, number, verdict, e) != 0) {
        return -1;
    }
    if (verdict_is_ok(verdict)) {
        *out = (measure_short){.median_ms = stats_median(s.timing.samples, s.timing.sample_count),
                               .event_floor_ms = s.event_floor_ms,
                               .slots = s.slots};
        memcpy(out->warm, s.warm, sizeof(out->warm));
    }
    return 0;
}

int measure_warm(const pipeline *p, const measure_short *from, measurement_record *row, err *e)
{
    SCOPED(json_destroy) json *samples = measure_samples_json(from->warm, MEASURE_SHORT);
    SCOPED(scoped_free) char *text = json_dump(samples);
    double median = stats_median(from->warm, MEASURE_SHORT);
    bool positive = median > 0.0;
    *row = (measurement_record){.side = xstrdup("candidate"),
                                .mode = xstrdup("plan"),
                                .shape = contract_shape_label(p->terms, &p->terms->benchmark),
                                .l2 = xstrdup("warm"),
                                .median_ms = positive ? median : (double)NAN,
                                .reason = positive ? NULL : xstrdup("no positive sample"),
                                .sample_count = MEASURE_SHORT,
                                .slots = from->slots,
                                .event_floor_ms = from->event_floor_ms};
    return ledger_put_text(p->ledger, text, &row->samples, e);
}

static int fill_row(const solo *s, measurement_record *row, err *e)
{
    const pipeline *p = s->t->p;
    SCOPED(json_destroy)
    json *samples = measure_samples_json(s->timing.samples, s->timing.sample_count);
    SCOPED(scoped_free) char *text = json_dump(samples);
    row->side = xstrdup("candidate");
    row->mode = xstrdup("plan");
    row->shape = contract_shape_label(p->terms, &p->terms->benchmark);
    row->l2 = xstrdup("cold");
    row->median_ms = stats_median(s->timing.samples, s->timing.sample_count);
    row->sample_count = (int64_t)s->timing.sample_count;
    row->slots = s->slots;
    row->event_floor_ms = s->event_floor_ms;
    if (!(row->median_ms > 0.0)) {
        row->median_ms = (double)NAN;
        row->reason = xstrdup("no positive sample");
    }
    return ledger_put_text(p->ledger, text, &row->samples, e);
}

int measure_candidate(const pipeline *p, lane *held, const candidate *c, int64_t number,
                      measurement_record *row, runner_verdict *verdict, err *e)
{
    trial t SCOPED(trial_fini);
    verdict_ok(verdict);
    if (trial_open(&t, p, held, c, verdict, e) != 0) {
        return -1;
    }
    if (!verdict_is_ok(verdict)) {
        return 0;
    }
    solo s SCOPED(solo_fini) = {.t = &t, .whole = true, .samples = MEASURE_SAMPLES};
    if (solo_run(&s, number, verdict, e) != 0) {
        return -1;
    }
    if (verdict_is_ok(verdict)) {
        return fill_row(&s, row, e);
    }
    trial_say(p, &p->terms->benchmark, benchmark_family(p->terms), verdict);
    return 0;
}

/* ---- baselines ---- */

hash measure_key(const pipeline *p, const judge_facts *facts)
{
    SCOPED(scoped_free) char *shape = contract_shape_label(p->terms, &p->terms->benchmark);
    const hash_part parts[] = {{"contract", p->spec->contract_hash.bytes, HASH_SIZE},
                               {"reference", p->spec->reference.bytes, HASH_SIZE},
                               {"shape", shape, strlen(shape)},
                               {"device", p->facts->name, strlen(p->facts->name)},
                               {"driver", facts->driver, strlen(facts->driver)},
                               {"torch", facts->torch, strlen(facts->torch)},
                               {"triton", facts->triton, strlen(facts->triton)}};
    return hash_list(parts, sizeof(parts) / sizeof(parts[0]));
}

/* Moves the judge's rows into the stage record and stores their samples. */
static int take_modes(const pipeline *p, judge_baseline *found, stage_record *record, err *e)
{
    size_t count = record->measurement_count;
    record->measurements = xreallocarray(record->measurements, count + found->mode_count + 1,
                                         sizeof(*record->measurements));
    for (size_t i = 0; i < found->mode_count; i++) {
        judge_mode *mode = &found->modes[i];
        hash stored;
        if (mode->samples_text != NULL &&
            ledger_put_text(p->ledger, mode->samples_text, &stored, e) != 0) {
            return -1;
        }
        record->measurements[record->measurement_count++] = mode->row;
        memset(&mode->row, 0, sizeof(mode->row));
    }
    return 0;
}

/* What a later run needs to skip the compilation. A baseline known before keeps its modes' times. */
static int store_baseline(const pipeline *p, const hash *key, const baseline_record *rows,
                          const judge_baseline *found, const judge_facts *facts, err *e)
{
    SCOPED(scoped_free) char *shape = contract_shape_label(p->terms, &p->terms->benchmark);
    baseline_record record = {.problem = p->spec->problem,
                              .shape = shape,
                              .device = (char *)(uintptr_t)p->facts->name,
                              .driver = (char *)(uintptr_t)facts->driver,
                              .torch = (char *)(uintptr_t)facts->torch,
                              .modes = rows->modes,
                              .mode_count = rows->mode_count,
                              .winner = found->winner};
    if (found->cache != NULL &&
        ledger_put(p->ledger, found->cache, found->cache_size, &record.cache, e) != 0) {
        return -1;
    }
    return ledger_baseline_put(p->ledger, key, &record, e);
}

/* The stored baseline, if there is one; its cache goes into `cache`. */
static int recall_baseline(const pipeline *p, const hash *key, baseline_record *stored, buf *cache,
                           err *e)
{
    bool found = false;
    if (ledger_baseline_get(p->ledger, key, &found, stored, e) != 0) {
        return -1;
    }
    return found && !hash_is_zero(&stored->cache) ? ledger_get(p->ledger, &stored->cache, cache, e)
                                                  : 0;
}

static baseline_origin origin_of(const baseline_record *stored, const judge_baseline *found)
{
    if (stored->winner == NULL) {
        return BASELINE_FOUND;
    }
    return found->cache_hit || strcmp(stored->winner, "eager") == 0 ? BASELINE_KNOWN
                                                                    : BASELINE_COMPILED;
}

int measure_baseline(const pipeline *p, lane *held, stage_record *record, baseline_origin *origin,
                     err *e)
{
    SCOPED(baseline_record_fini) baseline_record stored = {0};
    SCOPED(judge_baseline_fini) judge_baseline found = {0};
    SCOPED(buf_fini) buf cache;
    buf_init(&cache, BLOB_MAX);
    judge *j = lane_judge(held, e);
    if (j == NULL || judge_open(j, p->terms, p->reference, p->spec->reference_file, e) != 0) {
        return -1;
    }
    const judge_facts *facts = judge_get_facts(j);
    hash key = measure_key(p, facts);
    judge_baseline_request request = {.shape = &p->terms->benchmark,
                                      .seed = trial_seed(p->spec, "baseline", 0),
                                      .samples = MEASURE_SAMPLES};
    if (measure_slots(p, NULL, 0.0, &request.slots, e) != 0 ||
        recall_baseline(p, &key, &stored, &cache, e) != 0) {
        return -1;
    }
    request.winner = stored.winner;
    request.cache = cache.data;
    request.cache_size = cache.size;
    if (judge_baseline_run(j, &request, &found, e) != 0 || take_modes(p, &found, record, e) != 0) {
        return -1;
    }
    *origin = origin_of(&stored, &found);
    baseline_record rows = {.modes = record->measurements, .mode_count = record->measurement_count};
    bool better = stored.winner == NULL || found.cache != NULL;
    return better && found.winner != NULL
               ? store_baseline(p, &key, stored.winner == NULL ? &rows : &stored, &found, facts, e)
               : 0;
}
