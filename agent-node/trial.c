/* trial - a candidate on a device: the judge has its problem open, a fresh runner has it loaded
 *
 * SPDX-License-Identifier: MIT */
#include "agent-node/trial.h"

#include <string.h>

#include "common/file.h"
#include "common/scoped.h"
#include "common/xalloc.h"

static runner_proc *spawn_runner(const trial *self, const lane *held, err *e)
{
    const pipeline *p = self->p;
    SCOPED(scoped_free) char *here = file_self_dir(e);
    if (here == NULL) {
        return NULL;
    }
    SCOPED(scoped_free) char *binary = file_join(here, "ce-runner");
    runner_options options = {.binary = binary,
                              .device = lane_get_facts(held)->device,
                              .fake_script = p->node->settings->fake,
                              .problem =
                                  self->c->alias != NULL ? self->c->alias : p->spec->problem};
    return runner_proc_spawn(&options, e);
}

static int load(trial *self, lane *held, runner_verdict *verdict, err *e)
{
    const candidate *c = self->c;
    self->runner = self->next != NULL ? TAKE(self->next) : spawn_runner(self, held, e);
    if (self->runner == NULL) {
        return -1;
    }
    const bool emu = strcmp(lane_get_facts(held)->kind, "emu") == 0;
    const message_bytes *code = emu ? &c->compiled.ptx : &c->compiled.cubin;
    runner_candidate loaded = {.cubin = code->data,
                               .cubin_size = code->size,
                               .contract = self->p->spec->contract,
                               .plan = c->plan_text,
                               .kernels = c->compiled.kernels,
                               .kernel_count = c->compiled.kernel_count};
    if (runner_proc_load(self->runner, &loaded, verdict, e) != 0) {
        return -1;
    }
    const char *uuid = runner_proc_facts(self->runner)->uuid, *own = lane_get_facts(held)->uuid;
    if (uuid != NULL && uuid[0] != '\0' && own[0] != '\0' && strcmp(uuid, own) != 0) {
        return err_set(e, ERR_CONFIG, "%s was %s and is %s for a runner: devices have changed",
                       lane_get_facts(held)->device, own, uuid);
    }
    return 0;
}

int trial_open(trial *self, const pipeline *p, lane *held, const candidate *c,
               runner_verdict *verdict, err *e)
{
    *self = (trial){.p = p, .c = c};
    self->judge = lane_judge(held, e);
    if (self->judge == NULL ||
        judge_open(self->judge, p->terms, p->reference, p->spec->reference_file, e) != 0) {
        return -1;
    }
    return load(self, held, verdict, e);
}

int trial_renew(trial *self, lane *held, runner_verdict *verdict, err *e)
{
    runner_proc_destroy(&self->runner);
    return load(self, held, verdict, e);
}

int trial_ahead(trial *self, const lane *held, err *e)
{
    if (self->next == NULL) {
        self->next = spawn_runner(self, held, e);
    }
    return self->next != NULL ? 0 : -1;
}

void trial_fini(trial *self)
{
    runner_proc_destroy(&self->runner);
    runner_proc_destroy(&self->next);
}

static int64_t seed_from(const hash_part *parts, size_t count)
{
    hash h = hash_list(parts, count);
    uint64_t bits = 0;
    memcpy(&bits, h.bytes, sizeof(bits));
    return (int64_t)(bits >> 2);
}

int64_t trial_seed(const task_spec *spec, const char *purpose, int64_t number)
{
    const hash_part parts[] = {{"seed", &spec->seed, sizeof(spec->seed)},
                               {"problem", spec->problem, strlen(spec->problem)},
                               {"sample", &spec->sample, sizeof(spec->sample)},
                               {"purpose", purpose, strlen(purpose)},
                               {"number", &number, sizeof(number)}};
    return seed_from(parts, sizeof(parts) / sizeof(parts[0]));
}

int64_t trial_problem_seed(const task_spec *spec, const char *purpose, int64_t number)
{
    const hash_part parts[] = {{"seed", &spec->seed, sizeof(spec->seed)},
                               {"problem", spec->problem, strlen(spec->problem)},
                               {"purpose", purpose, strlen(purpose)},
                               {"number", &number, sizeof(number)}};
    return seed_from(parts, sizeof(parts) / sizeof(parts[0]));
}

void trial_say(const pipeline *p, const contract_shape *shape, const char *family,
               runner_verdict *verdict)
{
    SCOPED(scoped_free) char *label = contract_shape_label(p->terms, shape);
    SCOPED(scoped_free)
    char *text = xasprintf("at %s (%s values): %s", label, family, verdict->text);
    snprintf(verdict->text, sizeof(verdict->text), "%s", text);
}
