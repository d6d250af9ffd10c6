/* module - a PTX module as data
 *
 * SPDX-License-Identifier: MIT */
#include "agent-node/ptx/module.h"

#include <string.h>

void ptx_module_destroy(ptx_module **self)
{
    if (*self == NULL)
        return;
    /* The module itself lies in its memory. */
    arena *memory = (*self)->memory;
    *self = NULL;
    arena_destroy(&memory);
}

const ptx_function *ptx_module_function(const ptx_module *self, const char *name)
{
    for (size_t i = 0; i < self->function_count; i++)
        if (strcmp(self->functions[i]->name, name) == 0)
            return self->functions[i];
    return NULL;
}

const char *ptx_module_file(const ptx_module *self, uint32_t number)
{
    for (size_t i = 0; i < self->file_count; i++)
        if (self->files[i].number == number)
            return self->files[i].path;
    return NULL;
}

const ptx_directive *ptx_function_directive(const ptx_function *self, const char *name)
{
    for (size_t i = 0; i < self->directive_count; i++)
        if (strcmp(self->directives[i].name, name) == 0)
            return &self->directives[i];
    return NULL;
}

bool ptx_instruction_has(const ptx_instruction *self, const char *modifier)
{
    for (size_t i = 0; i < self->modifier_count; i++)
        if (strcmp(self->modifiers[i], modifier) == 0)
            return true;
    return false;
}
