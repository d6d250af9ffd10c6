/* retime - a comparison in pairs, computed again from its raw blocks
 *
 * SPDX-License-Identifier: MIT */
#include "reports/retime.h"

#include <math.h>

#include "common/stats.h"

enum { SAMPLES_MAX = 256 };

typedef struct blocks {
    double d[PAIRED_MAX], baseline[PAIRED_MAX], candidate[PAIRED_MAX];
    int process[PAIRED_MAX];
    size_t n, voids;
} blocks;

/* The median of a block's samples; NaN when it is none. */
static double median_of(const json *block)
{
    double ms[SAMPLES_MAX];
    const json *list = json_get(block, "ms");
    size_t n = json_size(list);
    if (n == 0 || n > SAMPLES_MAX)
        return (double)NAN;
    for (size_t i = 0; i < n; i++)
        ms[i] = json_real(json_at(list, i), (double)NAN);
    return stats_median(ms, n);
}

static bool add_pair(blocks *b, const json *pair)
{
    double baseline = median_of(json_get(pair, "baseline"));
    double candidate = median_of(json_get(pair, "candidate"));
    if (json_typeof(json_get(pair, "void")) == JSON_TYPE_STRING) {
        b->voids++;
        return true;
    }
    if (b->n == PAIRED_MAX || !(baseline > 0) || !(candidate > 0))
        return false;
    b->baseline[b->n] = baseline;
    b->candidate[b->n] = candidate;
    b->d[b->n] = log(baseline) - log(candidate);
    b->process[b->n] = (int)json_int(json_get(pair, "process"), -1);
    b->n++;
    return true;
}

bool retime_read(const json *raw, retime *out)
{
    const json *pairs = json_get(raw, "pairs");
    blocks b = {.n = 0};
    paired_result r;
    if (json_typeof(pairs) != JSON_TYPE_ARRAY)
        return false;
    for (size_t i = 0; i < json_size(pairs); i++)
        if (!add_pair(&b, json_at(pairs, i)))
            return false;
    const paired_input input = {.d = b.d,
                                .process = b.process,
                                .n = b.n,
                                .margin = json_real(json_get(raw, "margin"), PAIRED_MARGIN_MIN),
                                .alpha = PAIRED_LOOK_ALPHA,
                                .seed = (uint64_t)json_int(json_get(raw, "seed"), 0)};
    paired_judge(&input, &r);
    *out = (retime){.pairs = b.n,
                    .voids = b.voids,
                    .candidate_ms = stats_median(b.candidate, b.n),
                    .baseline_ms = stats_median(b.baseline, b.n),
                    .speedup = exp(r.theta),
                    .low = exp(r.low),
                    .high = exp(r.high),
                    .verdict = r.verdict};
    return true;
}
