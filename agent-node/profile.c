/* profile - see profile.h.
 *
 * SPDX-License-Identifier: MIT */
#include "agent-node/profile.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "agent-node/bound.h"
#include "agent-node/roofline.h"
#include "agent-node/trial.h"
#include "common/clock.h"
#include "common/json.h"
#include "common/occupancy.h"
#include "common/scoped.h"
#include "common/xalloc.h"
#include "suites/cases.h"

enum { SAMPLES = 20, PART_MS = 60000 };

static json *parsed(const char *text)
{
    return text != NULL ? json_parse_tree(text, strlen(text), "profile", NULL) : NULL;
}

static double real_of(const json *object, const char *key)
{
    return json_real(json_get(object, key), (double)NAN);
}

static double counter(const json *record, const char *key)
{
    return real_of(json_get(json_get(record, "counters"), "values"), key);
}

/* What of the counted range the kernels took: its percentages are to be multiplied by this. */
static double range_times_busy(const json *record)
{
    return counter(record, "sm_cycles") / counter(record, "sm_cycles_active_max");
}

static const char *const sm_units[] = {"sm_pct",   "fma_pct", "fmaheavy_pct", "alu_pct",
                                       "fp64_pct", "xu_pct",  "tensor_pct"};

/* busiest is the most used unit of the multiprocessors, in percent of the range. */
static double busiest(const json *record)
{
    double most = (double)NAN;
    for (size_t i = 0; i < sizeof sm_units / sizeof *sm_units; i++)
        most = fmax(most, counter(record, sm_units[i]));
    return most;
}

/* ready_share is the part of the warps' time, of what is known of it, in which they could go on and another one
 * was issued. On an H200: 0.60 and 0.67 for chains of multiply-adds, 0.075 and less for all others seen. */
static double ready_share(const json *record)
{
    const json *values = json_get(json_get(record, "counters"), "values");
    double all = 0;
    for (json_iter it = {0}; json_next(values, &it);)
        if (strncmp(it.key, "stall_", 6) == 0)
            all += json_real(it.value, 0);
    return counter(record, "stall_not_selected") / all;
}

/* ---- kernels ---- */

static int64_t product(const json *sizes)
{
    int64_t out = 1;
    for (size_t i = 0; i < json_size(sizes); i++)
        out *= json_int(json_at(sizes, i), 1);
    return out;
}

/* add_occupancy says what the launch allows and what limits it. */
static void add_occupancy(json *kernel, const profile_facts *facts)
{
    const int64_t shared = json_int(json_get(kernel, "shared_static"), 0) +
                           json_int(json_get(kernel, "shared_dynamic"), 0);
    const occupancy_use use = {.cc = (uint32_t)facts->cc,
                               .threads = (uint32_t)product(json_get(kernel, "block")),
                               .registers = (uint32_t)json_int(json_get(kernel, "registers"), 0),
                               .shared_bytes = (uint32_t)shared};
    const occupancy o = occupancy_of(&use);
    json_set_int(kernel, "blocks_at_once", o.blocks);
    json_set_real(kernel, "occupancy", (double)o.warps / o.warps_max);
    json_set_str(kernel, "occupancy_limit", o.limit);
}

static void take_kernels(const json *measured, const profile_facts *facts, json *out)
{
    const json *from = json_get(measured, "kernels");
    json *kernels = json_new_array();
    for (size_t i = 0; i < json_size(from); i++) {
        json *kernel = json_copy(json_at(from, i));
        add_occupancy(kernel, facts);
        json_append(kernels, &kernel);
    }
    json_set(out, "kernels", &kernels);
}

/* ---- numbers that follow ---- */

/* add_use: percentages of peak rates while the kernels ran. */
static void add_use(const json *record, json *derived)
{
    static const char *const keys[] = {"memory_pct", "dram_pct", "l2_pct",  "l1_pct",
                                       "sm_pct",     "fma_pct",  "alu_pct", "tensor_pct"};
    const double times = range_times_busy(record);
    json_set_real(derived, "range_times_busy", times);
    json_set_real(derived, "busiest_pct", busiest(record) * times);
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        json_set_real(derived, keys[i], counter(record, keys[i]) * times);
}

