/* lineage - see lineage.h.
 *
 * SPDX-License-Identifier: MIT */
#include "agent-node/stages/lineage.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/json.h"
#include "common/scoped.h"
#include "common/xalloc.h"

void lineage_add(lineage *self, const lineage_step *step)
{
    self->steps = xreallocarray(self->steps, self->count + 1, sizeof *self->steps);
    self->steps[self->count++] = *step;
}

void lineage_fini(lineage *self)
{
    free(self->steps);
    *self = (lineage){0};
}

static json *bound_in(const char *profile)
{
    SCOPED(json_destroy)
    json *record =
        profile != NULL ? json_parse_tree(profile, strlen(profile), "profile", NULL) : NULL;
    const json *bound = json_get(record, "bound");
    return bound != NULL ? json_copy(bound) : json_new_null();
}

static json *step_json(const lineage_step *step, const comparison_record *c)
{
    const double none = (double)NAN;
    json *out = json_new_object();
    json *attempt = step->attempt >= 0 ? json_new_int(step->attempt) : json_new_null();
    json *bound = bound_in(c != NULL ? c->profile : NULL);
    json_set(out, "attempt", &attempt);
    json_set_str(out, "outcome", outcome_name(step->result));
    json_set_str(out, "purpose", c != NULL ? c->purpose : NULL);
    json_set_str(out, "verdict", c != NULL ? c->verdict : NULL);
    json_set_real(out, "candidate_ms", c != NULL ? c->candidate_ms : none);
    json_set_real(out, "speedup", c != NULL ? c->speedup : none);
    json_set_real(out, "gain", c != NULL && c->gain > 0 ? c->gain : none);
    json_set_bool(out, "kept", c != NULL && c->kept);
    json_set(out, "bound", &bound);
    return out;
}

char *lineage_json(const lineage *self, const stage_record *record)
{
    if (self->count == 0)
        return NULL;
    SCOPED(json_destroy) json *list = json_new_array();
    for (size_t i = 0; i < self->count; i++) {
        const lineage_step *step = &self->steps[i];
        const bool timed = step->row >= 0 && (size_t)step->row < record->comparison_count;
        json *one = step_json(step, timed ? &record->comparisons[step->row] : NULL);
        json_append(list, &one);
    }
    return json_dump(list);
}
