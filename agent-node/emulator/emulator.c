/* emulator - see emulator.h.
 *
 * A module keeps the programs it has decoded; its variables live in memory of their own, which joins
 * the caller's buffers for the length of a launch.
 *
 * SPDX-License-Identifier: MIT */
#include "agent-node/emulator/emulator.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "agent-node/emulator/decode.h"
#include "agent-node/emulator/finding.h"
#include "agent-node/emulator/grid.h"
#include "agent-node/ptx/parse.h"
#include "common/scoped.h"
#include "common/xalloc.h"

enum {
    GLOBAL_MAX = 64 << 20, /* bytes of a module's variables together */
    HEAD_BYTES = 4096      /* of the text, where .version stands */
};

struct emu_module {
    ptx_module *ptx;
    placed *globals; /* const and global variables with their memory */
    size_t global_count;
    pthread_mutex_t lock; /* programs */
    program **programs;
    size_t program_count;
};

/* ---- modules ---- */

static bool has_memory(const ptx_variable *v)
{
    return v->space == PTX_SPACE_CONST || v->space == PTX_SPACE_GLOBAL;
}

static int add_global(emu_module *m, const ptx_variable *v, uint64_t *total, err *e)
{
    *total += v->bytes;
    if (*total > GLOBAL_MAX)
        return err_set(e, ERR_LIMIT, "the module's variables need more than %d MiB",
                       GLOBAL_MAX >> 20);
    const size_t align = v->align > 256 ? v->align : 256;
    uint8_t *at = aligned_alloc(align, (v->bytes + align) / align * align);
    if (at == NULL)
        return err_set(e, ERR_LIMIT, "no memory for variable %s", v->name);
    memset(at, 0, v->bytes + 1);
    if (v->image != NULL)
        memcpy(at, v->image, v->bytes);
    *PUSH(m->globals, m->global_count) = (placed){v, NULL, (uint64_t)(uintptr_t)at, v->bytes};
    return 0;
}

static int add_globals(emu_module *m, err *e)
{
    uint64_t total = 0;
    for (size_t i = 0; i < m->ptx->variable_count; i++)
        if (has_memory(m->ptx->variables[i]) && add_global(m, m->ptx->variables[i], &total, e) < 0)
            return -1;
    for (size_t f = 0; f < m->ptx->function_count; f++) {
        const ptx_function *function = m->ptx->functions[f];
        for (size_t i = 0; i < function->variable_count; i++)
            if (has_memory(function->variables[i]) &&
                add_global(m, function->variables[i], &total, e) < 0)
                return -1;
    }
    return 0;
}

static const placed *find_global(const emu_module *m, const ptx_variable *v)
{
    for (size_t i = 0; i < m->global_count; i++)
        if (m->globals[i].variable == v)
            return &m->globals[i];
    return NULL;
}

/* relocate writes the addresses that initialisers name. */
static int relocate(emu_module *m, err *e)
{
    for (size_t i = 0; i < m->global_count; i++) {
        const ptx_variable *v = m->globals[i].variable;
        for (size_t k = 0; k < v->reloc_count; k++) {
            const ptx_reloc *r = &v->relocs[k];
            const placed *to = r->target != NULL ? find_global(m, r->target) : NULL;
            if (to == NULL)
                return err_set(e, ERR_LIMIT,
                               "the initialiser of %s names something that is no global variable",
                               v->name);
            const uint64_t address = to->at + (uint64_t)r->addend;
            memcpy((uint8_t *)(uintptr_t)m->globals[i].at + r->offset, &address, r->bytes);
        }
    }
    return 0;
}

/* blame_version puts a newer version before the error of a text that cannot be read. */
static void blame_version(const char *ptx, size_t size, err *e)
{
    static const char word[] = ".version";
    SCOPED(scoped_free) char *head = xstrndup(ptx, size < HEAD_BYTES ? size : HEAD_BYTES);
    const char *at = strstr(head, word);
    const long major = at != NULL ? strtol(at + sizeof word - 1, NULL, 10) : 0;
    if (major > EMU_PTX_MAJOR)
        err_wrap(e, "PTX version %ld.x is newer than %d.x, which this emulator knows", major,
                 EMU_PTX_MAJOR);
}

emu_module *emu_module_create(const char *ptx, size_t size, err *e)
{
    SCOPED(emu_module_destroy) emu_module *m = xcalloc(1, sizeof *m);
    pthread_mutex_init(&m->lock, NULL);
    m->ptx = ptx_parse(ptx, size, e);
    if (m->ptx == NULL) {
        blame_version(ptx, size, e);
        return NULL;
    }
    if (m->ptx->address_bytes != 8) {
        err_set(e, ERR_PROTOCOL, "the PTX has 32-bit addresses");
        return NULL;
    }
    if (add_globals(m, e) < 0 || relocate(m, e) < 0)
        return NULL;
    return TAKE(m);
}

void emu_module_destroy(emu_module **self)
{
    emu_module *m = TAKE(*self);
    if (m == NULL)
        return;
    for (size_t i = 0; i < m->program_count; i++)
        program_destroy(&m->programs[i]);
    for (size_t i = 0; i < m->global_count; i++)
        free((void *)(uintptr_t)m->globals[i].at);
    free(m->programs);
    free(m->globals);
    pthread_mutex_destroy(&m->lock);
    ptx_module_destroy(&m->ptx);
    free(m);
}

/* ---- programs ---- */

static const program *decoded(emu_module *m, const char *entry, emu_report *out)
{
    for (size_t i = 0; i < m->program_count; i++)
        if (strcmp(m->programs[i]->entry->name, entry) == 0)
            return m->programs[i];
    const ptx_function *f = ptx_module_function(m->ptx, entry);
    if (f == NULL || !f->is_entry || !f->has_body) {
        finding_refuse(out, EMU_ENTRY, entry, "the module has no such kernel");
        return NULL;
    }
    program *p = program_decode(m->ptx, m->globals, m->global_count, f, out);
    if (p != NULL)
        *PUSH(m->programs, m->program_count) = p;
    return p;
}

