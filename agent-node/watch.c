/* watch - see watch.h.
 *
 * SPDX-License-Identifier: MIT */
#include "agent-node/watch.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/clock.h"
#include "common/json_doc.h"
#include "common/scoped.h"
#include "common/xalloc.h"

enum { PERIOD_MS = 15, READINGS_MAX = 8192, RECENT = 16 };

static const int64_t hard_reasons =
    NVML_HW_SLOWDOWN | NVML_SW_THERMAL | NVML_HW_THERMAL | NVML_HW_BRAKE;
static const double clock_share = 0.75; /* of the default SM clock, at least */
static const double calm_gap = 0.02;    /* of the last two SM clocks of a warm-up, at most */
static const double clock_gap = 0.03;   /* between the two blocks of a pair, at most */

struct watch {
    nvml *card; /* NULL: fake, or unavailable */
    nvml_facts facts;
    nvml_reading scripted; /* fake: every reading */
    char unavailable[240];
    pthread_mutex_t lock;
    pthread_cond_t wake;
    pthread_t thread;
    bool running, stopping;
    nvml_reading *readings; /* the newest READINGS_MAX; older ones are given up */
    size_t count;           /* taken in all */
};

/* ---- readings ---- */

static int64_t take(watch *w)
{
    nvml_reading now = w->scripted;
    if (w->card != NULL)
        nvml_read(w->card, &now);
    now.at_us = clock_mono_us();
    pthread_mutex_lock(&w->lock);
    w->readings[w->count++ % READINGS_MAX] = now;
    pthread_mutex_unlock(&w->lock);
    return now.at_us;
}

static bool nap(watch *w)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += PERIOD_MS * 1000000L;
    until.tv_sec += until.tv_nsec / 1000000000L;
    until.tv_nsec %= 1000000000L;
    pthread_mutex_lock(&w->lock);
    while (!w->stopping && pthread_cond_timedwait(&w->wake, &w->lock, &until) != ETIMEDOUT)
        continue;
    bool on = !w->stopping;
    pthread_mutex_unlock(&w->lock);
    return on;
}

static void *run(void *arg)
{
    watch *w = arg;
    while (nap(w))
        take(w);
    return NULL;
}

/* ---- the fake card ---- */

static int64_t scripted(const json *state, const char *key, int64_t otherwise)
{
    return json_int(json_get(state, key), otherwise);
}

/* The members of "state" are checked where the whole script is (judge_fake.c). */
static void read_script(watch *w, const watch_options *options)
{
    SCOPED(json_doc_destroy)
    json_doc *doc = options->fake_script != NULL ? json_load(options->fake_script, NULL) : NULL;
    const json *root = doc != NULL ? json_doc_root(doc) : NULL;
    const json *all = json_get(json_get(root, "default"), "state");
    const json *own =
        options->problem != NULL
            ? json_get(json_get(json_get(root, "problems"), options->problem), "state")
            : NULL;
    const json *state = own != NULL ? own : all;
    w->scripted = (nvml_reading){.sm_mhz = scripted(state, "sm_mhz", 1980),
                                 .memory_mhz = 3201,
                                 .power_mw = -1,
                                 .celsius = -1,
                                 .reasons = scripted(state, "reasons", 0),
                                 .foreign = scripted(state, "foreign", 0)};
    w->facts = (nvml_facts){.ecc = -1,
                            .mig = scripted(state, "mig", 0),
                            .mps = scripted(state, "mps", 0),
                            .persistence = -1,
                            .power_limit_mw = -1,
                            .sm_default_mhz = 1980,
                            .sm_max_mhz = 1980,
                            .memory_max_mhz = 3201};
}

/* ---- life ---- */

watch *watch_start(const watch_options *options)
{
    watch *w = xcalloc(1, sizeof *w);
    err e = {0};
    w->readings = xcalloc(READINGS_MAX, sizeof *w->readings);
    pthread_mutex_init(&w->lock, NULL);
    pthread_condattr_t monotonic; /* the wall clock may be set back meanwhile */
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&w->wake, &monotonic);
    pthread_condattr_destroy(&monotonic);
    if (strcmp(options->kind, "fake") == 0)
        read_script(w, options);
    else if ((w->card = nvml_open(options->uuid, &e)) != NULL)
        nvml_get_facts(w->card, &w->facts);
    else
        snprintf(w->unavailable, sizeof w->unavailable, "%s", e.text);
    if (w->card != NULL)
        w->running = pthread_create(&w->thread, NULL, run, w) == 0;
    return w;
}

void watch_stop(watch **self)
{
    watch *w = TAKE(*self);
    if (w == NULL)
        return;
    pthread_mutex_lock(&w->lock);
    w->stopping = true;
    pthread_cond_signal(&w->wake);
    pthread_mutex_unlock(&w->lock);
    if (w->running)
        pthread_join(w->thread, NULL);
    nvml_close(&w->card);
    pthread_mutex_destroy(&w->lock);
    pthread_cond_destroy(&w->wake);
    free(w->readings);
    free(w);
}

/* ---- rules ---- */

const char *watch_unavailable(const watch *self)
{
    return self->unavailable[0] != '\0' ? self->unavailable : NULL;
}

const char *watch_refuses(watch *self)
{
    if (self->unavailable[0] != '\0')
        return "state";
    if (self->facts.mig != 0 && self->facts.mig != -1)
        return "mig";
    if (self->facts.mps == 1)
        return "mps";
    if (self->facts.display == 1)
        return "display";
    take(self);
    return self->readings[(self->count - 1) % READINGS_MAX].foreign > 0 ? "contention" : NULL;
}

