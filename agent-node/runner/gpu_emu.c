/* gpu_emu - the emulator as a device: host memory, kernels from PTX, every access checked
 *
 * Buffers become known to the emulator by `tell`, so that it can name them and guard every byte; without
 * it an address is in no buffer. Memory that the runner copies into a buffer holds data, memory that
 * it fills with sentinels does not. There are no times: `time` says so.
 *
 * SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent-node/emulator/tally.h"
#include "agent-node/runner/gpu.h"
#include "common/clock.h"
#include "common/occupancy.h"
#include "common/scoped.h"
#include "common/xalloc.h"

enum {
    PAGE = 4096,
    GUARD = 1 << 20,  /* unmapped addresses on both sides of a buffer */
    ATTACHED_MAX = 8, /* staging blocks at once */
    TOLD_MAX = 4096   /* buffers at once */
};

typedef struct attached {
    void *base;
    size_t bytes;
} attached;

typedef struct gpu_emu {
    gpu base;
    emu_module *module;
    emu_memory *memory;
    uint64_t told[TOLD_MAX]; /* where told buffers begin */
    size_t told_count;
    attached attached[ATTACHED_MAX];
    tally *tally; /* of the last run */
} gpu_emu;

static gpu_emu *emu_of(gpu *self)
{
    return (gpu_emu *)self;
}

static void *host(uint64_t address)
{
    return (void *)(uintptr_t)address;
}

static void emu_close(gpu *self)
{
    gpu_emu *g = emu_of(self);
    for (size_t i = 0; i < ATTACHED_MAX; i++)
        if (g->attached[i].base != NULL)
            munmap(g->attached[i].base, g->attached[i].bytes);
    emu_module_destroy(&g->module);
    emu_memory_destroy(&g->memory);
    tally_destroy(&g->tally);
    free(g);
}

/* ---- modules ---- */

static void emu_unload(gpu *self)
{
    emu_module_destroy(&emu_of(self)->module);
}

static int emu_load(gpu *self, const void *image, size_t size, runner_verdict *out, err *e)
{
    gpu_emu *g = emu_of(self);
    err why = {0};
    (void)e;
    emu_unload(self);
    g->module = emu_module_create(image, size, &why);
    if (g->module == NULL)
        verdict_set(out, OUTCOME_UNSUPPORTED_ON_EMU, "ptx", "the emulator cannot read the PTX: %s",
                    why.text);
    return 0;
}

/* tell_finding puts the first finding of a launch into the verdict, after the plan's pointer. */
static void tell_finding(const emu_report *r, const gpu_call *call, runner_verdict *out)
{
    const emu_finding *f = &r->findings[0];
    const char *at = call->pointer != NULL ? call->pointer : "";
    char pointer[128];
    if (f->kind == EMU_ARGS) { /* the plan's fault: say where in the plan */
        if (f->index < 0)
            snprintf(pointer, sizeof pointer, "%s/args", at);
        else
            snprintf(pointer, sizeof pointer, "%s/args/%lld", at, (long long)f->index);
        verdict_set(out, f->result, pointer, "%s: %s", pointer, f->text);
        return;
    }
    verdict_set(out, f->result, f->detail, "%s%s%s", at, *at != '\0' ? ": " : "", f->text);
}

static void fill_launch(const gpu_call *call, emu_arg *args, emu_launch *out)
{
    *out = (emu_launch){.entry = call->entry,
                        .shared = call->shared,
                        .cooperative = call->cooperative,
                        .args = args,
                        .arg_count = call->arg_count};
    memcpy(out->grid, call->grid, sizeof out->grid);
    memcpy(out->block, call->block, sizeof out->block);
    for (size_t i = 0; i < call->arg_count; i++) {
        args[i].size = call->args[i].size;
        memcpy(args[i].bytes, call->args[i].bytes, sizeof args[i].bytes);
    }
}

