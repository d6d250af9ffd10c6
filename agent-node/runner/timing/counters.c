/* counters - see counters.h.
 *
 * Order: the profiler host (no device needed) makes a configuration of the metrics that the chip has; the
 * range profiler is enabled on the context, gets room for one range and the configuration; passes until
 * all are submitted; decode, evaluate.
 *
 * SPDX-License-Identifier: MIT */
#include "agent-node/runner/timing/counters.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent-node/runner/timing/cupti_api.h"

/* PARAMS(type, member…) is a parameter struct of CUPTI with its size set. */
#define PARAMS(type, ...)                                    \
    {                                                        \
        .structSize = type##_Params_STRUCT_SIZE, __VA_ARGS__ \
    }

typedef struct collection {
    const counters_job *job;
    const cupti_api *cupti;
    char *why;
    size_t size;
    CUpti_Profiler_Host_Object *host;
    CUpti_RangeProfiler_Object *ranges; /* NULL: not enabled */
    const char *names[COUNTERS_MAX];    /* those that the chip has */
    size_t places[COUNTERS_MAX];        /* of names in the job */
    size_t count;
    uint8_t *config, *availability, *data;
    size_t config_size, availability_size, data_size;
} collection;

static bool ok(const collection *c, CUptiResult code, const char *function)
{
    return cupti_api_ok(c->cupti, code, function, c->why, c->size);
}

#define CALL(c, function, params) ok(c, (c)->cupti->function(params), #function)

static bool room_for(collection *c, uint8_t **out, size_t size, const char *what)
{
    *out = calloc(1, size != 0 ? size : 1);
    if (*out == NULL)
        snprintf(c->why, c->size, "no host memory for %s, %zu bytes", what, size);
    return *out != NULL;
}

/* ---- host: the configuration ---- */

static bool host_open(collection *c, const char *chip)
{
    CUpti_Profiler_Host_Initialize_Params p =
        PARAMS(CUpti_Profiler_Host_Initialize, .profilerType = CUPTI_PROFILER_TYPE_RANGE_PROFILER,
               .pChipName = chip, .pCounterAvailabilityImage = c->availability);
    if (!CALL(c, cuptiProfilerHostInitialize, &p))
        return false;
    c->host = p.pHostObject;
    return true;
}

static void pick_metrics(collection *c, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count && c->count < COUNTERS_MAX; i++) {
        CUpti_Profiler_Host_GetMetricProperties_Params p =
            PARAMS(CUpti_Profiler_Host_GetMetricProperties, .pHostObject = c->host,
                   .pMetricName = names[i]);
        if (c->cupti->cuptiProfilerHostGetMetricProperties(&p) != CUPTI_SUCCESS)
            continue;
        c->places[c->count] = i;
        c->names[c->count++] = names[i];
    }
}

static bool make_config(collection *c)
{
    CUpti_Profiler_Host_ConfigAddMetrics_Params add =
        PARAMS(CUpti_Profiler_Host_ConfigAddMetrics, .pHostObject = c->host,
               .ppMetricNames = c->names, .numMetrics = c->count);
    CUpti_Profiler_Host_GetConfigImageSize_Params room =
        PARAMS(CUpti_Profiler_Host_GetConfigImageSize, .pHostObject = c->host);
    if (c->count == 0) {
        snprintf(c->why, c->size, "the chip has none of the metrics");
        return false;
    }
    if (!CALL(c, cuptiProfilerHostConfigAddMetrics, &add) ||
        !CALL(c, cuptiProfilerHostGetConfigImageSize, &room) ||
        !room_for(c, &c->config, room.configImageSize, "the configuration"))
        return false;
    c->config_size = room.configImageSize;
    CUpti_Profiler_Host_GetConfigImage_Params get =
        PARAMS(CUpti_Profiler_Host_GetConfigImage, .pHostObject = c->host,
               .configImageSize = c->config_size, .pConfigImage = c->config);
    return CALL(c, cuptiProfilerHostGetConfigImage, &get);
}

static bool count_passes(collection *c, size_t *out)
{
    CUpti_Profiler_Host_GetNumOfPasses_Params p =
        PARAMS(CUpti_Profiler_Host_GetNumOfPasses, .configImageSize = c->config_size,
               .pConfigImage = c->config);
    if (!CALL(c, cuptiProfilerHostGetNumOfPasses, &p))
        return false;
    *out = p.numOfPasses;
    return true;
}