static void add_derived(const profile_facts *facts, json *out)
{
    const json *spans = json_get(out, "candidate");
    const double moved = counter(out, "dram_read_bytes") + counter(out, "dram_write_bytes");
    const double span = real_of(spans, "span_ms");
    json *derived = json_new_object();
    json_set_int(derived, "least_bytes", facts->least_bytes);
    json_set_real(derived, "dram_bytes", moved);
    json_set_real(derived, "dram_times_least", moved / (double)facts->least_bytes);
    json_set_real(derived, "sectors_a_load",
                  counter(out, "load_sectors") / counter(out, "load_requests"));
    json_set_real(derived, "sectors_a_store",
                  counter(out, "store_sectors") / counter(out, "store_requests"));
    json_set_real(derived, "bank_conflict_share",
                  counter(out, "bank_conflicts") / counter(out, "shared_passes"));
    json_set_real(derived, "sm_active_share",
                  counter(out, "sm_cycles_active") / counter(out, "sm_cycles_active_max"));
    json_set_real(derived, "ready_share", ready_share(out));
    add_use(out, derived);
    json_set_real(derived, "gap_share", (span - real_of(spans, "busy_ms")) / span);
    json_set(out, "derived", &derived);
}

static void add_bound(const profile_facts *facts, json *out)
{
    const json *spans = json_get(out, "candidate");
    const json *kernel = json_at(json_get(out, "kernels"), 0);
    const json *derived = json_get(out, "derived");
    const bound_input in = {.span_ms = real_of(spans, "span_ms") / real_of(spans, "calls"),
                            .busy_ms = real_of(spans, "busy_ms") / real_of(spans, "calls"),
                            .nodes = real_of(spans, "nodes"),
                            .empty_ms = real_of(spans, "floor_span_ms"),
                            .memory_pct = real_of(derived, "memory_pct"),
                            .dram_pct = real_of(derived, "dram_pct"),
                            .sm_pct = real_of(derived, "busiest_pct"),
                            .sm_active_share = real_of(derived, "sm_active_share"),
                            .blocks = kernel != NULL ? (double)product(json_get(kernel, "grid"))
                                                     : (double)NAN,
                            .sm_count = (double)facts->sm_count,
                            .ready_share = real_of(derived, "ready_share")};
    json_set_str(out, "bound", bound_name(bound_of(&in)));
}

/* ---- the record ---- */

static const char *reason_of(const json *part)
{
    return json_str(json_get(part, "unavailable"), NULL);
}

static bool is_told(const json *part)
{
    return part != NULL && reason_of(part) == NULL;
}

char *profile_missing(const char *reason)
{
    SCOPED(json_destroy) json *out = json_new_object();
    json_set_str(out, "status", "unavailable");
    json_set_str(out, "reason", reason);
    json_set_null(out, "bound");
    return json_dump(out);
}

static void take_part(const json *from, const char *key, const char *name, json *out)
{
    const json *part = json_get(from, key);
    json *copy = part != NULL ? json_copy(part) : json_new_null();
    json_set(out, name, &copy);
}

static double launch_floor(const json *spans)
{
    return real_of(spans, "floor_event_ms") - real_of(spans, "floor_span_ms");
}

char *profile_make(const char *kernel, const char *baseline, const profile_facts *facts)
{
    SCOPED(json_destroy) json *measured = parsed(kernel);
    SCOPED(json_destroy) json *out = json_new_object();
    const json *spans = json_get(measured, "spans");
    const json *counters = json_get(measured, "counters");
    if (spans == NULL || counters == NULL)
        return profile_missing("the runner's record cannot be read");
    if (!is_told(spans) && !is_told(counters) && baseline == NULL)
        return profile_missing(reason_of(spans));
    json *other = baseline != NULL ? parsed(baseline) : json_new_null();
    bool told = is_told(spans) || is_told(counters);
    json_set_str(out, "status", told ? "measured" : "unavailable");
    json_set_str(out, "reason", told ? NULL : reason_of(spans));
    take_part(measured, "spans", "candidate", out);
    json_set(out, "baseline", &other);
    json_set_real(out, "launch_floor_ms", launch_floor(spans));
    take_kernels(measured, facts, out);
    take_part(measured, "counters", "counters", out);
    take_part(measured, "library", "library", out);
    json_set_real(out, "took_ms", facts->took_ms);
    add_derived(facts, out);
    add_bound(facts, out);
    return json_dump(out);
}