/* examine_grid: the blocks of a cooperative launch must be on the modelled device at once. */
static void examine_grid(const gpu_emu *g, const gpu_call *call, const emu_report *report,
                         runner_verdict *out)
{
    char pointer[128];
    const occupancy_use use = {.cc = 80,
                               .threads = call->block[0] * call->block[1] * call->block[2],
                               .registers = tally_registers(g->tally, call->entry),
                               .shared_bytes = report->shared_bytes};
    const uint64_t most = (uint64_t)occupancy_of(&use).blocks * EMU_SM_COUNT;
    const uint64_t blocks = (uint64_t)call->grid[0] * call->grid[1] * call->grid[2];
    if (blocks <= most)
        return;
    snprintf(pointer, sizeof pointer, "%s/grid", call->pointer);
    verdict_set(out, OUTCOME_PLAN_INVALID, pointer,
                "%s: a cooperative launch of %llu blocks; the device holds %llu of kernel %s at "
                "once",
                pointer, (unsigned long long)blocks, (unsigned long long)most, call->entry);
}

/* examine_shared: static and dynamic together. */
static void examine_shared(const gpu_call *call, const emu_report *report, runner_verdict *out)
{
    char pointer[128];
    if (report->shared_bytes <= EMU_SHARED_MAX)
        return;
    snprintf(pointer, sizeof pointer, "%s/shared", call->pointer);
    verdict_set(out, OUTCOME_PLAN_INVALID, pointer,
                "%s: %u bytes of dynamic and %u of static shared memory; a block has %d", pointer,
                call->shared, report->shared_bytes - call->shared, EMU_SHARED_MAX);
}

static int emu_examine(gpu *self, const gpu_call *call, runner_verdict *out, err *e)
{
    SCOPED(scoped_free) emu_arg *args = xcalloc(call->arg_count + 1, sizeof *args);
    SCOPED(scoped_free) emu_report *report = xcalloc(1, sizeof *report);
    emu_launch launch;
    fill_launch(call, args, &launch);
    if (emu_module_examine(emu_of(self)->module, &launch, report, e) < 0)
        return -1;
    examine_shared(call, report, out);
    if (verdict_is_ok(out) && report->finding_count != 0)
        tell_finding(report, call, out);
    if (verdict_is_ok(out) && call->cooperative)
        examine_grid(emu_of(self), call, report, out);
    return 0;
}

/* ---- memory ---- */

