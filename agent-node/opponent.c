/* opponent - see opponent.h.
 *
 * SPDX-License-Identifier: MIT */
#include "agent-node/opponent.h"

#include <string.h>

#include "common/scoped.h"

void opponent_init(opponent *self, const char *mode, const candidate *rival)
{
    *self = (opponent){.mode = mode, .rival = rival};
}

void opponent_fini(opponent *self)
{
    trial_fini(&self->trial);
}

static int want_ok(const runner_verdict *verdict, err *e)
{
    return verdict_is_ok(verdict)
               ? 0
               : err_set(e, ERR_GPU, "the kernel that is compared with failed (%s): %s",
                         outcome_name(verdict->result), verdict->text);
}

int opponent_ahead(opponent *self, const lane *held, err *e)
{
    return self->rival != NULL ? trial_ahead(&self->trial, held, e) : 0;
}

/* ---- a rival in a runner ---- */

static int open_rival(opponent *self, const trial *candidate_side, lane *held, err *e)
{
    runner_verdict verdict;
    verdict_ok(&verdict);
    if (self->trial.p == NULL) { /* not trial_open: the judge keeps what it has drawn */
        self->trial =
            (trial){.p = candidate_side->p, .c = self->rival, .judge = candidate_side->judge};
    }
    int rc = trial_renew(&self->trial, held, &verdict, e);
    return rc != 0 ? -1 : want_ok(&verdict, e);
}

static int arm_rival(opponent *self, const opponent_arm *request, err *e)
{
    SCOPED(runner_timing_fini) runner_timing armed = {0};
    const contract *terms = self->trial.p->terms;
    runner_arm arm = {.terms = terms,
                      .shape = &terms->benchmark,
                      .staging = request->staging,
                      .slots = request->slots,
                      .chained = request->chained,
                      .settle = request->settle,
                      .salt = request->salt,
                      .deadline_ms = request->deadline_ms};
    return runner_proc_arm(self->trial.runner, &arm, &armed, e) != 0 ? -1
                                                                     : want_ok(&armed.verdict, e);
}

static int take_rival(opponent *self, opponent_block *block, err *e)
{
    SCOPED(runner_timing_fini) runner_timing timing = {0};
    runner_block request = {.samples = block->samples,
                            .untimed = block->untimed,
                            .keep = -1,
                            .deadline_ms = block->deadline_ms};
    if (runner_proc_block(self->trial.runner, &request, &timing, e) != 0 ||
        want_ok(&timing.verdict, e) != 0) {
        return -1;
    }
    memcpy(block->ms, timing.samples, (size_t)block->samples * sizeof *block->ms);
    block->host_ms = timing.host_ms;
    block->event_ms = timing.event_ms;
    block->suspect = timing.suspect > 0;
    return 0;
}

static int disarm_rival(opponent *self, bool *sound, err *e)
{
    runner_verdict verdict;
    verdict_ok(&verdict);
    int rc = runner_proc_disarm(self->trial.runner, &verdict, e);
    *sound = verdict_is_ok(&verdict);
    runner_proc_destroy(&self->trial.runner);
    return rc;
}

/* ---- a baseline in the judge ---- */

static int take_baseline(const opponent *self, opponent_block *block, err *e)
{
    SCOPED(judge_timing_fini) judge_timing timing = {0};
    if (judge_block(self->judge, block->samples, block->untimed, &timing, e) != 0) {
        return -1;
    }
    memcpy(block->ms, timing.samples, (size_t)block->samples * sizeof *block->ms);
    block->host_ms = timing.host_ms;
    block->event_ms = timing.event_ms;
    block->suspect = timing.suspect > 0;
    return 0;
}

static int disarm_baseline(const opponent *self, bool *sound, err *e)
{
    SCOPED(judge_comparison_fini) judge_comparison left = {0};
    if (judge_disarm(self->judge, &left, e) != 0) {
        return -1;
    }
    *sound = left.equal;
    return 0;
}

/* ---- either ---- */

int opponent_arm_in(opponent *self, const trial *candidate_side, lane *held,
                    const opponent_arm *request, err *e)
{
    SCOPED(judge_timing_fini) judge_timing armed = {0};
    self->judge = candidate_side->judge;
    if (self->rival != NULL) {
        return open_rival(self, candidate_side, held, e) != 0 ? -1 : arm_rival(self, request, e);
    }
    judge_arm_request arm = {
        .mode = self->mode, .chained = request->chained, .settle = request->settle};
    return judge_arm(self->judge, &arm, &armed, e);
}

int opponent_take(opponent *self, opponent_block *block, err *e)
{
    return self->rival != NULL ? take_rival(self, block, e) : take_baseline(self, block, e);
}

int opponent_disarm(opponent *self, bool *sound, err *e)
{
    return self->rival != NULL ? disarm_rival(self, sound, e) : disarm_baseline(self, sound, e);
}
