/* ce_profile - see ce_profile.h.
 *
 * Everything by events comes first, since CUPTI changes how the driver launches. The empty kernel has a
 * session of its own beside the caller's, so both are timed by the same code.
 *
 * SPDX-License-Identifier: MIT */
#include "agent-node/runner/timing/ce_profile.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent-node/runner/timing/activity.h"
#include "agent-node/runner/timing/calm.h"
#include "agent-node/runner/timing/cuda_api.h"
#include "agent-node/runner/timing/cupti_api.h"
#include "agent-node/runner/timing/kernels_ptx.h"
#include "agent-node/runner/timing/span.h"

_Static_assert((int)CE_PROFILE_NAME == (int)SPAN_NAME_MAX, "names are copied");
_Static_assert((int)CE_PROFILE_KERNELS == (int)SPAN_KERNELS_MAX, "rows are copied");
_Static_assert((int)CE_PROFILE_SAMPLES_MAX <= (int)SPAN_SAMPLES_MAX, "samples are copied");

enum { FLOOR_SAMPLES = 100, WARM_SAMPLES = 2, DEADLINE_MS = 60000 };

static const char empty_ptx[] = ".version 6.3\n"
                                ".target sm_70\n"
                                ".address_size 64\n"
                                ".visible .entry " CE_EMPTY_KERNEL "()\n"
                                "{\n"
                                "  ret;\n"
                                "}\n";

typedef struct profile {
    const ce_profile_ask *ask;
    ce_profile_out *out;
    ce_timing *session;
    cuda_api cuda;
    cupti_api cupti;
    bool collecting;
    CUmodule module; /* the empty kernel */
    CUgraph graph;
    ce_timing *empty;
} profile;

__attribute__((format(printf, 2, 3))) static int unavailable(profile *p, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(p->out->text, sizeof p->out->text, format, args);
    va_end(args);
    p->out->code = CE_PROFILE_UNAVAILABLE;
    return -1;
}

static int check(profile *p, CUresult code, const char *what)
{
    char text[160];
    if (code == CUDA_SUCCESS)
        return 0;
    cuda_api_explain(&p->cuda, code, text, sizeof text);
    return unavailable(p, "%s: %s", what, text);
}

static int timing_failed(profile *p, const ce_timing_out *t)
{
    p->out->code = CE_PROFILE_TIMING;
    p->out->native = t->code;
    snprintf(p->out->text, sizeof p->out->text, "%s", t->text);
    return -1;
}

static int check_ask(profile *p)
{
    const ce_profile_ask *ask = p->ask;
    if (ask->size != sizeof *ask || p->out->size != sizeof *p->out)
        return unavailable(p, "struct sizes differ: ask %u, out %u; this library has %zu and %zu",
                           (unsigned)ask->size, (unsigned)p->out->size, sizeof *ask,
                           sizeof *p->out);
    if (ask->samples == 0 || ask->samples > CE_PROFILE_SAMPLES_MAX || ask->calls == 0)
        return unavailable(p, "%u samples of %u calls: 1 to %d of at least one",
                           (unsigned)ask->samples, (unsigned)ask->calls, CE_PROFILE_SAMPLES_MAX);
    return 0;
}

static int open_libraries(profile *p)
{
    char why[200];
    int driver = 0;
    if (!cuda_api_open(&p->cuda, why, sizeof why))
        return unavailable(p, "%s", why);
    if (check(p, p->cuda.driver_version(&driver), "driver version") < 0)
        return -1;
    if (!cupti_api_open(&p->cupti, p->ask->library, driver, why, sizeof why))
        return unavailable(p, "%s", why);
    snprintf(p->out->library, sizeof p->out->library, "%.255s", p->cupti.library);
    return 0;
}

/* ---- the empty kernel ---- */

static int capture_empty(profile *p)
{
    CUfunction kernel = NULL;
    CUstream stream = p->ask->stream;
    const cuda_api *cuda = &p->cuda;
    if (check(p, cuda->module_load(&p->module, empty_ptx), "load the empty kernel") < 0 ||
        check(p, cuda->module_function(&kernel, p->module, CE_EMPTY_KERNEL), "find it") < 0 ||
        check(p, cuda->capture_begin(stream, CU_STREAM_CAPTURE_MODE_RELAXED), "begin a graph") < 0)
        return -1;
    CUresult code = cuda->launch(kernel, 1, 1, 1, 1, 1, 1, 0, stream, NULL, NULL);
    CUresult ended = cuda->capture_end(stream, &p->graph);
    return check(p, code != CUDA_SUCCESS ? code : ended, "capture the empty kernel");
}

/* open_empty gets it ready: a chain of one where the session's samples are chains. */
static int open_empty(profile *p)
{
    void *graphs[1];
    if (capture_empty(p) < 0)
        return -1;
    graphs[0] = p->graph;
    const ce_timing_job job = {.size = sizeof job,
                               .slots = 1,
                               .graphs = graphs,
                               .stream = p->ask->stream,
                               .dummy_bytes = 16,
                               .chained = p->ask->calls > 1,
                               .warmup_ms = 1,
                               .deadline_ms = p->ask->deadline_ms};
    ce_timing_out t = {.size = sizeof t};
    p->empty = ce_timing_open(&job, &t);
    return p->empty != NULL ? 0 : timing_failed(p, &t);
}

/* ---- by events ---- */

/* take_block makes so many samples; ms (may be NULL) is their median, of a whole sample. */
static int take_block(profile *p, ce_timing *session, uint32_t samples, uint32_t calls, double *ms)
{
    double times[CE_PROFILE_SAMPLES_MAX];
    const ce_timing_ask ask = {
        .size = sizeof ask, .samples = samples, .keep = -1, .deadline_ms = p->ask->deadline_ms};
    ce_timing_out t = {.size = sizeof t, .samples = times};
    if (ce_timing_block(session, &ask, &t) < 0)
        return timing_failed(p, &t);
    if (ms != NULL)
        *ms = calm_middle(times, (int)samples) * calls;
    return 0;
}

