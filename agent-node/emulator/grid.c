/* grid - see grid.h.
 *
 * SPDX-License-Identifier: MIT */
#include "agent-node/emulator/grid.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent-node/emulator/access.h"
#include "agent-node/emulator/finding.h"
#include "common/clock.h"
#include "common/xalloc.h"

enum {
    WORKERS_MAX = 64,
    RESIDENT_MAX = 64,            /* blocks a worker holds */
    PATIENCE_TURNS = 64,          /* turns after which a block is taken to wait for others */
    AFTER_FINDING_MS = 300,       /* earlier blocks may run on this long */
    FIXED_BYTES = 24 << 20,       /* marks, threads, modules: not available for blocks */
    COOPERATIVE_BYTES = 256 << 20 /* for the blocks of a cooperative launch */
};

/* ---- one worker ---- */

static void sum_up(worker *k)
{
    uint64_t all = 0;
    for (int i = 0; i < EMU_CLASS_COUNT; i++)
        all += k->counters.thread_instructions[i];
    __atomic_fetch_add(&k->grid->executed, all - k->reported, __ATOMIC_RELAXED);
    k->reported = all;
}

static bool start_block(worker *k)
{
    grid *g = k->grid;
    const uint64_t number = __atomic_fetch_add(&g->next, 1, __ATOMIC_SEQ_CST);
    if (number >= g->block_count || number > __atomic_load_n(&g->stop_above, __ATOMIC_SEQ_CST))
        return false;
    if (k->active == k->block_count) {
        k->blocks = xreallocarray(k->blocks, k->block_count + 1, sizeof *k->blocks);
        k->blocks[k->block_count++] = block_create(k);
    }
    block_begin(k->blocks[k->active++], number);
    return true;
}

static void end_block(worker *k, size_t at)
{
    block *ended = k->blocks[at];
    k->active--;
    /* Order stays: the oldest block is the one others wait for. */
    memmove(&k->blocks[at], &k->blocks[at + 1], (k->active - at) * sizeof(block *));
    k->blocks[k->active] = ended;
}

/* halt ends the launch; the first to do so says where. */
static void halt(block *b, const char *why)
{
    grid *g = b->grid;
    if (__atomic_exchange_n(&g->halt, 1, __ATOMIC_SEQ_CST) == 0 &&
        __atomic_load_n(&g->stop_above, __ATOMIC_SEQ_CST) == UINT64_MAX)
        finding_hung(b, why);
}

static void check_limits(worker *k, block *b)
{
    grid *g = k->grid;
    sum_up(k);
    const uint64_t most = g->options->instruction_max;
    const int64_t now = clock_mono_ms();
    if (most != 0 && __atomic_load_n(&g->executed, __ATOMIC_RELAXED) > most)
        halt(b, "the limit of instructions is reached");
    if (g->deadline != 0 && now >= g->deadline)
        halt(b, "the deadline passes");
    if (__atomic_load_n(&g->stop_above, __ATOMIC_RELAXED) == UINT64_MAX)
        return;
    int64_t unknown = 0;
    __atomic_compare_exchange_n(&g->found_at, &unknown, now, false, __ATOMIC_SEQ_CST,
                                __ATOMIC_SEQ_CST);
    if (now - __atomic_load_n(&g->found_at, __ATOMIC_SEQ_CST) > AFTER_FINDING_MS)
        __atomic_store_n(&g->halt, 1, __ATOMIC_SEQ_CST);
}

/* wait_for_others: every block of the worker waits. Starts one more, or leaves the CPU. */
static void wait_for_others(worker *k)
{
    if (k->active >= k->grid->resident_max || !start_block(k))
        sched_yield();
}

static void work(worker *k)
{
    grid *g = k->grid;
    size_t turn = 0, waiting = 0;
    while (__atomic_load_n(&g->halt, __ATOMIC_RELAXED) == 0) {
        if (k->active == 0 && !start_block(k))
            return;
        if (turn >= k->active)
            turn = 0;
        block *b = k->blocks[turn];
        const bool moot = b->number > __atomic_load_n(&g->stop_above, __ATOMIC_RELAXED);
        const block_state s = moot ? BLOCK_STOPPED : block_run(b);
        if (s == BLOCK_ENDED || s == BLOCK_STOPPED) {
            end_block(k, turn);
            waiting = 0;
        } else if (s == BLOCK_SPINS || b->turns % PATIENCE_TURNS == 0) {
            turn++;
            if (++waiting >= k->active) {
                waiting = 0;
                wait_for_others(k);
            }
        } else {
            waiting = 0;
        }
        check_limits(k, b);
    }
}

static void *work_thread(void *arg)
{
    work(arg);
    return NULL;
}

/* ---- set-up ---- */

static void fill_map(const program *p, uint8_t *map, uint32_t bytes, bool shared)
{
    const uint32_t base = shared ? SHARED_BASE : LOCAL_BASE;
    memset(map, BYTE_GAP, bytes);
    for (size_t i = 0; i < p->placed_count; i++) {
        const placed *v = &p->placed[i];
        if ((v->variable->space == PTX_SPACE_SHARED) == shared)
            memset(map + (v->at - base), BYTE_UNSET, v->bytes);
    }
}