static bool configure(collection *c, const char *chip, const char *const *names, size_t count,
                      size_t *passes)
{
    if (!host_open(c, chip))
        return false;
    pick_metrics(c, names, count);
    return make_config(c) && count_passes(c, passes);
}

/* ---- target: the passes ---- */

static bool target_open(collection *c, char chip[32])
{
    CUpti_Profiler_Initialize_Params start = PARAMS(CUpti_Profiler_Initialize, .pPriv = NULL);
    CUpti_Device_GetChipName_Params name =
        PARAMS(CUpti_Device_GetChipName, .deviceIndex = (size_t)c->job->ordinal);
    if (!CALL(c, cuptiProfilerInitialize, &start) || !CALL(c, cuptiDeviceGetChipName, &name))
        return false;
    snprintf(chip, 32, "%s", name.pChipName);
    return true;
}

/* ask_availability: what this device lets us count; asked for in two steps. */
static bool ask_availability(collection *c)
{
    CUpti_Profiler_GetCounterAvailability_Params p =
        PARAMS(CUpti_Profiler_GetCounterAvailability, .ctx = c->job->context);
    if (!CALL(c, cuptiProfilerGetCounterAvailability, &p) ||
        !room_for(c, &c->availability, p.counterAvailabilityImageSize,
                  "the counters' availability"))
        return false;
    p.pCounterAvailabilityImage = c->availability;
    c->availability_size = p.counterAvailabilityImageSize;
    return CALL(c, cuptiProfilerGetCounterAvailability, &p);
}

static bool make_room(collection *c)
{
    CUpti_RangeProfiler_GetCounterDataSize_Params room =
        PARAMS(CUpti_RangeProfiler_GetCounterDataSize, .pRangeProfilerObject = c->ranges,
               .pMetricNames = c->names, .numMetrics = c->count, .maxNumOfRanges = 1,
               .maxNumRangeTreeNodes = 1);
    if (!CALL(c, cuptiRangeProfilerGetCounterDataSize, &room) ||
        !room_for(c, &c->data, room.counterDataSize, "the counters"))
        return false;
    c->data_size = room.counterDataSize;
    CUpti_RangeProfiler_CounterDataImage_Initialize_Params clear =
        PARAMS(CUpti_RangeProfiler_CounterDataImage_Initialize, .pRangeProfilerObject = c->ranges,
               .counterDataSize = c->data_size, .pCounterData = c->data);
    return CALL(c, cuptiRangeProfilerCounterDataImageInitialize, &clear);
}

static bool set_config(collection *c)
{
    CUpti_RangeProfiler_SetConfig_Params p = PARAMS(
        CUpti_RangeProfiler_SetConfig, .pRangeProfilerObject = c->ranges,
        .configSize = c->config_size, .pConfig = c->config, .counterDataImageSize = c->data_size,
        .pCounterDataImage = c->data, .range = CUPTI_UserRange, .replayMode = CUPTI_UserReplay,
        .maxRangesPerPass = 1, .numNestingLevels = 1, .minNestingLevel = 1, .passIndex = 0,
        .targetNestingLevel = 1);
    return CALL(c, cuptiRangeProfilerSetConfig, &p);
}

static bool enable(collection *c)
{
    CUpti_RangeProfiler_Enable_Params p =
        PARAMS(CUpti_RangeProfiler_Enable, .ctx = c->job->context);
    if (!CALL(c, cuptiRangeProfilerEnable, &p))
        return false;
    c->ranges = p.pRangeProfilerObject;
    return make_room(c) && set_config(c);
}

static bool one_pass(collection *c, size_t pass, bool *last)
{
    const counters_job *job = c->job;
    CUpti_RangeProfiler_Start_Params start =
        PARAMS(CUpti_RangeProfiler_Start, .pRangeProfilerObject = c->ranges);
    CUpti_RangeProfiler_PushRange_Params push = PARAMS(
        CUpti_RangeProfiler_PushRange, .pRangeProfilerObject = c->ranges, .pRangeName = "call");
    CUpti_RangeProfiler_PopRange_Params pop =
        PARAMS(CUpti_RangeProfiler_PopRange, .pRangeProfilerObject = c->ranges);
    CUpti_RangeProfiler_Stop_Params stop =
        PARAMS(CUpti_RangeProfiler_Stop, .pRangeProfilerObject = c->ranges);
    if (!job->prepare(job->arg, pass, c->why, c->size) ||
        !CALL(c, cuptiRangeProfilerStart, &start) || !CALL(c, cuptiRangeProfilerPushRange, &push) ||
        !job->call(job->arg, pass, c->why, c->size) || !CALL(c, cuptiRangeProfilerPopRange, &pop) ||
        !CALL(c, cuptiRangeProfilerStop, &stop))
        return false;
    *last = stop.isAllPassSubmitted != 0;
    return true;
}

