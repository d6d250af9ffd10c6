/* estimate - counting, printing, asking
 *
 * SPDX-License-Identifier: MIT */
#include "coordinator/estimate.h"

#include "providers/catalog.h"

static int64_t calls_of(const settings *s, size_t entrant, bool only_paid)
{
    int64_t calls = 0;
    for (size_t i = 0; i < SPEC_STAGES; i++) {
        if (!only_paid || provider_is_paid(s->entrants[entrant].models[i]))
            calls += settings_calls(&s->entrants[entrant], (stage_id)i);
    }
    return calls;
}

estimate estimate_of(const settings *s, const selection *chosen)
{
    estimate self = {.contract_tasks = (int64_t)chosen->count};
    int64_t samples = (int64_t)chosen->count * s->samples;
    for (size_t i = 0; i < s->entrant_count; i++) {
        self.tasks += samples;
        self.calls_max += samples * calls_of(s, i, false);
        self.paid_max += samples * calls_of(s, i, true);
    }
    return self;
}

void estimate_print(const estimate *self, const settings *s, const selection *chosen, FILE *out)
{
    fprintf(out, "suite %s %s; problems: %zu, entrants: %zu, samples: %lld\n", chosen->name,
            chosen->version, chosen->count, s->entrant_count, (long long)s->samples);
    fprintf(out, "contract tasks: %lld, then tasks of five stages: %lld\n",
            (long long)self->contract_tasks, (long long)self->tasks);
    fprintf(out, "model calls at most: %lld, of them paid: %lld\n", (long long)self->calls_max,
            (long long)self->paid_max);
    for (size_t i = 0; i < s->entrant_count; i++)
        fprintf(out, "  entrant %s\n", s->entrants[i].name);
    for (size_t i = 0; i < chosen->count; i++)
        fprintf(out, "  problem %s\n", chosen->problems[i]->id);
}

json *estimate_json(const estimate *self, const settings *s, const selection *chosen)
{
    json *root = json_new_object();
    json_set_str(root, "suite", chosen->name);
    json_set_str(root, "suite_version", chosen->version);
    json *problems = json_new_array();
    for (size_t i = 0; i < chosen->count; i++) {
        json *id = json_new_str(chosen->problems[i]->id);
        json_append(problems, &id);
    }
    json *entrants = json_new_array();
    for (size_t i = 0; i < s->entrant_count; i++) {
        json *name = json_new_str(s->entrants[i].name);
        json_append(entrants, &name);
    }
    json_set(root, "problems", &problems);
    json_set(root, "entrants", &entrants);
    json_set_int(root, "samples", s->samples);
    json_set_int(root, "contract_tasks", self->contract_tasks);
    json_set_int(root, "tasks", self->tasks);
    json_set_int(root, "calls_max", self->calls_max);
    json_set_int(root, "paid_calls_max", self->paid_max);
    return root;
}

int estimate_confirm(const estimate *self, const estimate_ask *ask, bool *go, err *e)
{
    *go = true;
    if (self->paid_max == 0 || ask->yes)
        return 0;
    if (!ask->terminal)
        return err_set(e, ERR_USAGE,
                       "this run may make up to %lld paid model calls in %lld tasks: say --yes to "
                       "start it without a question",
                       (long long)self->paid_max, (long long)self->tasks);
    fprintf(ask->out,
            "This run may make up to %lld paid model calls in %lld tasks. Start it? [y/N] ",
            (long long)self->paid_max, (long long)self->tasks);
    fflush(ask->out);
    char answer[16] = "";
    *go = fgets(answer, sizeof answer, ask->in) && (answer[0] == 'y' || answer[0] == 'Y');
    return 0;
}