static bool is_busy(const nvml_reading *r)
{
    return r->sm_mhz > 0 && (r->reasons <= 0 || (r->reasons & NVML_IDLE) == 0);
}

bool watch_is_calm(const nvml_reading *readings, size_t count)
{
    const nvml_reading *last = NULL;
    for (size_t i = count; i-- > 0;) {
        const nvml_reading *r = &readings[i];
        if (!is_busy(r))
            continue;
        if (last != NULL)
            return fabs((double)(r->sm_mhz - last->sm_mhz)) <= calm_gap * (double)r->sm_mhz;
        last = r;
    }
    return true;
}

bool watch_calm(watch *self)
{
    nvml_reading recent[RECENT];
    pthread_mutex_lock(&self->lock);
    size_t count = self->count < RECENT ? self->count : RECENT;
    for (size_t i = 0; i < count; i++)
        recent[i] = self->readings[(self->count - count + i) % READINGS_MAX];
    pthread_mutex_unlock(&self->lock);
    return watch_is_calm(recent, count);
}

int64_t watch_edge(watch *self)
{
    return take(self);
}

static void add(watch_span *span, const nvml_reading *r, double *sum)
{
    span->readings++;
    if (r->reasons > 0)
        span->reasons |= r->reasons;
    if (r->foreign > span->foreign)
        span->foreign = r->foreign;
    if (!is_busy(r))
        return;
    span->busy++;
    *sum += (double)r->sm_mhz;
    if (span->sm_min_mhz < 0 || r->sm_mhz < span->sm_min_mhz)
        span->sm_min_mhz = r->sm_mhz;
}

void watch_between(watch *self, int64_t from_us, int64_t to_us, watch_span *out)
{
    double sum = 0;
    *out = (watch_span){.sm_min_mhz = -1, .foreign = -1};
    pthread_mutex_lock(&self->lock);
    size_t kept = self->count < READINGS_MAX ? self->count : READINGS_MAX;
    for (size_t i = 0; i < kept; i++) {
        const nvml_reading *r = &self->readings[(self->count - 1 - i) % READINGS_MAX];
        if (r->at_us < from_us)
            break;
        if (r->at_us <= to_us)
            add(out, r, &sum);
    }
    pthread_mutex_unlock(&self->lock);
    out->sm_mean_mhz = out->busy > 0 ? sum / (double)out->busy : (double)NAN;
}

static bool is_slow(const watch *w, const watch_span *s)
{
    double least = clock_share * (double)w->facts.sm_default_mhz;
    return (s->reasons & hard_reasons) != 0 ||
           (s->sm_min_mhz >= 0 && (double)s->sm_min_mhz < least);
}

const char *watch_void(const watch *self, const watch_span *a, const watch_span *b)
{
    if (a->foreign > 0 || b->foreign > 0)
        return "contention";
    if (is_slow(self, a) || is_slow(self, b))
        return "throttle";
    double gap = fabs(a->sm_mean_mhz - b->sm_mean_mhz); /* NaN compares as false */
    return gap > clock_gap * fmin(a->sm_mean_mhz, b->sm_mean_mhz) ? "throttle" : NULL;
}

/* ---- for the store ---- */

static json *facts_json(const nvml_facts *f)
{
    json *out = json_new_object();
    json_set_str(out, "driver", f->driver);
    json_set_str(out, "vbios", f->vbios);
    json_set_int(out, "ecc", f->ecc);
    json_set_int(out, "mig", f->mig);
    json_set_int(out, "mps", f->mps);
    json_set_int(out, "persistence", f->persistence);
    json_set_int(out, "display", f->display);
    json_set_int(out, "power_limit_mw", f->power_limit_mw);
    json_set_int(out, "sm_default_mhz", f->sm_default_mhz);
    json_set_int(out, "sm_max_mhz", f->sm_max_mhz);
    json_set_int(out, "memory_max_mhz", f->memory_max_mhz);
    return out;
}

static json *reading_json(const nvml_reading *r, int64_t start_us)
{
    const int64_t values[] = {r->at_us - start_us, r->sm_mhz,  r->memory_mhz, r->power_mw,
                              r->celsius,          r->reasons, r->foreign};
    json *out = json_new_array();
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        json *value = json_new_int(values[i]);
        json_append(out, &value);
    }
    return out;
}

json *watch_json(watch *self)
{
    json *out = json_new_object();
    json *facts = facts_json(&self->facts);
    json *list = json_new_array();
    bool told = false;
    pthread_mutex_lock(&self->lock);
    size_t kept = self->count < READINGS_MAX ? self->count : READINGS_MAX;
    size_t first = self->count - kept;
    for (size_t i = first; i < self->count; i++) {
        const nvml_reading *r = &self->readings[i % READINGS_MAX];
        json *one = reading_json(r, self->readings[first % READINGS_MAX].at_us);
        json_append(list, &one);
        told |= r->foreign >= 0;
    }
    pthread_mutex_unlock(&self->lock);
    json_set(out, "facts", &facts);
    json_set_str(out, "clock_policy", "observed");
    json_set_str(out, "foreign_check", told ? "done" : "unavailable");
    json_set_str(out, "unavailable", self->unavailable[0] != '\0' ? self->unavailable : NULL);
    json_set(out, "readings", &list);
    return out;
}

json *watch_span_json(const watch_span *span)
{
    json *out = json_new_object();
    json_set_int(out, "readings", (int64_t)span->readings);
    json_set_int(out, "busy", (int64_t)span->busy);
    json_set_real(out, "sm_mean_mhz", span->sm_mean_mhz);
    json_set_int(out, "reasons", span->reasons);
    json_set_int(out, "foreign", span->foreign);
    return out;
}
