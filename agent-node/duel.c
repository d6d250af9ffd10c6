/* duel - see duel.h.
 *
 * A process of a duel: inputs are drawn anew, the judge captures the baseline's graphs and a fresh
 * runner gets the candidate ready, both in fresh memory; then its pairs. Only one side has work queued
 * at any time, since each block is one request and one answer.
 *
 * SPDX-License-Identifier: MIT */
#include "agent-node/duel.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "agent-node/measure.h"
#include "agent-node/opponent.h"
#include "agent-node/roofline.h"
#include "agent-node/runner/timing/ce_timing.h"
#include "agent-node/trial.h"
#include "agent-node/watch.h"
#include "common/clock.h"
#include "common/json.h"
#include "common/paired.h"
#include "common/rng.h"
#include "common/scoped.h"
#include "common/stats.h"
#include "common/xalloc.h"
#include "suites/cases.h"

enum {
    BLOCK_MS = 60000,
    CALM_MS = 3000,      /* the clocks' part of the warm-up, at most */
    SAMPLES_CHECKED = 8, /* E-mode: timed calls whose outputs are compared */
    CHAINS_CHECKED = 3,  /* G-mode: timed chains whose outputs are compared, all slots of each */
    KEEPS_MAX = 4,       /* in one process */
    VOIDS_FREE = 3       /* so many voided pairs are nobody's business */
};

static const double void_share = 0.30;
static const double long_ms = 0.020;    /* E-mode from here on … */
static const double floors_long = 20.0; /* … and from so many event floors */

typedef struct side_block {
    double ms[DUEL_SAMPLES];
    double median;
    double host_ms, event_ms;
    bool suspect; /* events and host clock disagree */
    watch_span state;
} side_block;

typedef struct duel {
    const duel_request *ask;
    const pipeline *p;
    runner_verdict *verdict;
    watch *watch;
    rng coin;
    trial trial;    /* the process under way */
    opponent other; /* its other side */
    judge_staging staging;
    int64_t salt, seed;
    measure_short first; /* estimate of the candidate */
    double margin;       /* δ on this card at this length */
    bool calibrated;
    bool chained;
    int64_t slots;
    bool baseline_first;                                               /* in the next pair */
    double d[PAIRED_MAX], baseline[PAIRED_MAX], candidate[PAIRED_MAX]; /* of each pair */
    int process[PAIRED_MAX];
    int pairs, processes, voids;
    int keeps_left;      /* of the whole duel */
    int64_t *kept_slots; /* of this process */
    size_t kept_count;
    const char *blocked; /* why no more pairs are taken, or NULL */
    bool suspect;
    int64_t start_ms;
    paired_result result;
    json *raw_pairs, *raw_looks;
} duel;

/* ---- set-up ---- */

/* end_process forgets what belongs to the process that has made its pairs. */
static void end_process(duel *d)
{
    runner_proc_destroy(&d->trial.runner);
    judge_staging_fini(&d->staging);
    free(d->kept_slots);
    d->kept_slots = NULL;
    d->kept_count = 0;
}

static void duel_fini(duel *d)
{
    end_process(d);
    trial_fini(&d->trial);
    opponent_fini(&d->other);
    watch_stop(&d->watch);
    json_destroy(&d->raw_pairs);
    json_destroy(&d->raw_looks);
}

static void duel_init(duel *d, const duel_request *ask, runner_verdict *verdict)
{
    const lane_facts *facts = lane_get_facts(ask->held);
    *d = (duel){.ask = ask,
                .p = ask->p,
                .verdict = verdict,
                .start_ms = clock_mono_ms(),
                .margin = PAIRED_MARGIN_MIN};
    d->watch = watch_start(&(watch_options){.kind = facts->kind,
                                            .uuid = facts->uuid,
                                            .fake_script = ask->p->node->settings->fake,
                                            .problem = ask->p->spec->problem});
    d->seed = trial_seed(ask->p->spec, "order", ask->number);
    rng_init(&d->coin, (uint64_t)d->seed);
    opponent_init(&d->other, ask->mode, ask->rival);
    d->raw_pairs = json_new_array();
    d->raw_looks = json_new_array();
    verdict_ok(verdict);
}

