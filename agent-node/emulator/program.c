/* program - see program.h.
 *
 * SPDX-License-Identifier: MIT */
#include "agent-node/emulator/program.h"

#include <stdlib.h>

#include "common/scoped.h"

enum { LOOK_BACK = 64 }; /* instructions, for one with a line of the kernel's own file */

void program_destroy(program **self)
{
    program *p = TAKE(*self);
    if (p == NULL)
        return;
    for (size_t i = 0; i < p->call_count; i++)
        free(p->calls[i].copies);
    for (size_t i = 0; i < p->table_count; i++)
        free(p->tables[i].targets);
    free(p->ops);
    free(p->parts);
    free(p->accesses);
    free(p->atomics);
    free(p->calls);
    free(p->tables);
    free(p->placed);
    free(p->constants);
    free(p);
}

const program_part *program_part_of(const program *self, uint32_t at)
{
    for (size_t i = 0; i < self->part_count; i++)
        if (at >= self->parts[i].first && at - self->parts[i].first < self->parts[i].count)
            return &self->parts[i];
    return NULL;
}

const ptx_instruction *program_instruction(const program *self, uint32_t at)
{
    const program_part *part = program_part_of(self, at);
    if (part == NULL || at - part->first >= part->function->code_count)
        return NULL;
    return &part->function->code[at - part->first];
}

static uint32_t own_line(const program *p, const ptx_where *where)
{
    if (where->file == p->main_file && where->line != 0)
        return where->line;
    return where->outer_file == p->main_file ? where->outer_line : 0;
}

uint32_t program_line(const program *self, uint32_t at, const char **file)
{
    const program_part *part = program_part_of(self, at);
    *file = self->main_file != 0 ? ptx_module_file(self->module, self->main_file) : NULL;
    if (part == NULL || self->main_file == 0)
        return 0;
    uint32_t index = at - part->first;
    for (uint32_t back = 0; back <= index && back < LOOK_BACK; back++) {
        const ptx_instruction *in = program_instruction(self, at - back);
        uint32_t line = in != NULL ? own_line(self, &in->where) : 0;
        if (line != 0)
            return line;
    }
    return 0;
}