static bool disagrees(const json *spans)
{
    return is_told(spans) && json_typeof(spans) == JSON_TYPE_OBJECT &&
           !json_bool(json_get(spans, "agrees"), true);
}

bool profile_disagrees(const char *profile)
{
    SCOPED(json_destroy) json *record = parsed(profile);
    return disagrees(json_get(record, "candidate")) || disagrees(json_get(record, "baseline"));
}

/* ---- in words ---- */

static void say_pct(const json *derived, const char *key, const char *name, buf *out)
{
    const double value = real_of(derived, key);
    if (!isnan(value))
        buf_printf(out, ", %s %.0f %%", name, value);
}

static void say_use(const json *derived, buf *out)
{
    const double sm = real_of(derived, "busiest_pct");
    if (isnan(sm))
        return;
    buf_printf(
        out, "- Use of peak rates while it runs: busiest unit of the multiprocessors %.0f %%", sm);
    say_pct(derived, "fma_pct", "FMA pipe", out);
    say_pct(derived, "alu_pct", "ALU pipe", out);
    say_pct(derived, "tensor_pct", "tensor pipe", out);
    say_pct(derived, "memory_pct", "memory pipeline", out);
    say_pct(derived, "l1_pct", "L1", out);
    say_pct(derived, "l2_pct", "L2", out);
    say_pct(derived, "dram_pct", "DRAM", out);
    buf_puts(out, ".\n");
}

static void say_bytes(const json *derived, buf *out)
{
    const double moved = real_of(derived, "dram_bytes");
    if (!isnan(moved))
        buf_printf(out,
                   "- DRAM moved %.3g MB, %.2f times the %.3g MB that must be read and written.\n",
                   moved / 1e6, real_of(derived, "dram_times_least"),
                   real_of(derived, "least_bytes") / 1e6);
}

static void say_sectors(const json *derived, buf *out)
{
    const double load = real_of(derived, "sectors_a_load");
    const double store = real_of(derived, "sectors_a_store");
    if (isnan(load) && isnan(store))
        return;
    buf_puts(out, "- Sectors of 32 bytes a global request of a warp:");
    if (!isnan(load))
        buf_printf(out, " loads %.1f", load);
    if (!isnan(store))
        buf_printf(out, "%s stores %.1f", isnan(load) ? "" : ",", store);
    buf_puts(out, " (4 when neighbours take neighbouring 4-byte elements, 16 with 16-byte vectors; "
                  "32 with narrow elements means one sector a thread).\n");
}

static void say_conflicts(const json *derived, buf *out)
{
    const double share = real_of(derived, "bank_conflict_share");
    if (share >= 0.05)
        buf_printf(out, "- %.0f %% of shared memory passes are bank conflicts.\n", 100 * share);
}

static void say_kernel(const json *kernel, buf *out)
{
    const int64_t spilled = json_int(json_get(kernel, "local_bytes"), 0);
    buf_printf(out,
               "- %s: %.4f ms a launch, %" PRId64 " blocks of %" PRId64 " threads, %" PRId64
               " registers a thread, %" PRId64 " bytes of shared memory a block; %" PRId64
               " blocks fit on a multiprocessor at once (%.0f %% of its warps, limited by %s)",
               json_str(json_get(kernel, "name"), "?"), real_of(kernel, "ms"),
               product(json_get(kernel, "grid")), product(json_get(kernel, "block")),
               json_int(json_get(kernel, "registers"), 0),
               json_int(json_get(kernel, "shared_static"), 0) +
                   json_int(json_get(kernel, "shared_dynamic"), 0),
               json_int(json_get(kernel, "blocks_at_once"), 0), 100 * real_of(kernel, "occupancy"),
               json_str(json_get(kernel, "occupancy_limit"), "?"));
    if (spilled > 0)
        buf_printf(out, "; %" PRId64 " bytes of local memory a thread (spills or arrays)", spilled);
    buf_puts(out, ".\n");
}

