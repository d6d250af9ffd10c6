/* start - see start.h.
 *
 * SPDX-License-Identifier: MIT */
#include "coordinator/start.h"

#include "common/file.h"
#include "common/xalloc.h"

enum { NOT_GIVEN = -1 };

static char *copy(const char *text)
{
    return text ? xstrdup(text) : NULL;
}

void start_defaults(start_options *self)
{
    self->seed = NOT_GIVEN;
}

int start_fill(const start_options *self, settings *out, err *e)
{
    out->out = copy(self->out);
    out->python = copy(self->python);
    out->fake = copy(self->fake);
    out->slots = self->slots;
    if (self->fake && !file_exists(self->fake))
        return err_set(e, ERR_USAGE, "--fake %s: there is no such file", self->fake);
    return 0;
}

int start_fill_new(const start_options *self, settings *out, err *e)
{
    out->suites_dir = copy(self->suites);
    out->device = xstrdup(self->device ? self->device : "auto");
    out->seed = self->seed == NOT_GIVEN ? settings_random_seed() : self->seed;
    if (!out->node_timeout_ms)
        out->node_timeout_ms = SETTINGS_NODE_TIMEOUT_MS;
    return settings_check_device(out->device, e);
}

static int refuse(const start_fixed *rows, size_t count, err *e)
{
    for (size_t i = 0; i < count; i++)
        if (rows[i].given)
            return err_set(e, ERR_USAGE, "--resume takes %s from the run: leave it out",
                           rows[i].name);
    return 0;
}

int start_check_resume(const start_options *self, const start_fixed *own, size_t count, err *e)
{
    const start_fixed shared[] = {{"--device", self->device},
                                  {"--seed", self->seed != NOT_GIVEN},
                                  {"--suites", self->suites}};
    return refuse(own, count, e) || refuse(shared, sizeof shared / sizeof shared[0], e) ? -1 : 0;
}

eval_request start_request(const cmd_call *call, const start_options *self, settings *wanted,
                           const char *typed)
{
    return (eval_request){.wanted = wanted,
                          .resume = self->resume,
                          .db = call->db,
                          .db_given = self->db,
                          .program = call->argv[0],
                          .command = typed,
                          .version = call->program->version,
                          .term = call->program->term,
                          .json = self->json};
}