static const program *find_program(emu_module *m, const char *entry, emu_report *out)
{
    pthread_mutex_lock(&m->lock);
    const program *p = decoded(m, entry, out);
    pthread_mutex_unlock(&m->lock);
    return p;
}

/* ---- does the launch fit? ---- */

static bool check_args(const program *p, const emu_launch *l, emu_report *out)
{
    const ptx_function *f = p->entry;
    if (l->arg_count != f->param_count) {
        finding_refuse(out, EMU_ARGS, f->name, "takes %zu arguments, %zu are given", f->param_count,
                       l->arg_count);
        out->findings[0].index = -1;
        return false;
    }
    for (size_t i = 0; i < l->arg_count; i++)
        if (l->args[i].size != f->params[i]->bytes || l->args[i].size > sizeof l->args[i].bytes) {
            finding_refuse(out, EMU_ARGS, f->name, "argument %zu has %zu bytes, %llu are given", i,
                           (size_t)f->params[i]->bytes, (unsigned long long)l->args[i].size);
            out->findings[0].index = (int64_t)i;
            return false;
        }
    return true;
}

/* The threads of .maxntid, or the device's limit. */
static uint64_t threads_max(const ptx_function *f)
{
    const ptx_directive *d = ptx_function_directive(f, "maxntid");
    uint64_t most = 1;
    for (size_t i = 0; d != NULL && i < d->value_count; i++)
        most *= d->values[i];
    return d != NULL && most < EMU_BLOCK_THREADS_MAX ? most : EMU_BLOCK_THREADS_MAX;
}

static bool check_size(const program *p, const emu_launch *l, emu_report *out)
{
    const uint64_t threads = (uint64_t)l->block[0] * l->block[1] * l->block[2];
    const uint64_t most = threads_max(p->entry);
    if (l->grid[0] == 0 || l->grid[1] == 0 || l->grid[2] == 0 || threads == 0 ||
        l->block[0] > EMU_BLOCK_THREADS_MAX || l->block[1] > EMU_BLOCK_THREADS_MAX ||
        l->block[2] > 64 || l->grid[0] > INT32_MAX || l->grid[1] > 65535 || l->grid[2] > 65535) {
        finding_refuse(out, EMU_LAUNCH, p->entry->name, "grid or block has an impossible size");
        return false;
    }
    if (threads > most) {
        finding_refuse(out, EMU_LAUNCH, p->entry->name, "a block of %llu threads; at most %llu fit",
                       (unsigned long long)threads, (unsigned long long)most);
        return false;
    }
    if ((uint64_t)p->shared_real + l->shared > EMU_SHARED_MAX) {
        finding_refuse(out, EMU_LAUNCH, p->entry->name,
                       "%u bytes of static and %u of dynamic shared memory; a block has %d",
                       p->shared_real, l->shared, EMU_SHARED_MAX);
        return false;
    }
    return true;
}

static const program *fitting(emu_module *m, const emu_launch *launch, emu_report *out)
{
    *out = (emu_report){0};
    const program *p = find_program(m, launch->entry, out);
    out->shared_bytes = p != NULL ? p->shared_real + launch->shared : 0;
    return p != NULL && check_args(p, launch, out) && check_size(p, launch, out) ? p : NULL;
}

int emu_module_examine(emu_module *self, const emu_launch *launch, emu_report *out, err *e)
{
    (void)e;
    fitting(self, launch, out);
    return 0;
}

/* ---- run ---- */

static int join_globals(const emu_module *m, emu_memory *memory, err *e)
{
    for (size_t i = 0; i < m->global_count; i++) {
        const placed *g = &m->globals[i];
        const emu_buffer buffer = {.base = g->at,
                                   .bytes = g->bytes,
                                   .name = g->variable->name,
                                   .element = g->variable->type->bytes * g->variable->lanes,
                                   .is_input = g->variable->space == PTX_SPACE_CONST,
                                   .is_initialised = true};
        if (emu_memory_add(memory, &buffer, e) < 0)
            return -1;
    }
    return 0;
}

static void leave_globals(const emu_module *m, emu_memory *memory)
{
    for (size_t i = 0; i < m->global_count; i++)
        emu_memory_remove(memory, m->globals[i].at);
}

/* join_workspace makes what a grid barrier counts in known, as the driver does for a cooperative launch. */
static int join_workspace(const emu_launch *launch, const grid_workspace *workspace,
                          emu_memory *memory, err *e)
{
    const emu_buffer buffer = {.base = (uint64_t)(uintptr_t)workspace,
                               .bytes = sizeof *workspace,
                               .name = "the grid's workspace",
                               .element = sizeof workspace->barrier,
                               .is_initialised = true};
    return launch->cooperative ? emu_memory_add(memory, &buffer, e) : 0;
}

int emu_module_run(emu_module *self, emu_memory *memory, const emu_launch *launch,
                   const emu_options *options, emu_report *out, err *e)
{
    const program *p = fitting(self, launch, out);
    if (p == NULL)
        return 0;
    grid_workspace workspace = {.bytes = sizeof workspace};
    int rc = join_globals(self, memory, e);
    if (rc == 0)
        rc = join_workspace(launch, &workspace, memory, e);
    if (rc == 0)
        grid_run(p, memory, launch, launch->cooperative ? &workspace : NULL, options, out);
    leave_globals(self, memory);
    emu_memory_remove(memory, (uint64_t)(uintptr_t)&workspace);
    return rc;
}