static bool all_passes(collection *c, size_t *passes)
{
    bool last = false;
    for (*passes = 0; !last; (*passes)++) {
        if (*passes == COUNTERS_PASSES_MAX) {
            snprintf(c->why, c->size, "%d passes were not enough", COUNTERS_PASSES_MAX);
            return false;
        }
        if (!one_pass(c, *passes, &last))
            return false;
    }
    return true;
}

static bool decode(collection *c)
{
    CUpti_RangeProfiler_DecodeData_Params p =
        PARAMS(CUpti_RangeProfiler_DecodeData, .pRangeProfilerObject = c->ranges);
    CUpti_RangeProfiler_GetCounterDataInfo_Params info =
        PARAMS(CUpti_RangeProfiler_GetCounterDataInfo, .pCounterDataImage = c->data,
               .counterDataImageSize = c->data_size);
    if (!CALL(c, cuptiRangeProfilerDecodeData, &p) ||
        !CALL(c, cuptiRangeProfilerGetCounterDataInfo, &info))
        return false;
    if (p.numOfRangeDropped == 0 && info.numTotalRanges == 1)
        return true;
    snprintf(c->why, c->size, "incomplete: %zu ranges were counted, %zu dropped",
             info.numTotalRanges, p.numOfRangeDropped);
    return false;
}

static bool evaluate(collection *c, counters_result *out)
{
    double values[COUNTERS_MAX] = {0};
    CUpti_Profiler_Host_EvaluateToGpuValues_Params p =
        PARAMS(CUpti_Profiler_Host_EvaluateToGpuValues, .pHostObject = c->host,
               .pCounterDataImage = c->data, .counterDataImageSize = c->data_size, .rangeIndex = 0,
               .ppMetricNames = c->names, .numMetrics = c->count, .pMetricValues = values);
    if (!CALL(c, cuptiProfilerHostEvaluateToGpuValues, &p))
        return false;
    for (size_t i = 0; i < c->count; i++)
        out->values[c->places[i]] = values[i];
    return true;
}

/* ---- the whole ---- */

static void collection_fini(collection *c)
{
    if (c->ranges != NULL) {
        CUpti_RangeProfiler_Disable_Params p =
            PARAMS(CUpti_RangeProfiler_Disable, .pRangeProfilerObject = c->ranges);
        c->cupti->cuptiRangeProfilerDisable(&p);
    }
    if (c->host != NULL) {
        CUpti_Profiler_Host_Deinitialize_Params p =
            PARAMS(CUpti_Profiler_Host_Deinitialize, .pHostObject = c->host);
        c->cupti->cuptiProfilerHostDeinitialize(&p);
    }
    free(c->config);
    free(c->availability);
    free(c->data);
}

static bool has_counters(const cupti_api *cupti, char *why, size_t size)
{
    if (!cupti->has_counters)
        snprintf(why, size, "%.160s has no range profiler: CUDA 12.6 or later does",
                 cupti->library);
    return cupti->has_counters;
}

static void clear(counters_result *out)
{
    *out = (counters_result){.chip = ""};
    for (size_t i = 0; i < COUNTERS_MAX; i++)
        out->values[i] = (double)NAN;
}

bool counters_collect(const counters_job *job, counters_result *out, char *why, size_t size)
{
    collection c = {.job = job, .cupti = job->cupti, .why = why, .size = size};
    clear(out);
    if (!has_counters(job->cupti, why, size))
        return false;
    size_t planned = 0;
    bool done = target_open(&c, out->chip) && ask_availability(&c) &&
                configure(&c, out->chip, job->names, job->count, &planned) && enable(&c) &&
                all_passes(&c, &out->passes) && decode(&c) && evaluate(&c, out);
    collection_fini(&c);
    return done;
}

bool counters_plan(const counters_job *job, const char *chip, counters_result *out, char *why,
                   size_t size)
{
    collection c = {.job = job, .cupti = job->cupti, .why = why, .size = size};
    clear(out);
    if (!has_counters(job->cupti, why, size))
        return false;
    bool done = configure(&c, chip, job->names, job->count, &out->passes);
    for (size_t i = 0; done && i < c.count; i++)
        out->values[c.places[i]] = 0;
    collection_fini(&c);
    return done;
}