/* choose_mode decides E or G and K for the pair, from the faster side. */
static int choose_mode(duel *d, double candidate_ms, double floor_ms, err *e)
{
    double fastest = fmin(candidate_ms, d->ask->baseline_ms);
    const char *uuid = lane_get_facts(d->ask->held)->uuid;
    d->margin = pipeline_margin(d->p, uuid, fastest, &d->calibrated);
    d->chained = fastest < fmax(long_ms, floors_long * floor_ms);
    d->keeps_left = d->chained ? CHAINS_CHECKED : SAMPLES_CHECKED;
    return measure_slots(d->p, d->ask->c, fastest * 1e3, &d->slots, e);
}

static int estimate(duel *d, err *e)
{
    if (trial_open(&d->trial, d->p, d->ask->held, d->ask->c, d->verdict, e) != 0)
        return -1;
    if (!verdict_is_ok(d->verdict))
        return 0;
    if (measure_estimate(&d->trial, d->ask->number, &d->first, d->verdict, e) != 0)
        return -1;
    return verdict_is_ok(d->verdict)
               ? choose_mode(d, d->first.median_ms, d->first.event_floor_ms, e)
               : 0;
}

/* ---- a process ---- */

static int draw(duel *d, err *e)
{
    const contract *terms = d->p->terms;
    int64_t number = d->ask->number * PAIRED_MAX + d->processes;
    judge_draw_request request = {.shape = &terms->benchmark,
                                  .seed = trial_seed(d->p->spec, "pairs", number),
                                  .family = cases_benchmark(terms).family,
                                  .slots = d->slots};
    judge_staging_fini(&d->staging);
    d->salt = trial_seed(d->p->spec, "pairs salt", number);
    return judge_draw(d->trial.judge, &request, &d->staging, e);
}

static int arm_other(duel *d, bool first, err *e)
{
    const opponent_arm request = {.staging = &d->staging,
                                  .slots = d->slots,
                                  .salt = d->salt,
                                  .deadline_ms = BLOCK_MS,
                                  .chained = d->chained,
                                  .settle = first};
    return opponent_arm_in(&d->other, &d->trial, d->ask->held, &request, e);
}

static int arm_candidate(duel *d, bool first, err *e)
{
    SCOPED(runner_timing_fini) runner_timing armed = {0};
    runner_arm request = {.terms = d->p->terms,
                          .shape = &d->p->terms->benchmark,
                          .staging = &d->staging,
                          .slots = d->slots,
                          .chained = d->chained,
                          .settle = first,
                          .keeps = d->keeps_left < KEEPS_MAX ? d->keeps_left : KEEPS_MAX,
                          .salt = d->salt,
                          .deadline_ms = BLOCK_MS};
    if (runner_proc_arm(d->trial.runner, &request, &armed, e) != 0)
        return -1;
    *d->verdict = armed.verdict;
    return 0;
}

/* await_calm goes on warming up until the SM clock no longer moves; what is timed meanwhile is nobody's. */
static int await_calm(duel *d, err *e)
{
    int64_t until = clock_mono_ms() + CALM_MS;
    while (verdict_is_ok(d->verdict) && !watch_calm(d->watch) && clock_mono_ms() < until) {
        SCOPED(runner_timing_fini) runner_timing spare = {0};
        const runner_block request = {.samples = DUEL_SAMPLES, .keep = -1, .deadline_ms = BLOCK_MS};
        if (runner_proc_block(d->trial.runner, &request, &spare, e) != 0)
            return -1;
        *d->verdict = spare.verdict;
        watch_edge(d->watch);
    }
    return 0;
}

static int open_process(duel *d, err *e)
{
    bool first = d->processes == 0;
    if (!first && trial_renew(&d->trial, d->ask->held, d->verdict, e) != 0)
        return -1;
    if (!verdict_is_ok(d->verdict))
        return 0;
    if (draw(d, e) != 0 || arm_other(d, first, e) != 0)
        return -1;
    if (arm_candidate(d, first, e) != 0)
        return -1;
    return first ? await_calm(d, e) : 0;
}