static int emu_map(gpu *self, uint64_t bytes, gpu_mem *out, err *e)
{
    (void)self;
    const uint64_t size = (bytes + PAGE - 1) / PAGE * PAGE + (bytes == 0 ? PAGE : 0);
    if (size < bytes || size > UINT64_MAX - 2 * (uint64_t)GUARD)
        return err_set(e, ERR_LIMIT, "a buffer of %llu bytes", (unsigned long long)bytes);
    void *range = mmap(NULL, size + 2 * (uint64_t)GUARD, PROT_NONE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (range == MAP_FAILED)
        return err_set(e, ERR_LIMIT, "no address space for %llu bytes", (unsigned long long)bytes);
    if (mprotect((uint8_t *)range + GUARD, size, PROT_READ | PROT_WRITE) < 0) {
        munmap(range, size + 2 * (uint64_t)GUARD);
        return err_set(e, ERR_LIMIT, "no memory for %llu bytes", (unsigned long long)bytes);
    }
    *out = (gpu_mem){.base = (uint64_t)(uintptr_t)range + GUARD,
                     .bytes = size,
                     .range = (uint64_t)(uintptr_t)range};
    return 0;
}

/* forget takes back what was told of buffers inside a mapping. */
static void forget(gpu_emu *g, const gpu_mem *mem)
{
    for (size_t i = 0; i < g->told_count;) {
        if (g->told[i] - mem->base >= mem->bytes) {
            i++;
            continue;
        }
        emu_memory_remove(g->memory, g->told[i]);
        g->told[i] = g->told[--g->told_count];
    }
}

static void emu_unmap(gpu *self, gpu_mem *mem)
{
    if (mem->range == 0)
        return;
    forget(emu_of(self), mem);
    munmap(host(mem->range), mem->bytes + 2 * (uint64_t)GUARD);
    *mem = (gpu_mem){0};
}

static int emu_protect(gpu *self, const gpu_mem *mem, err *e)
{
    (void)self;
    if (mprotect(host(mem->base), mem->bytes, PROT_READ) < 0)
        return err_errno(e, errno, "make an input read-only");
    return 0;
}

static int emu_tell(gpu *self, const gpu_buffer *what, err *e)
{
    gpu_emu *g = emu_of(self);
    const emu_buffer buffer = {.base = what->at,
                               .bytes = what->bytes,
                               .name = what->name,
                               .element = what->element,
                               .is_input = what->is_input,
                               .is_initialised = what->is_input};
    if (g->told_count == TOLD_MAX)
        return err_set(e, ERR_LIMIT, "more than %d buffers", TOLD_MAX);
    if (emu_memory_add(g->memory, &buffer, e) < 0)
        return -1;
    g->told[g->told_count++] = what->at;
    return 0;
}

static int emu_fill(gpu *self, const gpu_fill *fill, err *e)
{
    (void)e;
    uint8_t *at = host(fill->at);
    if (fill->width == 1 && fill->count != 0)
        memset(at, (int)fill->value, fill->count);
    for (uint64_t i = 0; fill->width != 1 && i < fill->count; i++, at += fill->width)
        memcpy(at, &fill->value, fill->width);
    emu_memory_mark(emu_of(self)->memory, fill->at, fill->count * fill->width, false);
    return 0;
}

static int emu_copy(gpu *self, uint64_t to, uint64_t from, uint64_t bytes, err *e)
{
    (void)self;
    (void)e;
    if (bytes != 0)
        memmove(host(to), host(from), bytes);
    return 0;
}

static int emu_read(gpu *self, void *to, uint64_t from, uint64_t bytes, err *e)
{
    (void)self;
    (void)e;
    if (bytes != 0)
        memcpy(to, host(from), bytes);
    return 0;
}

/* Words by their place, mixed so that swapped or changed bytes show. */
static uint64_t mixed(uint64_t word, uint64_t place, uint64_t salt)
{
    uint64_t z = word + (place + 1) * 0x9E3779B97F4A7C15u + salt;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

static int emu_sum(gpu *self, uint64_t at, uint64_t bytes, uint64_t salt, uint64_t *out, err *e)
{
    (void)self;
    (void)e;
    const uint8_t *from = host(at);
    *out = 0;
    for (uint64_t i = 0; i < bytes; i += sizeof(uint64_t)) {
        uint64_t word = 0;
        memcpy(&word, from + i, bytes - i < sizeof word ? bytes - i : sizeof word);
        *out += mixed(word, i, salt);
    }
    return 0;
}

static int emu_wait(gpu *self, err *e)
{
    (void)self;
    (void)e;
    return 0;
}

/* ---- staging ---- */

static attached *free_place(gpu_emu *g)
{
    for (size_t i = 0; i < ATTACHED_MAX; i++)
        if (g->attached[i].base == NULL)
            return &g->attached[i];
    return NULL;
}

static int emu_attach(gpu *self, const gpu_staging *staging, uint64_t *base, err *e)
{
    attached *place = free_place(emu_of(self));
    struct stat st;
    if (staging->shm == NULL || place == NULL)
        return err_set(e, ERR_PROTOCOL, "the emulator takes staging in shared memory by name");
    SCOPED(scoped_close) int fd = shm_open(staging->shm, O_RDWR | O_CLOEXEC, 0);
    if (fd < 0)
        return err_errno(e, errno, "staging %s", staging->shm);
    if (fstat(fd, &st) < 0 || st.st_size <= 0)
        return err_set(e, ERR_PROTOCOL, "staging %s is empty", staging->shm);
    void *at = mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (at == MAP_FAILED)
        return err_errno(e, errno, "staging %s", staging->shm);
    *place = (attached){at, (size_t)st.st_size};
    *base = (uint64_t)(uintptr_t)at;
    return 0;
}

static int emu_detach(gpu *self, uint64_t base, err *e)
{
    gpu_emu *g = emu_of(self);
    for (size_t i = 0; i < ATTACHED_MAX; i++)
        if (g->attached[i].base != NULL && (uint64_t)(uintptr_t)g->attached[i].base == base) {
            munmap(g->attached[i].base, g->attached[i].bytes);
            g->attached[i] = (attached){0};
            return 0;
        }
    return err_set(e, ERR_INTERNAL, "staging that is not attached");
}

/* ---- launches ---- */

static int run_call(gpu_emu *g, const gpu_call *call, int64_t deadline_ms, runner_verdict *out,
                    err *e)
{
    if (call->entry == NULL) { /* what a plan fills holds data */
        if (emu_fill(&g->base, &call->fill, e) < 0)
            return -1;
        emu_memory_mark(g->memory, call->fill.at, call->fill.count * call->fill.width, true);
        return 0;
    }
    SCOPED(scoped_free) emu_arg *args = xcalloc(call->arg_count + 1, sizeof *args);
    SCOPED(scoped_free) emu_report *report = xcalloc(1, sizeof *report);
    emu_launch launch;
    fill_launch(call, args, &launch);
    const emu_options options = {.deadline_ms = deadline_ms};
    if (emu_module_run(g->module, g->memory, &launch, &options, report, e) < 0)
        return -1;
    tally_add(g->tally, &launch, report);
    if (report->finding_count != 0)
        tell_finding(report, call, out);
    return 0;
}

static int emu_run(gpu *self, const gpu_call *calls, size_t count, int64_t deadline_ms,
                   runner_verdict *out, err *e)
{
    const int64_t start = clock_mono_us();
    tally_clear(emu_of(self)->tally);
    for (size_t i = 0; i < count && verdict_is_ok(out); i++) {
        const int64_t left = deadline_ms - (clock_mono_us() - start) / 1000;
        if (run_call(emu_of(self), &calls[i], left > 1 ? left : 1, out, e) < 0)
            return -1;
    }
    out->elapsed_us = clock_mono_us() - start;
    return 0;
}

static void emu_know(gpu *self, const char *kernel, uint32_t registers)
{
    tally_know(emu_of(self)->tally, kernel, registers);
}

static char *emu_modelled(gpu *self)
{
    return tally_json(emu_of(self)->tally);
}

static int emu_arm(gpu *self, const gpu_time_job *job, gpu_timing *timing, runner_verdict *out,
                   err *e)
{
    (void)self;
    (void)job;
    (void)timing;
    (void)out;
    return err_set(e, ERR_UNAVAILABLE, "the emulator has no times: speed is not measured on emu");
}

static void emu_disarm(gpu *self)
{
    (void)self;
}

static const gpu_ops emu_ops = {
    .kind = "emu",
    .close = emu_close,
    .load = emu_load,
    .unload = emu_unload,
    .examine = emu_examine,
    .map = emu_map,
    .unmap = emu_unmap,
    .protect = emu_protect,
    .know = emu_know,
    .modelled = emu_modelled,
    .tell = emu_tell,
    .fill = emu_fill,
    .copy = emu_copy,
    .read = emu_read,
    .sum = emu_sum,
    .wait = emu_wait,
    .attach = emu_attach,
    .detach = emu_detach,
    .run = emu_run,
    .arm = emu_arm,
    .disarm = emu_disarm,
};

gpu *gpu_emu_open(void)
{
    gpu_emu *g = xcalloc(1, sizeof *g);
    const long pages = sysconf(_SC_PHYS_PAGES);
    g->base.ops = &emu_ops;
    g->base.facts = (gpu_facts){.kind = "emu",
                                .name = "ce emulator",
                                .arch = "sm_80",
                                .cc = EMU_CC,
                                .sm_count = EMU_SM_COUNT,
                                .memory_bytes = pages > 0 ? (int64_t)pages * PAGE / 2 : 0,
                                .shared_per_block = EMU_SHARED_MAX,
                                .threads_per_block = EMU_BLOCK_THREADS_MAX,
                                .grid_max = {2147483647, 65535, 65535},
                                .block_max = {1024, 1024, 64}};
    g->memory = emu_memory_create();
    g->tally = tally_create();
    return &g->base;
}