/* ---- by timestamps ---- */

static int collect(profile *p, ce_timing *session, const span_want *want, span_result *spans)
{
    char why[CE_TIMING_TEXT];
    span_record *records = NULL;
    size_t count = 0;
    if (take_block(p, session, (uint32_t)want->samples, (uint32_t)want->calls, NULL) < 0)
        return -1;
    if (!activity_take(&p->cupti, &records, &count, why, sizeof why))
        return unavailable(p, "%s", why);
    bool told = span_of(records, count, want, spans, why, sizeof why);
    free(records);
    return told ? 0 : unavailable(p, "%s", why);
}

static int start_collecting(profile *p)
{
    char why[CE_TIMING_TEXT];
    span_record *records = NULL;
    size_t count = 0;
    if (!activity_begin(&p->cupti, why, sizeof why))
        return unavailable(p, "%s", why);
    p->collecting = true;
    /* The first launches set CUPTI up and are nobody's. */
    if (take_block(p, p->session, WARM_SAMPLES, p->ask->calls, NULL) < 0 ||
        take_block(p, p->empty, WARM_SAMPLES, 1, NULL) < 0)
        return -1;
    if (!activity_take(&p->cupti, &records, &count, why, sizeof why))
        return unavailable(p, "%s", why);
    free(records);
    return 0;
}

static int time_empty(profile *p, span_result *spans)
{
    static const char *const kernels[] = {CE_EMPTY_KERNEL};
    const span_want want = {.marker = CE_FLUSH_KERNEL,
                            .samples = FLOOR_SAMPLES,
                            .kernels = kernels,
                            .kernel_count = 1,
                            .calls = 1};
    if (collect(p, p->empty, &want, spans) < 0)
        return -1;
    p->out->floor_span_ms = calm_middle(spans->span_ms, (int)spans->samples);
    return 0;
}

static int time_session(profile *p, span_result *spans)
{
    const ce_profile_ask *ask = p->ask;
    const span_want want = {.marker = CE_FLUSH_KERNEL,
                            .samples = ask->samples,
                            .kernels = ask->kernels,
                            .kernel_count = ask->kernel_count,
                            .calls = ask->calls};
    if (collect(p, p->session, &want, spans) < 0)
        return -1;
    p->out->span_ms = calm_middle(spans->span_ms, (int)spans->samples);
    p->out->busy_ms = calm_middle(spans->busy_ms, (int)spans->samples);
    p->out->nodes = spans->nodes;
    return 0;
}

static void copy_kernels(const span_result *spans, ce_profile_out *out)
{
    out->kernel_count = (uint32_t)spans->kernel_count;
    out->kernels_left_out = (uint32_t)spans->kernels_left_out;
    for (size_t i = 0; i < spans->kernel_count; i++) {
        const span_kernel *from = &spans->kernels[i];
        ce_profile_kernel *to = &out->kernels[i];
        *to = (ce_profile_kernel){.launches = from->launches,
                                  .ms = from->ms,
                                  .registers = from->registers,
                                  .shared_static = from->shared_static,
                                  .shared_dynamic = from->shared_dynamic,
                                  .local_bytes = from->local_bytes};
        memcpy(to->name, from->name, sizeof to->name);
        memcpy(to->grid, from->grid, sizeof to->grid);
        memcpy(to->block, from->block, sizeof to->block);
    }
}

/* ---- the whole ---- */

static int run(profile *p, span_result *spans)
{
    ce_profile_out *out = p->out;
    if (check_ask(p) < 0 || open_libraries(p) < 0 || open_empty(p) < 0 ||
        take_block(p, p->empty, FLOOR_SAMPLES, 1, &out->floor_event_ms) < 0 ||
        take_block(p, p->session, p->ask->samples, p->ask->calls, &out->event_ms) < 0 ||
        start_collecting(p) < 0 || time_empty(p, spans) < 0 || time_session(p, spans) < 0)
        return -1;
    copy_kernels(spans, out);
    out->agrees = span_agrees(out->event_ms, out->floor_event_ms - out->floor_span_ms, out->busy_ms,
                              out->span_ms);
    return 0;
}

static void profile_fini(profile *p)
{
    if (p->collecting)
        activity_end(&p->cupti);
    bool lost = p->out->code == CE_PROFILE_TIMING; /* the driver may wait for ever */
    if (!lost)
        ce_timing_close(&p->empty);
    if (p->graph != NULL && !lost)
        p->cuda.graph_destroy(p->graph);
    if (p->module != NULL && !lost)
        p->cuda.module_unload(p->module);
    cuda_api_close(&p->cuda);
}

int ce_profile_spans(ce_timing *session, const ce_profile_ask *ask, ce_profile_out *out)
{
    profile *p = calloc(1, sizeof *p);
    span_result *spans = calloc(1, sizeof *spans);
    uint32_t size = out->size;
    int rc = -1;
    memset(out, 0, sizeof *out);
    out->size = size;
    if (p != NULL && spans != NULL) {
        p->ask = ask;
        p->out = out;
        p->session = session;
        rc = run(p, spans);
        profile_fini(p);
    } else {
        out->code = CE_PROFILE_UNAVAILABLE;
        snprintf(out->text, sizeof out->text, "out of host memory");
    }
    free(spans);
    free(p);
    return rc;
}

uint32_t ce_profile_abi(void)
{
    return CE_PROFILE_ABI;
}