static int compare_kept(duel *d, size_t i, err *e)
{
    SCOPED(judge_comparison_fini) judge_comparison comparison = {0};
    if (runner_proc_kept(d->trial.runner, &d->staging, (int64_t)i, d->verdict, e) != 0)
        return -1;
    if (!verdict_is_ok(d->verdict))
        return 0;
    if (judge_compare(d->trial.judge, d->kept_slots[i], d->salt, &comparison, e) != 0)
        return -1;
    if (!comparison.equal)
        verdict_set(d->verdict, OUTCOME_WRONG, comparison.detail, "in a timed call: %s",
                    comparison.text);
    return 0;
}

/* start_ahead: where another process follows for certain, its runners come up while this one's outputs
 * are compared and the next inputs drawn: nothing is timed then. */
static int start_ahead(duel *d, bool more, err *e)
{
    if (!more || d->blocked != NULL)
        return 0;
    return trial_ahead(&d->trial, d->ask->held, e) != 0
               ? -1
               : opponent_ahead(&d->other, d->ask->held, e);
}

/* close_process compares what was kept and looks at canaries and at the baseline's own outputs. */
static int close_process(duel *d, bool more, err *e)
{
    bool sound = false;
    if (start_ahead(d, more, e) != 0)
        return -1;
    for (size_t i = 0; i < d->kept_count && verdict_is_ok(d->verdict); i++)
        if (compare_kept(d, i, e) != 0)
            return -1;
    if (verdict_is_ok(d->verdict) && runner_proc_disarm(d->trial.runner, d->verdict, e) != 0)
        return -1;
    if (opponent_disarm(&d->other, &sound, e) != 0)
        return -1;
    if (!sound)
        d->blocked = "baseline";
    end_process(d);
    d->processes++;
    return 0;
}

/* ---- a pair ---- */

static void take_kept(duel *d, runner_timing *timing)
{
    free(d->kept_slots);
    d->kept_slots = TAKE(timing->kept);
    d->kept_count = timing->kept_count;
}

static int candidate_block(duel *d, side_block *out, err *e)
{
    SCOPED(runner_timing_fini) runner_timing timing = {0};
    bool keep = d->keeps_left > 0 && d->kept_count < KEEPS_MAX;
    runner_block request = {.samples = DUEL_SAMPLES,
                            .untimed = DUEL_UNTIMED,
                            .keep = keep ? (int64_t)rng_below(&d->coin, DUEL_SAMPLES) : -1,
                            .deadline_ms = BLOCK_MS};
    if (d->chained && d->kept_count > 0)
        request.keep = -1; /* one chain a process */
    if (runner_proc_block(d->trial.runner, &request, &timing, e) != 0)
        return -1;
    *d->verdict = timing.verdict;
    if (!verdict_is_ok(d->verdict))
        return 0;
    d->keeps_left -= request.keep >= 0;
    take_kept(d, &timing);
    memcpy(out->ms, timing.samples, sizeof out->ms);
    out->host_ms = timing.host_ms;
    out->event_ms = timing.event_ms;
    out->suspect = timing.suspect > 0;
    return 0;
}

static int baseline_block(duel *d, side_block *out, err *e)
{
    opponent_block block = {
        .ms = out->ms, .samples = DUEL_SAMPLES, .untimed = DUEL_UNTIMED, .deadline_ms = BLOCK_MS};
    if (opponent_take(&d->other, &block, e) != 0)
        return -1;
    out->host_ms = block.host_ms;
    out->event_ms = block.event_ms;
    out->suspect = block.suspect;
    return 0;
}

static int take_block(duel *d, bool baseline, side_block *out, err *e)
{
    int64_t from = watch_edge(d->watch);
    int rc = baseline ? baseline_block(d, out, e) : candidate_block(d, out, e);
    if (rc != 0 || !verdict_is_ok(d->verdict))
        return rc;
    watch_between(d->watch, from, watch_edge(d->watch), &out->state);
    out->median = stats_median(out->ms, DUEL_SAMPLES);
    return 0;
}

static json *block_json(const side_block *b)
{
    json *out = json_new_object();
    json *samples = measure_samples_json(b->ms, DUEL_SAMPLES);
    json *state = watch_span_json(&b->state);
    json_set(out, "ms", &samples);
    json_set_real(out, "host_ms", b->host_ms);
    json_set_real(out, "event_ms", b->event_ms);
    json_set(out, "state", &state);
    return out;
}