static void lay_maps(grid *g)
{
    const program *p = g->program;
    const uint32_t dynamic = g->launch->shared;
    g->shared_bytes = (dynamic != 0 ? p->shared_dynamic + dynamic : p->shared_bytes) - SHARED_BASE;
    g->local_bytes = p->local_bytes - LOCAL_BASE;
    g->shared_map = xmalloc((size_t)g->shared_bytes + 1);
    g->local_map = xmalloc((size_t)g->local_bytes + 1);
    fill_map(p, g->shared_map, g->shared_bytes, true);
    fill_map(p, g->local_map, g->local_bytes, false);
    if (dynamic != 0)
        memset(g->shared_map + (p->shared_dynamic - SHARED_BASE), BYTE_UNSET, dynamic);
}

static void lay_params(grid *g)
{
    const ptx_function *f = g->program->entry;
    size_t at = 0;
    g->params = xcalloc((size_t)g->program->param_bytes + 1, 1);
    for (size_t i = 0; i < f->param_count; i++) {
        const uint32_t align = f->params[i]->align > 0 ? f->params[i]->align : 1;
        at = (at + align - 1) / align * align;
        memcpy(g->params + at, g->launch->args[i].bytes, f->params[i]->bytes);
        at += f->params[i]->bytes;
    }
}

/* A cooperative launch needs all its blocks at once. */
static size_t budget_of(const grid *g)
{
    return g->launch->cooperative ? COOPERATIVE_BYTES : EMU_OVERHEAD_MAX - FIXED_BYTES;
}

static unsigned count_workers(grid *g)
{
    const long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    unsigned count = g->options->workers != 0 ? g->options->workers : cpus > 0 ? (unsigned)cpus : 1;
    count = count < WORKERS_MAX ? count : WORKERS_MAX;
    if (count > g->block_count)
        count = g->block_count > 0 ? (unsigned)g->block_count : 1;
    const size_t budget = budget_of(g), need = block_bytes(g);
    while (count > 1 && count * need > budget)
        count--;
    g->resident_max = budget / count / need;
    if (g->resident_max < 1)
        g->resident_max = 1;
    if (g->resident_max > RESIDENT_MAX && !g->launch->cooperative)
        g->resident_max = RESIDENT_MAX;
    return count;
}

static void worker_init(worker *k, grid *g)
{
    const program *p = g->program;
    *k = (worker){.grid = g};
    k->last = xcalloc(p->access_count + p->atomic_count + 1, sizeof *k->last);
}

static void worker_fini(worker *k, emu_report *report)
{
    for (size_t i = 0; i < k->block_count; i++)
        block_destroy(&k->blocks[i]);
    free(k->blocks);
    free(k->last);
    emu_counters_add(&report->counters, &k->counters);
}

static void run_workers(grid *g, unsigned count)
{
    worker *workers = xcalloc(count, sizeof *workers);
    for (unsigned i = 0; i < count; i++)
        worker_init(&workers[i], g);
    for (unsigned i = 1; i < count; i++)
        workers[i].started =
            pthread_create(&workers[i].thread, NULL, work_thread, &workers[i]) == 0;
    work(&workers[0]);
    for (unsigned i = 1; i < count; i++)
        if (workers[i].started)
            pthread_join(workers[i].thread, NULL);
    for (unsigned i = 0; i < count; i++)
        worker_fini(&workers[i], g->report);
    free(workers);
}

/* has_room: a block must fit; of a cooperative launch, all. */
static bool has_room(const grid *g, unsigned workers)
{
    const char *name = g->program->entry->name;
    const size_t need = block_bytes(g), budget = budget_of(g);
    const size_t most = g->resident_max * workers;
    if (need > budget)
        finding_refuse(g->report, EMU_UNSUPPORTED, name,
                       "a block needs %zu MiB of registers, shared and local memory; the emulator "
                       "has %zu",
                       need >> 20, budget >> 20);
    else if (g->launch->cooperative && most < g->block_count)
        finding_refuse(g->report, EMU_UNSUPPORTED, name,
                       "a cooperative launch of %llu blocks; the emulator holds %zu of this kernel "
                       "at once",
                       (unsigned long long)g->block_count, most);
    else
        return true;
    return false;
}

void grid_run(const program *p, emu_memory *memory, const emu_launch *launch,
              const grid_workspace *workspace, const emu_options *options, emu_report *report)
{
    grid g = {.program = p,
              .memory = memory,
              .launch = launch,
              .options = options,
              .report = report,
              .workspace = (uint64_t)(uintptr_t)workspace,
              .stop_above = UINT64_MAX,
              .clock = 1};
    g.block_count = (uint64_t)launch->grid[0] * launch->grid[1] * launch->grid[2];
    g.threads_per_block = launch->block[0] * launch->block[1] * launch->block[2];
    g.warps_per_block = (g.threads_per_block + LANES - 1) / LANES;
    g.deadline = options->deadline_ms != 0 ? clock_mono_ms() + options->deadline_ms : 0;
    pthread_mutex_init(&g.lock, NULL);
    memory_begin(memory);
    lay_maps(&g);
    lay_params(&g);
    const unsigned count = count_workers(&g);
    if (has_room(&g, count))
        run_workers(&g, count);
    free(g.params);
    free(g.shared_map);
    free(g.local_map);
    pthread_mutex_destroy(&g.lock);
}
