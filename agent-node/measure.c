/* measure - protocol ce-timing-0: candidate and baselines at the benchmark shape
 *
 * SPDX-License-Identifier: MIT */
#include "agent-node/measure.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent-node/runner/timing/ce_timing.h"
#include "agent-node/trial.h"
#include "common/json.h"
#include "common/scoped.h"
#include "common/stats.h"
#include "common/xalloc.h"
#include "suites/cases.h"

enum { MEASURE_DEADLINE_MS = 60000 };

/* Bytes a call reads and writes: every tensor once. */
static int call_bytes(const contract *terms, int64_t *out, err *e)
{
    int64_t total = 0;
    for (size_t i = 0; i < terms->input_count + terms->output_count; i++) {
        int64_t elements = 0;
        if (contract_elements(terms, i, &terms->benchmark, &elements, e) != 0) {
            return -1;
        }
        total += elements * (int64_t)dtype_size(terms->tensors[i].type);
    }
    *out = total;
    return 0;
}

static int slot_count(const pipeline *p, int64_t *out, err *e)
{
    int64_t bytes = 0;
    if (call_bytes(p->terms, &bytes, e) != 0) {
        return -1;
    }
    uint64_t l2 = p->facts->l2_bytes > 0 ? (uint64_t)p->facts->l2_bytes : 1;
    uint32_t slots =
        ce_timing_slots((uint64_t)bytes, l2, 0.0, (uint64_t)p->facts->limits.memory_bytes);
    if (slots == 0) {
        return err_set(e, ERR_LIMIT, "the benchmark shape of %s does not fit the device",
                       p->spec->problem);
    }
    *out = slots;
    return 0;
}

static const char *benchmark_family(const contract *terms)
{
    return cases_benchmark(terms).family;
}

/* ---- candidate ---- */

static char *samples_json(const double *samples, size_t count)
{
    SCOPED(json_destroy) json *array = json_new_array();
    for (size_t i = 0; i < count; i++) {
        json *value = json_new_real(samples[i]);
        json_append(array, &value);
    }
    return json_dump(array);
}

static int fill_row(const pipeline *p, const runner_timing *timing, int64_t slots,
                    measurement_record *row, err *e)
{
    SCOPED(scoped_free) char *samples = samples_json(timing->samples, timing->sample_count);
    row->side = xstrdup("candidate");
    row->mode = xstrdup("plan");
    row->shape = contract_shape_label(p->terms, &p->terms->benchmark);
    row->l2 = xstrdup("cold");
    row->median_ms = stats_median(timing->samples, timing->sample_count);
    row->sample_count = (int64_t)timing->sample_count;
    row->slots = slots;
    row->event_floor_ms = timing->event_floor_ms;
    if (!(row->median_ms > 0.0)) {
        row->median_ms = (double)NAN;
        row->reason = xstrdup("no positive sample");
    }
    return ledger_put_text(p->ledger, samples, &row->samples, e);
}

/* The outputs that the last timed calls left in one slot are the answer to that slot's inputs. */
static int check_timed(const trial *t, const runner_time *request, runner_verdict *verdict, err *e)
{
    SCOPED(judge_comparison_fini) judge_comparison comparison = {0};
    if (judge_compare(t->judge, request->check_slot, request->salt, &comparison, e) != 0) {
        return -1;
    }
    if (!comparison.equal) {
        verdict_set(verdict, OUTCOME_WRONG, comparison.detail, "after timing: %s", comparison.text);
    }
    return 0;
}

static int time_candidate(const trial *t, int64_t number, measurement_record *row,
                          runner_verdict *verdict, err *e)
{
    const pipeline *p = t->p;
    SCOPED(judge_staging_fini) judge_staging staging = {0};
    SCOPED(runner_timing_fini) runner_timing timing = {0};
    judge_draw_request draw = {.shape = &p->terms->benchmark,
                               .seed = trial_seed(p->spec, "time", number),
                               .family = benchmark_family(p->terms)};
    if (slot_count(p, &draw.slots, e) != 0 || judge_draw(t->judge, &draw, &staging, e) != 0) {
        return -1;
    }
    runner_time request = {.terms = p->terms,
                           .shape = &p->terms->benchmark,
                           .salt = trial_seed(p->spec, "time salt", number),
                           .staging = &staging,
                           .slots = draw.slots,
                           .check_slot = draw.seed % draw.slots,
                           .samples = MEASURE_SAMPLES,
                           .deadline_ms = MEASURE_DEADLINE_MS};
    if (runner_proc_time(t->runner, &request, &timing, e) != 0) {
        return -1;
    }
    *verdict = timing.verdict;
    if (verdict_is_ok(verdict) && check_timed(t, &request, verdict, e) != 0) {
        return -1;
    }
    if (!verdict_is_ok(verdict)) {
        trial_say(p, &p->terms->benchmark, draw.family, verdict);
        return 0;
    }
    return fill_row(p, &timing, draw.slots, row, e);
}

int measure_candidate(const pipeline *p, lane *held, const candidate *c, int64_t number,
                      measurement_record *row, runner_verdict *verdict, err *e)
{
    trial t SCOPED(trial_fini);
    verdict_ok(verdict);
    if (trial_open(&t, p, held, c, verdict, e) != 0) {
        return -1;
    }
    return verdict_is_ok(verdict) ? time_candidate(&t, number, row, verdict, e) : 0;
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
                               {"torch", facts->torch, strlen(facts->torch)}};
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
    if (slot_count(p, &request.slots, e) != 0 ||
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