static void tell_pair(duel *d, const side_block *baseline, const side_block *kernel,
                      const char *why_void)
{
    json *row = json_new_object();
    json *a = block_json(baseline);
    json *b = block_json(kernel);
    json_set_int(row, "process", d->processes);
    json_set_str(row, "first", d->baseline_first ? "baseline" : "candidate");
    json_set_str(row, "void", why_void);
    json_set(row, "baseline", &a);
    json_set(row, "candidate", &b);
    json_append(d->raw_pairs, &row);
}

static void count_void(duel *d, const char *why)
{
    d->voids++;
    if (d->voids > VOIDS_FREE && d->voids > void_share * (d->pairs + d->voids))
        d->blocked = why;
}

static void count_pair(duel *d, const side_block *baseline, const side_block *kernel)
{
    d->baseline[d->pairs] = baseline->median;
    d->candidate[d->pairs] = kernel->median;
    d->d[d->pairs] = log(baseline->median) - log(kernel->median);
    d->process[d->pairs] = d->processes;
    d->suspect |= baseline->suspect || kernel->suspect;
    d->pairs++;
    /* Groups of two pairs: the second turns the order of the first round. */
    d->baseline_first = d->pairs % 2 == 1 ? !d->baseline_first : rng_below(&d->coin, 2) == 1;
}

static int take_pair(duel *d, err *e)
{
    side_block baseline = {0};
    side_block kernel = {0};
    bool first = d->baseline_first;
    if (take_block(d, first, first ? &baseline : &kernel, e) != 0)
        return -1;
    if (!verdict_is_ok(d->verdict))
        return 0;
    if (take_block(d, !first, first ? &kernel : &baseline, e) != 0)
        return -1;
    if (!verdict_is_ok(d->verdict))
        return 0;
    const char *why = watch_void(d->watch, &baseline.state, &kernel.state);
    tell_pair(d, &baseline, &kernel, why);
    if (why != NULL)
        count_void(d, why);
    else
        count_pair(d, &baseline, &kernel);
    return 0;
}

static bool goes_on(duel *d)
{
    if (d->blocked == NULL && clock_mono_ms() - d->start_ms > DUEL_CAP_MS)
        d->blocked = "time";
    return verdict_is_ok(d->verdict) && d->blocked == NULL;
}

static int run_process(duel *d, int pairs, bool more, err *e)
{
    int wanted = d->pairs + pairs;
    if (open_process(d, e) != 0)
        return -1;
    while (goes_on(d) && d->pairs < wanted)
        if (take_pair(d, e) != 0)
            return -1;
    return verdict_is_ok(d->verdict) ? close_process(d, more, e) : 0;
}

/* ---- looks ---- */

static void look(duel *d)
{
    paired_input input = {.d = d->d,
                          .process = d->process,
                          .n = (size_t)d->pairs,
                          .margin = d->margin,
                          .alpha = PAIRED_LOOK_ALPHA,
                          .seed = (uint64_t)d->seed};
    const paired_result *r = &d->result;
    paired_judge(&input, &d->result);
    json *row = json_new_object();
    json_set_int(row, "pairs", d->pairs);
    json_set_str(row, "verdict", paired_name(r->verdict));
    json_set_str(row, "reason", r->reason);
    json_set_real(row, "theta", r->theta);
    json_set_real(row, "low", r->low);
    json_set_real(row, "high", r->high);
    json_set_real(row, "rank_low", r->rank_low);
    json_set_real(row, "rank_high", r->rank_high);
    json_set_real(row, "serial", r->serial);
    json_set_real(row, "between", r->between);
    json_set_real(row, "bootstrap_low", r->bootstrap_low);
    json_set_real(row, "bootstrap_high", r->bootstrap_high);
    json_append(d->raw_looks, &row);
}

static int run_looks(duel *d, err *e)
{
    d->baseline_first = rng_below(&d->coin, 2) == 1;
    for (int i = 0; i < PAIRED_LOOKS && goes_on(d); i++) {
        const paired_look *next = &paired_looks[i];
        for (int k = 0; k < next->processes && goes_on(d); k++)
            if (run_process(d, next->pairs_each, k + 1 < next->processes, e) != 0)
                return -1;
        look(d);
        if (paired_decided(&d->result, d->ask->quick))
            break;
    }
    return 0;
}

/* ---- the record ---- */

