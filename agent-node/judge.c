/* judge - the trusted side of a device lane: dispatch to a back end, and the results' memory
 *
 * SPDX-License-Identifier: MIT */
#include "agent-node/judge.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "agent-node/judge_fake.h"
#include "agent-node/judge_ops.h"
#include "common/python.h"
#include "agent-node/judge_torch.h"
#include "common/hash.h"
#include "common/scoped.h"
#include "common/stats.h"
#include "common/xalloc.h"

const char *const judge_modes[] = {"eager", "default", "max-autotune-no-cudagraphs", NULL};

judge *judge_start(const judge_options *options, err *e)
{
    SCOPED(judge_destroy) judge *self = xcalloc(1, sizeof *self);
    bool fake = strcmp(options->device, "fake") == 0;
    int rc = fake ? judge_fake_start(options, self, e) : judge_torch_start(options, self, e);
    return rc < 0 ? NULL : TAKE(self);
}

void judge_destroy(judge **self)
{
    judge *j = TAKE(*self);
    if (j == NULL)
        return;
    if (j->ops != NULL)
        j->ops->destroy(j->impl);
    free(j);
}

char *judge_find_python(const char *given, err *e)
{
    return python_find(given, e);
}

const judge_facts *judge_get_facts(const judge *self)
{
    return &self->facts;
}

int judge_open(judge *self, const contract *terms, const char *reference,
               const char *reference_file, err *e)
{
    self->opened = false;
    if (self->ops->open(self->impl, terms, reference, reference_file, e) < 0)
        return -1;
    self->opened = true;
    return 0;
}

static int want_open(const judge *self, err *e)
{
    return self->opened ? 0 : err_set(e, ERR_INTERNAL, "judge: no problem is open");
}

int judge_contract(judge *self, judge_contract_report *out, err *e)
{
    return want_open(self, e) < 0 ? -1 : self->ops->contract(self->impl, out, e);
}

int judge_validate(judge *self, judge_validation *out, err *e)
{
    return want_open(self, e) < 0 ? -1 : self->ops->validate(self->impl, out, e);
}

int judge_draw(judge *self, const judge_draw_request *request, judge_staging *out, err *e)
{
    if (want_open(self, e) < 0)
        return -1;
    if (request->slots < 1 || request->slots > JUDGE_SLOTS_MAX)
        return err_set(e, ERR_LIMIT, "judge: %lld slots (1 to %d)", (long long)request->slots,
                       JUDGE_SLOTS_MAX);
    return self->ops->draw(self->impl, request, out, e);
}

int judge_compare(judge *self, int64_t slot, int64_t salt, judge_comparison *out, err *e)
{
    return want_open(self, e) < 0 ? -1 : self->ops->compare(self->impl, slot, salt, out, e);
}

int judge_baseline_run(judge *self, const judge_baseline_request *request, judge_baseline *out,
                       err *e)
{
    if (want_open(self, e) < 0)
        return -1;
    if (request->slots < 1 || request->slots > JUDGE_SLOTS_MAX || request->samples < 1)
        return err_set(e, ERR_LIMIT, "judge: %lld slots (1 to %d), %lld samples",
                       (long long)request->slots, JUDGE_SLOTS_MAX, (long long)request->samples);
    return self->ops->baseline(self->impl, request, out, e);
}

int judge_arm(judge *self, const judge_arm_request *request, judge_timing *out, err *e)
{
    return want_open(self, e) < 0 ? -1 : self->ops->arm(self->impl, request, out, e);
}

int judge_block(judge *self, int64_t samples, int64_t untimed, judge_timing *out, err *e)
{
    if (want_open(self, e) < 0)
        return -1;
    if (samples < 1 || untimed < 0)
        return err_set(e, ERR_LIMIT, "judge: %lld samples after %lld calls", (long long)samples,
                       (long long)untimed);
    return self->ops->block(self->impl, samples, untimed, out, e);
}

char *judge_profile(judge *self, int64_t samples, const char *library, err *e)
{
    return want_open(self, e) < 0 ? NULL : self->ops->profile(self->impl, samples, library, e);
}

int judge_disarm(judge *self, judge_comparison *out, err *e)
{
    return want_open(self, e) < 0 ? -1 : self->ops->disarm(self->impl, out, e);
}

/* ---- results ---- */

void judge_validation_fini(judge_validation *self)
{
    free(self->json);
    *self = (judge_validation){0};
}

void judge_timing_fini(judge_timing *self)
{
    free(self->samples);
    *self = (judge_timing){0};
}

void judge_contract_report_fini(judge_contract_report *self)
{
    free(self->json);
    *self = (judge_contract_report){0};
}

void judge_staging_fini(judge_staging *self)
{
    free(self->inputs);
    free(self->outputs);
    *self = (judge_staging){0};
}

void judge_comparison_fini(judge_comparison *self)
{
    free(self->report_json);
    *self = (judge_comparison){0};
}

static void mode_fini(judge_mode *self)
{
    free(self->row.side);
    free(self->row.mode);
    free(self->row.shape);
    free(self->row.reason);
    free(self->row.l2);
    free(self->samples_text);
}

void judge_baseline_fini(judge_baseline *self)
{
    for (size_t i = 0; i < self->mode_count; i++)
        mode_fini(&self->modes[i]);
    free(self->modes);
    free(self->winner);
    free(self->cache);
    *self = (judge_baseline){0};
}

/* ---- for back ends ---- */

void judge_mode_fill(judge_mode *mode, const char *name, const char *shape, int64_t slots)
{
    *mode = (judge_mode){.row = {.side = xstrdup("baseline"),
                                 .mode = xstrdup(name),
                                 .shape = xstrdup(shape),
                                 .median_ms = (double)NAN,
                                 .slots = slots,
                                 .l2 = xstrdup("cold"),
                                 .event_floor_ms = (double)NAN},
                         .compile_s = (double)NAN};
}

void judge_mode_samples(judge_mode *mode, const json *samples)
{
    size_t count = json_size(samples);
    if (count == 0)
        return;
    SCOPED(scoped_free) double *values = xcalloc(count, sizeof *values);
    for (size_t i = 0; i < count; i++)
        values[i] = json_real(json_at(samples, i), (double)NAN);
    mode->row.median_ms = stats_median(values, count);
    mode->row.sample_count = (int64_t)count;
    mode->samples_text = json_dump(samples);
    mode->row.samples = hash_of_text(mode->samples_text);
}

void judge_baseline_choose(judge_baseline *self)
{
    judge_mode *best = NULL;
    for (size_t i = 0; i < self->mode_count; i++) {
        judge_mode *mode = &self->modes[i];
        bool span = mode->row.l2 != NULL; /* not the host's clock */
        if (span && !isnan(mode->row.median_ms) &&
            (best == NULL || mode->row.median_ms < best->row.median_ms))
            best = mode;
    }
    if (best == NULL)
        return;
    best->row.winner = true;
    self->winner = xstrdup(best->row.mode);
}
