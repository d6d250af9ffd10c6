/* profiler - see profiler.h.
 *
 * SPDX-License-Identifier: MIT */
#include "agent-node/runner/profiler.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent-node/runner/timing/ce_profile.h"
#include "agent-node/runner/timing/counters.h"
#include "agent-node/runner/timing/cuda_api.h"
#include "agent-node/runner/timing/cupti_api.h"
#include "common/json.h"
#include "common/scoped.h"
#include "common/xalloc.h"

typedef struct metric_row {
    const char *key, *name;
} metric_row;

static const metric_row metrics[] = {
#define METRIC(key, name) {#key, name},
#include "agent-node/runner/timing/metrics.def"
#undef METRIC
};

enum { METRICS = sizeof metrics / sizeof *metrics };

_Static_assert((int)METRICS <= (int)COUNTERS_MAX, "counters.h has room for all");

/* ---- spans ---- */

/* list_kernels: the entries that one call launches; fresh list, borrowed names. */
static const char **list_kernels(const gpu_slot *slot, size_t *count)
{
    const char **names = xcalloc(slot->call_count + 1, sizeof *names);
    *count = 0;
    for (size_t i = 0; i < slot->call_count; i++)
        if (slot->calls[i].entry != NULL)
            names[(*count)++] = slot->calls[i].entry;
    return names;
}

static json *triple(const uint32_t values[3])
{
    json *out = json_new_array();
    for (size_t i = 0; i < 3; i++) {
        json *value = json_new_int(values[i]);
        json_append(out, &value);
    }
    return out;
}

static json *kernel_json(const ce_profile_kernel *k)
{
    json *out = json_new_object();
    json *grid = triple(k->grid);
    json *block = triple(k->block);
    json_set_str(out, "name", k->name);
    json_set_real(out, "launches", k->launches);
    json_set_real(out, "ms", k->ms);
    json_set(out, "grid", &grid);
    json_set(out, "block", &block);
    json_set_int(out, "registers", k->registers);
    json_set_int(out, "shared_static", k->shared_static);
    json_set_int(out, "shared_dynamic", k->shared_dynamic);
    json_set_int(out, "local_bytes", k->local_bytes);
    return out;
}

static void tell_spans(const ce_profile_out *p, uint32_t calls, json *out)
{
    const bool told = p->code == CE_PROFILE_OK;
    const double none = (double)NAN;
    json *spans = json_new_object();
    json *kernels = json_new_array();
    json_set_str(spans, "unavailable", told ? NULL : p->text);
    json_set_real(spans, "event_ms", told ? p->event_ms : none);
    json_set_real(spans, "span_ms", told ? p->span_ms : none);
    json_set_real(spans, "busy_ms", told ? p->busy_ms : none);
    json_set_real(spans, "floor_event_ms", told ? p->floor_event_ms : none);
    json_set_real(spans, "floor_span_ms", told ? p->floor_span_ms : none);
    json_set_real(spans, "nodes", told ? p->nodes : none);
    json_set_int(spans, "calls", calls);
    json_set_bool(spans, "agrees", told && p->agrees != 0);
    for (size_t i = 0; told && i < p->kernel_count; i++) {
        json *kernel = kernel_json(&p->kernels[i]);
        json_append(kernels, &kernel);
    }
    json_set(out, "spans", &spans);
    json_set(out, "kernels", &kernels);
    json_set_str(out, "library", p->library[0] != '\0' ? p->library : NULL);
}

/* take_spans is false when the session is of no use any more. */
static bool take_spans(const profiler_job *job, json *out)
{
    size_t count = 0;
    SCOPED(scoped_free) ce_profile_out *p = xcalloc(1, sizeof *p);
    const char **names = list_kernels(&job->slots[0], &count);
    const ce_profile_ask ask = {.size = sizeof ask,
                                .samples = (uint32_t)job->ask->samples,
                                .calls = job->chained ? (uint32_t)job->slot_count : 1,
                                .kernel_count = (uint32_t)count,
                                .kernels = names,
                                .library = job->ask->library,
                                .stream = job->stream,
                                .deadline_ms = (uint32_t)job->ask->deadline_ms};
    p->size = sizeof *p;
    ce_profile_spans(job->session, &ask, p);
    tell_spans(p, ask.calls, out);
    free(names);
    return p->code != CE_PROFILE_TIMING;
}

/* ---- counters ---- */

static bool prepare(void *arg, size_t pass, char *why, size_t size)
{
    const profiler_job *job = arg;
    ce_timing_out t = {.size = sizeof t};
    if (ce_timing_prepare(job->session, (uint32_t)(pass % job->slot_count), &t) == 0)
        return true;
    snprintf(why, size, "%.160s", t.text);
    return false;
}

static bool call(void *arg, size_t pass, char *why, size_t size)
{
    const profiler_job *job = arg;
    return job->launch(job->arg, &job->slots[pass % job->slot_count], why, size);
}

static bool count_all(const profiler_job *job, counters_result *out, char *why, size_t size)
{
    const char *names[METRICS];
    cuda_api cuda;
    cupti_api cupti;
    int driver = 0;
    for (size_t i = 0; i < METRICS; i++)
        names[i] = metrics[i].name;
    if (!cuda_api_open(&cuda, why, size))
        return false;
    cuda.driver_version(&driver);
    cuda_api_close(&cuda);
    if (!cupti_api_open(&cupti, job->ask->library, driver, why, size))
        return false;
    const counters_job count = {.cupti = &cupti,
                                .context = job->context,
                                .ordinal = job->ordinal,
                                .names = names,
                                .count = METRICS,
                                .prepare = prepare,
                                .call = call,
                                .arg = (void *)(uintptr_t)job};
    return counters_collect(&count, out, why, size);
}

static void tell_counters(const counters_result *r, const char *why, json *out)
{
    json *counters = json_new_object();
    json *values = json_new_object();
    for (size_t i = 0; i < METRICS; i++)
        json_set_real(values, metrics[i].key, why == NULL ? r->values[i] : (double)NAN);
    json_set_str(counters, "unavailable", why);
    json_set_str(counters, "chip", why == NULL ? r->chip : NULL);
    json_set_int(counters, "passes", why == NULL ? (int64_t)r->passes : 0);
    json_set(counters, "values", &values);
    json_set(out, "counters", &counters);
}

static void take_counters(const profiler_job *job, bool usable, json *out)
{
    char why[240] = "not asked for";
    counters_result r;
    if (!usable)
        snprintf(why, sizeof why, "timing failed before");
    bool told = usable && job->ask->counters && count_all(job, &r, why, sizeof why);
    tell_counters(&r, told ? NULL : why, out);
}

char *profiler_run(const profiler_job *job)
{
    SCOPED(json_destroy) json *out = json_new_object();
    bool usable = take_spans(job, out);
    take_counters(job, usable, out);
    return json_dump(out);
}
