/* timer - see timer.h.
 *
 * SPDX-License-Identifier: MIT */
#include "agent-node/runner/timer.h"

#include "agent-node/runner/fault.h"
#include "agent-node/runner/timing/ce_timing.h"

/* explain: what the library could not do is the candidate's fault, or an err. */
static int explain(const ce_timing_out *t, int64_t deadline_ms, runner_verdict *out, err *e)
{
    if (t->code == CE_TIMING_TIMEOUT) {
        verdict_set(out, OUTCOME_HUNG, NULL, "the kernels did not finish within %lld ms",
                    (long long)deadline_ms);
        return 0;
    }
    if (t->code == CE_TIMING_CUDA && fault_judge(t->native, FAULT_AT_WAIT, NULL, out))
        return 0;
    err_code code = t->code == CE_TIMING_MEMORY     ? ERR_LIMIT
                    : t->code == CE_TIMING_ARGUMENT ? ERR_INTERNAL
                                                    : ERR_GPU;
    return err_native(e, code, t->native != 0 ? ERR_DOMAIN_CUDA : ERR_DOMAIN_NONE, t->native,
                      "timing: %s", t->text);
}

static int32_t keep_slot(void *arg, uint32_t slot)
{
    const timer *t = arg;
    return t->keep(t->keep_arg, slot) == 0 ? 0 : -1;
}

int timer_open(timer *self, const gpu_time_job *job, const timer_graphs *graphs, gpu_timing *timing,
               runner_verdict *out, err *e)
{
    ce_timing_job j = {.size = sizeof j,
                       .slots = (uint32_t)job->slot_count,
                       .graphs = graphs->calls,
                       .prepare = graphs->prepare,
                       .stream = graphs->stream,
                       .l2_bytes = (uint64_t)graphs->l2_bytes,
                       .chained = job->chained,
                       .settle = job->settle,
                       .warmup_ms = job->settle ? 0 : 1,
                       .deadline_ms = (uint32_t)job->deadline_ms,
                       .keep = job->keep != NULL ? keep_slot : NULL,
                       .keep_arg = self};
    ce_timing_out t = {.size = sizeof t};
    self->keep = job->keep;
    self->keep_arg = job->keep_arg;
    self->session = ce_timing_open(&j, &t);
    if (self->session == NULL)
        return explain(&t, job->deadline_ms, out, e);
    timing->event_floor_ms = t.event_floor_ms;
    timing->warmup_calls = t.warmup_calls;
    return 0;
}

int timer_block(timer *self, const gpu_block *block, gpu_timing *timing, runner_verdict *out,
                err *e)
{
    if (self->session == NULL || block->samples > CE_TIMING_SAMPLES_MAX)
        return err_set(e, ERR_PROTOCOL, "nothing is armed, or %zu samples are too many",
                       block->samples);
    ce_timing_ask ask = {.size = sizeof ask,
                         .samples = (uint32_t)block->samples,
                         .untimed = (uint32_t)block->untimed,
                         .keep = (int32_t)block->keep,
                         .deadline_ms = (uint32_t)block->deadline_ms,
                         .warm = block->warm};
    ce_timing_out t = {.size = sizeof t, .samples = timing->samples};
    if (ce_timing_block(self->session, &ask, &t) < 0)
        return explain(&t, block->deadline_ms, out, e);
    timing->sample_count = t.sample_count;
    timing->host_ms = t.host_ms;
    timing->event_ms = t.event_ms;
    timing->voided = t.voided;
    timing->suspect = t.suspect;
    return 0;
}

void timer_close(timer *self)
{
    ce_timing_close(&self->session);
    *self = (timer){0};
}
