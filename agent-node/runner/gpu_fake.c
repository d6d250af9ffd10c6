/* gpu_fake - the scripted device: outcomes and times from a file, no memory, no kernels
 *
 * Tests of everything above the device run on it; nothing it says is ever ranked. `crash` aborts the
 * process and `hang` never answers, so that the client meets the real thing.
 *
 * SPDX-License-Identifier: MIT */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent-node/runner/fake_script.h"
#include "agent-node/runner/gpu.h"
#include "common/xalloc.h"

typedef struct gpu_fake {
    gpu base;
    fake_script script;
    size_t next; /* scripted time */
} gpu_fake;

static void fake_close(gpu *self)
{
    free((gpu_fake *)self);
}

static const fake_phase nothing_happens = {.verdict = {.result = OUTCOME_OK}};

static const fake_phase *phase_of(const gpu_fake *g, gpu_phase phase)
{
    switch (phase) {
    case GPU_PHASE_LOAD:
        return &g->script.load;
    case GPU_PHASE_CHECK:
        return &g->script.check;
    case GPU_PHASE_ARM:
        return &nothing_happens;
    case GPU_PHASE_TIME:
    case GPU_PHASE_WARM:
        return &g->script.time;
    }
    return &g->script.check;
}

/* answer goes through the scripted times again and again, block after block. */
static void answer(gpu_fake *g, bool warm, gpu_timing *timing)
{
    const fake_script *script = &g->script;
    timing->event_ms = 0;
    for (size_t i = 0; i < timing->sample_count; i++) {
        timing->samples[i] =
            warm ? script->warm_ms : script->candidate_ms[g->next++ % script->candidate_count];
        timing->event_ms += timing->samples[i];
    }
    timing->host_ms = timing->event_ms;
    timing->event_floor_ms = 0.001;
    timing->warmup_calls = 1;
}

static int fake_answer(gpu *self, gpu_phase phase, gpu_timing *timing, runner_verdict *out, err *e)
{
    gpu_fake *g = (gpu_fake *)self;
    const fake_phase *p = phase_of(g, phase);
    (void)e;
    if (phase == GPU_PHASE_CHECK)
        usleep((useconds_t)g->script.delay_ms * 1000);
    if (p->crash)
        abort();
    while (p->hang)
        pause();
    *out = p->verdict;
    if (timing != NULL && verdict_is_ok(out))
        answer(g, phase == GPU_PHASE_WARM, timing);
    return 0;
}

static char *fake_profile(gpu *self, const gpu_profile_job *job)
{
    const gpu_fake *g = (gpu_fake *)self;
    (void)job;
    return xstrdup(g->script.profile[0] != '\0'
                       ? g->script.profile
                       : "{\"counters\":{\"unavailable\":\"not scripted\"},"
                         "\"kernels\":[],\"library\":null,"
                         "\"spans\":{\"unavailable\":\"not scripted\"}}");
}

static const gpu_ops fake_ops = {
    .kind = "fake", .close = fake_close, .script = fake_answer, .profile = fake_profile};

gpu *gpu_fake_open(const gpu_options *options, err *e)
{
    gpu_fake *g = xcalloc(1, sizeof *g);
    g->base.ops = &fake_ops;
    g->base.facts = (gpu_facts){.kind = "fake",
                                .name = "fake",
                                .uuid = "GPU-fake",
                                .arch = "sm_90a",
                                .cc = 90,
                                .sm_count = 132,
                                .l2_bytes = 62914560,
                                .shared_per_block = 232448,
                                .threads_per_block = 1024,
                                .driver = 13000,
                                .grid_max = {2147483647, 65535, 65535},
                                .block_max = {1024, 1024, 64}};
    fake_script_init(&g->script);
    if (options->fake_script != NULL &&
        fake_script_load(&g->script, options->fake_script, options->problem, e) < 0) {
        fake_close(&g->base);
        return NULL;
    }
    g->base.facts.memory_bytes = g->script.memory_bytes;
    return &g->base;
}
