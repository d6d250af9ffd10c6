/* judge_spy - looks over the shoulder of a lane's judge, and jogs its elbow
 *
 * SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/support/judge_spy.h"

#include <stdio.h>

static int jog(judge_spy *self, judge_spy_fn *hook, size_t number, err *e)
{
    return hook != NULL ? hook(self, number, e) : 0;
}

static void spy_destroy(void *impl)
{
    judge_spy *self = impl;
    self->ops->destroy(self->impl);
}

static int spy_open(void *impl, const contract *terms, const char *reference, const char *file,
                    err *e)
{
    judge_spy *self = impl;
    if (jog(self, self->on_open, self->opens++, e) != 0) {
        return -1;
    }
    return self->ops->open(self->impl, terms, reference, file, e);
}

static int spy_contract(void *impl, judge_contract_report *out, err *e)
{
    judge_spy *self = impl;
    return self->ops->contract(self->impl, out, e);
}

static int spy_validate(void *impl, judge_validation *out, err *e)
{
    judge_spy *self = impl;
    return self->ops->validate(self->impl, out, e);
}

static int spy_draw(void *impl, const judge_draw_request *request, judge_staging *out, err *e)
{
    judge_spy *self = impl;
    assert_true(self->draw_count < JUDGE_SPY_DRAWS);
    judge_spy_draw *seen = &self->draws[self->draw_count];
    *seen =
        (judge_spy_draw){.shape = *request->shape, .seed = request->seed, .slots = request->slots};
    snprintf(seen->family, sizeof(seen->family), "%s", request->family);
    if (jog(self, self->on_draw, self->draw_count++, e) != 0) {
        return -1;
    }
    return self->ops->draw(self->impl, request, out, e);
}

static int spy_compare(void *impl, int64_t slot, int64_t salt, judge_comparison *out, err *e)
{
    judge_spy *self = impl;
    size_t number = self->compares++;
    if (jog(self, self->on_compare, number, e) != 0 ||
        self->ops->compare(self->impl, slot, salt, out, e) != 0) {
        return -1;
    }
    if (self->wrong_from > 0 && number >= self->wrong_from) {
        out->equal = false;
        snprintf(out->detail, sizeof(out->detail), "%s",
                 self->wrong_detail != NULL ? self->wrong_detail : "element");
        snprintf(out->text, sizeof(out->text), "element 3 is off by 2 ulp");
    }
    return 0;
}

static int spy_baseline(void *impl, const judge_baseline_request *request, judge_baseline *out,
                        err *e)
{
    judge_spy *self = impl;
    snprintf(self->winner, sizeof(self->winner), "%s",
             request->winner != NULL ? request->winner : "");
    if (jog(self, self->on_baseline, self->baselines++, e) != 0) {
        return -1;
    }
    return self->ops->baseline(self->impl, request, out, e);
}

static int spy_arm(void *impl, const judge_arm_request *request, judge_timing *out, err *e)
{
    judge_spy *self = impl;
    self->arms++;
    self->chained = request->chained;
    self->settled += request->settle;
    return self->ops->arm(self->impl, request, out, e);
}

static int spy_block(void *impl, int64_t samples, int64_t untimed, judge_timing *out, err *e)
{
    judge_spy *self = impl;
    self->blocks++;
    return self->ops->block(self->impl, samples, untimed, out, e);
}

static int spy_disarm(void *impl, judge_comparison *out, err *e)
{
    judge_spy *self = impl;
    return self->ops->disarm(self->impl, out, e);
}

static char *spy_profile(void *impl, int64_t samples, const char *library, err *e)
{
    judge_spy *self = impl;
    self->profiles++;
    return self->ops->profile(self->impl, samples, library, e);
}

static const judge_ops spy_ops = {spy_destroy, spy_open,    spy_contract, spy_validate,
                                  spy_draw,    spy_compare, spy_baseline, spy_arm,
                                  spy_block,   spy_disarm,  spy_profile};

void judge_spy_install(judge_spy *self, lanes *all)
{
    atomic_bool never = false;
    err e = {0};
    lane *held = lanes_acquire(all, lanes_facts(all, 0)->arch, NULL, &never, &e);
    judge *j = held != NULL ? lane_judge(held, &e) : NULL;
    if (j == NULL) {
        fail_msg("%s", e.text);
    }
    self->ops = j->ops;
    self->impl = j->impl;
    j->ops = &spy_ops;
    j->impl = self;
    lanes_release(all, &held);
}
