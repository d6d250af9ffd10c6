/* span - see span.h.
 *
 * SPDX-License-Identifier: MIT */
#include "agent-node/runner/timing/span.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double slack_share = 0.05;
static const double slack_ms = 0.0015;

/* Records of one correlation id, earliest start first. */
typedef struct group {
    const span_record *first;
    size_t count;
} group;

static int by_launch(const void *a, const void *b)
{
    const span_record *x = a;
    const span_record *y = b;
    if (x->correlation != y->correlation)
        return x->correlation < y->correlation ? -1 : 1;
    return (x->start > y->start) - (x->start < y->start);
}

bool span_agrees(double event_ms, double floor_ms, double busy_ms, double span_ms)
{
    const double call_ms = event_ms - floor_ms;
    const double slack = fmax(slack_share * span_ms, slack_ms);
    return call_ms >= busy_ms - slack && call_ms <= span_ms + slack;
}

static bool has_times(const span_record *records, size_t count, char *why, size_t size)
{
    for (size_t i = 0; i < count; i++)
        if (records[i].start == 0 || records[i].end < records[i].start) {
            snprintf(why, size, "incomplete: no timestamps of %s",
                     records[i].kind == SPAN_KERNEL ? records[i].name : "a copy or fill");
            return false;
        }
    return true;
}

static bool is_marker(const group *g, const char *marker)
{
    return g->count == 1 && g->first->graph == 0 && g->first->kind == SPAN_KERNEL &&
           strcmp(g->first->name, marker) == 0;
}

static group next_group(const span_record *records, size_t count, size_t *at)
{
    group g = {records + *at, 0};
    while (*at < count && records[*at].correlation == g.first->correlation) {
        g.count++;
        (*at)++;
    }
    return g;
}

/* find_samples lists at most `max` groups that follow a marker, and returns how many there are. */
static size_t find_samples(const span_record *records, size_t count, const char *marker, group *out,
                           size_t max)
{
    size_t found = 0;
    bool after = false;
    for (size_t at = 0; at < count;) {
        group g = next_group(records, count, &at);
        bool mark = is_marker(&g, marker);
        if (after && !mark) {
            if (found < max)
                out[found] = g;
            found++;
        }
        after = mark;
    }
    return found;
}

/* ---- the plan's kernels ---- */

static bool same_name(const char *record, const char *wanted)
{
    return strncmp(record, wanted, SPAN_NAME_MAX - 1) == 0;
}

static size_t launches_of(const group *g, const char *name)
{
    size_t n = 0;
    for (size_t i = 0; i < g->count; i++)
        n += g->first[i].kind == SPAN_KERNEL && (name == NULL || same_name(g->first[i].name, name));
    return n;
}

static size_t wanted_of(const span_want *want, const char *name)
{
    size_t n = 0;
    for (size_t i = 0; i < want->kernel_count; i++)
        n += name == NULL || strcmp(want->kernels[i], name) == 0;
    return n * want->calls;
}

static bool is_planned(const group *g, const span_want *want, char *why, size_t size)
{
    for (size_t i = 0; i <= want->kernel_count; i++) {
        const char *name = i < want->kernel_count ? want->kernels[i] : NULL;
        if (launches_of(g, name) != wanted_of(want, name)) {
            snprintf(why, size, "incomplete: %zu launches of %.100s were seen in a sample, not %zu",
                     launches_of(g, name), name != NULL ? name : "kernels", wanted_of(want, name));
            return false;
        }
    }
    return true;
}

static bool are_planned(const group *samples, const span_want *want, char *why, size_t size)
{
    for (size_t i = 0; i < want->samples; i++) {
        if (want->kernels != NULL && !is_planned(&samples[i], want, why, size))
            return false;
        if (samples[i].count != samples[0].count) {
            snprintf(why, size, "incomplete: one sample has %zu records, another %zu",
                     samples[0].count, samples[i].count);
            return false;
        }
    }
    return true;
}

/* ---- times ---- */

static void time_sample(const group *g, double *span_ms, double *busy_ms)
{
    uint64_t end = g->first->start;
    uint64_t busy = 0;
    for (size_t i = 0; i < g->count; i++) {
        const span_record *r = &g->first[i];
        uint64_t from = r->start > end ? r->start : end;
        if (r->end > from) {
            busy += r->end - from;
            end = r->end;
        }
    }
    *span_ms = (double)(end - g->first->start) / 1e6;
    *busy_ms = (double)busy / 1e6;
}

static bool same_launch(const span_kernel *k, const span_record *r)
{
    return strcmp(k->name, r->name) == 0 && memcmp(k->grid, r->grid, sizeof k->grid) == 0 &&
           memcmp(k->block, r->block, sizeof k->block) == 0 &&
           k->shared_dynamic == r->shared_dynamic;
}

static span_kernel *row_of(span_result *out, const span_record *r)
{
    for (size_t i = 0; i < out->kernel_count; i++)
        if (same_launch(&out->kernels[i], r))
            return &out->kernels[i];
    if (out->kernel_count == SPAN_KERNELS_MAX)
        return NULL;
    span_kernel *k = &out->kernels[out->kernel_count++];
    *k = (span_kernel){.registers = r->registers,
                       .shared_static = r->shared_static,
                       .shared_dynamic = r->shared_dynamic,
                       .local_bytes = r->local_bytes};
    memcpy(k->name, r->name, sizeof k->name);
    memcpy(k->grid, r->grid, sizeof k->grid);
    memcpy(k->block, r->block, sizeof k->block);
    return k;
}

static int by_share(const void *a, const void *b)
{
    const span_kernel *x = a;
    const span_kernel *y = b;
    double one = x->ms * x->launches;
    double other = y->ms * y->launches;
    return (one < other) - (one > other);
}

/* list_kernels sums up what ran in all samples; rows then tell of one call. */
static void list_kernels(const group *samples, const span_want *want, span_result *out)
{
    for (size_t i = 0; i < want->samples; i++)
        for (size_t j = 0; j < samples[i].count; j++) {
            const span_record *r = &samples[i].first[j];
            span_kernel *k = r->kind == SPAN_KERNEL ? row_of(out, r) : NULL;
            if (k != NULL) {
                k->launches++;
                k->ms += (double)(r->end - r->start) / 1e6;
            } else {
                out->kernels_left_out += r->kind == SPAN_KERNEL;
            }
        }
    for (size_t i = 0; i < out->kernel_count; i++) {
        span_kernel *k = &out->kernels[i];
        k->ms /= k->launches;
        k->launches /= (double)(want->samples * want->calls);
    }
    qsort(out->kernels, out->kernel_count, sizeof *out->kernels, by_share);
}

bool span_of(span_record *records, size_t count, const span_want *want, span_result *out, char *why,
             size_t size)
{
    group samples[SPAN_SAMPLES_MAX];
    memset(out, 0, sizeof *out);
    if (!has_times(records, count, why, size))
        return false;
    if (count > 0)
        qsort(records, count, sizeof *records, by_launch);
    size_t found = find_samples(records, count, want->marker, samples, SPAN_SAMPLES_MAX);
    if (found != want->samples || found > SPAN_SAMPLES_MAX || found == 0) {
        snprintf(why, size, "incomplete: %zu of %zu timed launches among %zu records", found,
                 want->samples, count);
        return false;
    }
    if (!are_planned(samples, want, why, size))
        return false;
    out->samples = found;
    out->nodes = (double)samples[0].count / (double)want->calls;
    for (size_t i = 0; i < found; i++)
        time_sample(&samples[i], &out->span_ms[i], &out->busy_ms[i]);
    list_kernels(samples, want, out);
    return true;
}