static void say_occupancy(const json *record, buf *out)
{
    const double active = real_of(json_get(record, "derived"), "sm_active_share");
    const double warps = counter(record, "occupancy_pct");
    if (!isnan(warps))
        buf_printf(out,
                   "- While a multiprocessor works it holds %.0f %% of the warps it could; on "
                   "average it works %.0f %% as long as the one that works longest.\n",
                   warps, 100 * active);
}

/* What warps wait for, longest first, in the words of the counters. */
static void say_stalls(const json *record, buf *out)
{
    enum { MOST = 3 };
    static const char prefix[] = "stall_";
    const json *values = json_get(json_get(record, "counters"), "values");
    double before = (double)INFINITY;
    for (size_t n = 0; n < MOST; n++) {
        const char *name = NULL;
        double most = 0.5; /* warps an issue: less is nobody's trouble */
        for (json_iter it = {0}; json_next(values, &it);) {
            const double value = json_real(it.value, (double)NAN);
            if (strncmp(it.key, prefix, sizeof prefix - 1) == 0 && value < before && value > most &&
                strcmp(it.key, "stall_selected") != 0) {
                name = it.key + sizeof prefix - 1;
                most = value;
            }
        }
        if (name == NULL) {
            buf_puts(out, n > 0 ? ".\n" : "");
            return;
        }
        buf_printf(out, "%s %s %.1f",
                   n == 0 ? "- Warps that wait, on average, when one is issued:" : ",", name, most);
        before = most;
    }
    buf_puts(out, ".\n");
}

static void say_gaps(const json *record, buf *out)
{
    const json *spans = json_get(record, "candidate");
    const double nodes = real_of(spans, "nodes");
    if (!is_told(spans) || spans == NULL)
        return;
    buf_printf(out, "- A call is %.4g kernels, copies and fills", nodes);
    if (nodes > 1)
        buf_printf(out, "; %.0f %% of its time nothing runs",
                   100 * real_of(json_get(record, "derived"), "gap_share"));
    buf_printf(out, ". An empty kernel takes %.4f ms here.\n", real_of(spans, "floor_span_ms"));
}

static const char *const meanings[] = {
    [BOUND_UNKNOWN] = "not known",
    [BOUND_MEMORY] = "memory: move fewer bytes or sectors, or wider accesses",
    [BOUND_COMPUTE] = "compute: fewer or cheaper instructions, or tensor cores where exact enough",
    [BOUND_LATENCY] = "latency: no unit is busy, so more independent work must be in flight (more "
                      "blocks or warps, more loads before their use)",
    [BOUND_LAUNCH] = "launch: the work is small against what starting kernels costs, so fewer "
                     "kernels and less set-up",
    [BOUND_TAIL] = "tail: the last wave of blocks leaves multiprocessors idle, so blocks of a size "
                   "that divides evenly, or a loop over work"};

static const char *meaning_of(const json *record)
{
    const char *name = json_str(json_get(record, "bound"), NULL);
    for (bound b = BOUND_MEMORY; name != NULL && b <= BOUND_TAIL; b++)
        if (strcmp(bound_name(b), name) == 0)
            return meanings[b];
    return meanings[BOUND_UNKNOWN];
}

void profile_text(const char *profile, buf *out)
{
    SCOPED(json_destroy) json *record = parsed(profile);
    const json *kernels = json_get(record, "kernels");
    const json *derived = json_get(record, "derived");
    if (strcmp(json_str(json_get(record, "status"), ""), "measured") != 0)
        return;
    buf_printf(out, "Measured on the device, it is bound by %s.\n", meaning_of(record));
    say_gaps(record, out);
    say_use(derived, out);
    say_bytes(derived, out);
    say_sectors(derived, out);
    say_conflicts(derived, out);
    for (size_t i = 0; i < json_size(kernels) && i < 4; i++)
        say_kernel(json_at(kernels, i), out);
    say_occupancy(record, out);
    say_stalls(record, out);
}

/* ---- looking ---- */