static int put_raw(const duel *d, hash *out, err *e)
{
    SCOPED(json_destroy) json *raw = json_new_object();
    json *pairs = json_copy(d->raw_pairs);
    json *looks = json_copy(d->raw_looks);
    json *state = watch_json(d->watch);
    json_set_str(raw, "protocol", CE_TIMING_PROTOCOL);
    json_set_str(raw, "timing_mode", d->chained ? "G" : "E");
    json_set_str(raw, "l2", "cold");
    json_set_int(raw, "slots", d->slots);
    json_set_int(raw, "seed", d->seed);
    json_set_real(raw, "margin", d->margin);
    json_set_real(raw, "alpha_per_look", PAIRED_LOOK_ALPHA);
    json_set(raw, "pairs", &pairs);
    json_set(raw, "looks", &looks);
    json_set(raw, "state", &state);
    SCOPED(scoped_free) char *text = json_dump(raw);
    return ledger_put_text(d->p->ledger, text, out, e);
}

/* The verdict of the whole: what stopped the pairs, the clocks, the floor, then the interval. */
static void name_verdict(const duel *d, comparison_record *out)
{
    const char *reason = d->result.reason;
    paired_verdict verdict = d->result.verdict;
    if (d->blocked != NULL || d->suspect || d->pairs == 0) {
        verdict = PAIRED_INCONCLUSIVE;
        reason = d->blocked != NULL ? d->blocked : d->suspect ? "timing_suspect" : "pairs";
    } else if (roofline_beats(out->candidate_ms, out->floor_ms)) {
        verdict = PAIRED_IMPOSSIBLE;
        reason = "floor";
    }
    out->verdict = xstrdup(paired_name(verdict));
    out->reason = reason != NULL ? xstrdup(reason) : NULL;
}

static int fill(const duel *d, comparison_record *out, err *e)
{
    const lane_facts *facts = lane_get_facts(d->ask->held);
    const size_t n = (size_t)d->pairs;
    const roofline_device device = {.l2_bytes = facts->l2_bytes,
                                    .bytes_per_s = facts->memory_rate,
                                    .cc = facts->limits.cc,
                                    .baseline_ms = stats_median(d->baseline, n)};
    comparison_record r = {.source = d->ask->c->source_hash,
                           .plan = d->ask->c->plan_hash,
                           .slots = d->slots,
                           .pairs = d->pairs,
                           .processes = d->processes,
                           .voids = d->voids,
                           .speedup = exp(d->result.theta),
                           .ci_low = exp(d->result.low),
                           .ci_high = exp(d->result.high),
                           .serial = d->result.serial,
                           .between = d->result.between,
                           .margin = d->margin,
                           .calibrated = d->calibrated,
                           .candidate_ms = stats_median(d->candidate, n),
                           .baseline_ms = stats_median(d->baseline, n)};
    if (roofline_floor_ms(d->p->terms, &device, &r.floor_ms, e) != 0 || put_raw(d, &r.raw, e) != 0)
        return -1;
    name_verdict(d, &r);
    r.purpose = xstrdup(d->ask->quick ? "estimate" : "published");
    r.baseline_mode = xstrdup(d->ask->mode);
    r.timing_mode = xstrdup(d->chained ? "G" : "E");
    *out = r;
    return d->ask->warm != NULL ? measure_warm(d->p, &d->first, d->ask->warm, e) : 0;
}

static int run_all(duel *d, err *e)
{
    const double none = (double)NAN;
    d->result = (paired_result){.verdict = PAIRED_INCONCLUSIVE, .reason = "pairs"};
    d->result.theta = d->result.low = d->result.high = none;
    d->result.serial = d->result.between = none;
    d->blocked = watch_refuses(d->watch);
    if (estimate(d, e) != 0)
        return -1;
    return goes_on(d) ? run_looks(d, e) : 0;
}

int duel_run(const duel_request *request, comparison_record *out, runner_verdict *verdict, err *e)
{
    duel d SCOPED(duel_fini);
    duel_init(&d, request, verdict);
    if (run_all(&d, e) != 0)
        return -1;
    if (verdict_is_ok(verdict))
        return fill(&d, out, e);
    trial_say(request->p, &request->p->terms->benchmark, cases_benchmark(request->p->terms).family,
              verdict);
    return 0;
}