typedef struct look {
    const profile_request *ask;
    trial trial;
    judge_staging staging;
    int64_t salt;
    const char *library; /* NULL: the library is looked for */
} look;

static void look_fini(look *self)
{
    trial_fini(&self->trial);
    judge_staging_fini(&self->staging);
}

static int draw(look *k, err *e)
{
    const pipeline *p = k->ask->p;
    judge_draw_request request = {.shape = &p->terms->benchmark,
                                  .seed = trial_seed(p->spec, "profile", k->ask->number),
                                  .family = cases_benchmark(p->terms).family,
                                  .slots = k->ask->timed->slots};
    k->salt = trial_seed(p->spec, "profile salt", k->ask->number);
    return judge_draw(k->trial.judge, &request, &k->staging, e);
}

static bool is_chained(const look *k)
{
    return strcmp(k->ask->timed->timing_mode, "G") == 0;
}

static int baseline_spans(look *k, char **out, err *e)
{
    SCOPED(judge_timing_fini) judge_timing armed = {0};
    SCOPED(judge_comparison_fini) judge_comparison after = {0};
    const judge_arm_request request = {.mode = k->ask->timed->baseline_mode,
                                       .chained = is_chained(k)};
    if (judge_arm(k->trial.judge, &request, &armed, e) != 0)
        return -1;
    *out = judge_profile(k->trial.judge, SAMPLES, k->library, e);
    return *out == NULL ? -1 : judge_disarm(k->trial.judge, &after, e);
}

static int candidate_profile(look *k, char **out, err *e)
{
    const pipeline *p = k->ask->p;
    SCOPED(runner_timing_fini) runner_timing armed = {0};
    const runner_arm request = {.terms = p->terms,
                                .shape = &p->terms->benchmark,
                                .staging = &k->staging,
                                .slots = k->ask->timed->slots,
                                .chained = is_chained(k),
                                .salt = k->salt,
                                .deadline_ms = PART_MS};
    const runner_profile_ask ask = {
        .samples = SAMPLES, .counters = true, .library = k->library, .deadline_ms = PART_MS};
    if (runner_proc_arm(k->trial.runner, &request, &armed, e) != 0)
        return -1;
    if (!verdict_is_ok(&armed.verdict))
        return err_set(e, ERR_UNAVAILABLE, "%s: %s", outcome_name(armed.verdict.result),
                       armed.verdict.text);
    *out = runner_proc_profile(k->trial.runner, &ask, e);
    return *out == NULL ? -1 : 0;
}

static int look_at(look *k, char **kernel, char **baseline, err *e)
{
    const pipeline *p = k->ask->p;
    runner_verdict verdict;
    if (trial_open(&k->trial, p, k->ask->held, k->ask->c, &verdict, e) != 0)
        return -1;
    if (!verdict_is_ok(&verdict))
        return err_set(e, ERR_UNAVAILABLE, "%s: %s", outcome_name(verdict.result), verdict.text);
    const char *with_torch = judge_get_facts(k->trial.judge)->cupti;
    k->library = p->node->settings->cupti != NULL ? p->node->settings->cupti
                 : with_torch[0] != '\0'          ? with_torch
                                                  : NULL;
    if (draw(k, e) != 0 || (k->ask->baseline && baseline_spans(k, baseline, e) != 0))
        return -1;
    return candidate_profile(k, kernel, e);
}

char *profile_run(const profile_request *request)
{
    look k SCOPED(look_fini) = {.ask = request};
    SCOPED(scoped_free) char *kernel = NULL;
    SCOPED(scoped_free) char *baseline = NULL;
    const lane_facts *facts = lane_get_facts(request->held);
    profile_facts known = {.cc = facts->limits.cc, .sm_count = facts->limits.sm_count};
    err e = {0};
    const int64_t start = clock_mono_ms();
    if (roofline_bytes(request->p->terms, &request->p->terms->benchmark, &known.least_bytes, &e) !=
            0 ||
        look_at(&k, &kernel, &baseline, &e) != 0)
        return profile_missing(e.text);
    known.took_ms = (double)(clock_mono_ms() - start);
    return profile_make(kernel, baseline, &known);
}
