/* gpu_cuda - the CUDA back end (driver API)
 *
 * One context, one stream. Memory is cuMemCreate mapped in the middle of a larger address range, so that
 * GUARD_BYTES before and behind are never mapped: a kernel that strays there faults. (Seen on an H200: with a
 * guard of one 2 MiB granule a store 4 MiB past the end found another mapping of the context.) Arguments
 * go to the driver by pointers into a zeroed arena and a pointer list padded to its end, so a kernel
 * that declares more or wider parameters than the plan gives reads zeros, not our memory; where the
 * driver can tell a kernel's parameters (CUDA 12.4), examine compares them first.
 *
 * After a sticky fault nothing works in this process any more; whoever gets the verdict ends it.
 *
 * SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent-node/runner/fault.h"
#include "agent-node/runner/gpu_room.h"
#include "agent-node/runner/profiler.h"
#include "agent-node/runner/timing/ce_timing.h"
#include "agent-node/runner/timer.h"
#include "agent-node/runner/timing/cuda_api.h"
#include "agent-node/runner/tools_ptx.h"
#include "common/clock.h"
#include "common/scoped.h"
#include "common/xalloc.h"

enum {
    ARENA_BYTES = 64 * 1024, /* larger than the 32 KiB a kernel's parameters can take */
    ARENA_SLOTS = ARENA_BYTES / 2 / 8,
    SUM_THREADS = 256,
    SUM_BLOCKS_PER_SM = 2,
    DIRTY_THREADS = 256,
    DIRTY_BLOCKS_PER_SM = 2,         /* each takes all of an SM's shared memory: none is left out */
    GUARD_BYTES = 512 * 1024 * 1024, /* never mapped, on each side; a multiple of any granularity */
    NAP_MIN_US = 20,
    NAP_MAX_US = 1000
};

/* What is timed between arm and disarm. */
typedef struct armed_graphs {
    timer timer;
    CUgraph calls[CE_TIMING_SLOTS_MAX];
    CUgraph prepare[CE_TIMING_SLOTS_MAX];
    const gpu_slot *slots; /* borrowed until disarm */
    size_t slot_count;
    bool chained;
} armed_graphs;

typedef struct gpu_cuda {
    gpu base;
    cuda_api api;
    CUdevice device;
    CUcontext context;
    CUstream stream;
    CUmodule candidate; /* NULL: none loaded */
    CUmodule tools;
    CUfunction sum;
    CUdeviceptr sum_at; /* where ce_sum adds up */
    CUfunction dirty;
    size_t granularity; /* of mappings */
    armed_graphs armed;
    bool broken; /* the candidate hangs or faulted: a call that frees could wait for ever */
    uint8_t arena[ARENA_BYTES];
    void *params[ARENA_SLOTS];
    size_t placed; /* arguments of the last launch */
} gpu_cuda;

static gpu_cuda *cuda_of(gpu *g)
{
    return (gpu_cuda *)g;
}

/* failed turns a CUresult into an err that names what was tried. */
static int failed(const cuda_api *api, CUresult code, err *e, const char *what)
{
    char text[ERR_TEXT_MAX];
    cuda_api_explain(api, code, text, sizeof text);
    err_code kind = code == CUDA_ERROR_OUT_OF_MEMORY ? ERR_LIMIT : ERR_GPU;
    return err_native(e, kind, ERR_DOMAIN_CUDA, (int64_t)code, "%s: %s", what, text);
}

static int check(const gpu_cuda *g, CUresult code, err *e, const char *what)
{
    return code == CUDA_SUCCESS ? 0 : failed(&g->api, code, e, what);
}

/* ---- facts ---- */

typedef struct attribute_row {
    CUdevice_attribute name;
    size_t offset; /* of an int64_t in gpu_facts */
} attribute_row;

static const attribute_row attributes[] = {
    {CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, offsetof(gpu_facts, sm_count)},
    {CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, offsetof(gpu_facts, l2_bytes)},
    {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, offsetof(gpu_facts, shared_per_block)},
    {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, offsetof(gpu_facts, threads_per_block)},
    {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X, offsetof(gpu_facts, grid_max[0])},
    {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y, offsetof(gpu_facts, grid_max[1])},
    {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z, offsetof(gpu_facts, grid_max[2])},
    {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X, offsetof(gpu_facts, block_max[0])},
    {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y, offsetof(gpu_facts, block_max[1])},
    {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z, offsetof(gpu_facts, block_max[2])},
};

static CUresult read_attributes(const cuda_api *api, CUdevice device, gpu_facts *out)
{
    for (size_t i = 0; i < sizeof attributes / sizeof *attributes; i++) {
        int value = 0;
        CUresult code = api->device_attribute(&value, attributes[i].name, device);
        if (code != CUDA_SUCCESS)
            return code;
        int64_t wide = value;
        memcpy((char *)out + attributes[i].offset, &wide, sizeof wide);
    }
    return CUDA_SUCCESS;
}

/* What a device does not tell is 0. */
static int told(const cuda_api *api, CUdevice device, CUdevice_attribute name)
{
    int value = 0;
    return api->device_attribute(&value, name, device) == CUDA_SUCCESS ? value : 0;
}

/* read_arch: from compute capability 9.0 on there is an architecture-specific target. */
static void read_arch(const cuda_api *api, CUdevice device, gpu_facts *out)
{
    int major = told(api, device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
    out->cc = major * 10 + told(api, device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
    snprintf(out->arch, sizeof out->arch, "sm_%d%s", (int)out->cc, major >= 9 ? "a" : "");
}

static void uuid_text(const CUuuid *uuid, char *out, size_t size)
{
    const unsigned char *b = (const unsigned char *)uuid->bytes;
    snprintf(out, size, "GPU-%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x",
             b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10], b[11], b[12], b[13],
             b[14], b[15]);
}

/* memory_rate: two transfers a clock on every line of the bus. */
static double memory_rate(const cuda_api *api, CUdevice device)
{
    return 2.0 * 1e3 * told(api, device, CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE) *
           told(api, device, CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH) / 8;
}

static CUresult read_facts(const cuda_api *api, CUdevice device, gpu_facts *out)
{
    CUuuid uuid;
    size_t memory = 0;
    int driver = 0;
    *out = (gpu_facts){.kind = "cuda"};
    CUresult code = api->device_name(out->name, (int)sizeof out->name, device);
    if (code == CUDA_SUCCESS)
        code = api->device_uuid(&uuid, device);
    if (code == CUDA_SUCCESS)
        code = api->device_memory(&memory, device);
    if (code == CUDA_SUCCESS)
        code = api->driver_version(&driver);
    if (code == CUDA_SUCCESS)
        code = read_attributes(api, device, out);
    if (code != CUDA_SUCCESS)
        return code;
    read_arch(api, device, out);
    uuid_text(&uuid, out->uuid, sizeof out->uuid);
    out->memory_bytes = (int64_t)memory;
    out->driver = driver;
    out->memory_rate = memory_rate(api, device);
    return CUDA_SUCCESS;
}

/* ---- open and close ---- */

static int start_driver(cuda_api *api, err *e)
{
    char why[ERR_TEXT_MAX];
    if (!cuda_api_open(api, why, sizeof why))
        return err_set(e, ERR_UNAVAILABLE, "%s", why);
    CUresult code = api->init(0);
    if (code == CUDA_SUCCESS)
        return 0;
    failed(api, code, e, "the NVIDIA driver does not start");
    if (e != NULL)
        e->code = ERR_UNAVAILABLE;
    cuda_api_close(api);
    return -1;
}

static int find_device(const cuda_api *api, int ordinal, CUdevice *out, err *e)
{
    int count = 0;
    CUresult code = api->device_count(&count);
    if (code == CUDA_SUCCESS && ordinal >= count)
        return err_set(e, ERR_UNAVAILABLE, "there is no device cuda:%d: the driver lists %d",
                       ordinal, count);
    if (code == CUDA_SUCCESS)
        code = api->device_get(out, ordinal);
    return code == CUDA_SUCCESS ? 0 : failed(api, code, e, "find the device");
}

int gpu_cuda_count(err *e)
{
    cuda_api api;
    if (start_driver(&api, e) < 0)
        return -1;
    int count = 0;
    CUresult code = api.device_count(&count);
    if (code != CUDA_SUCCESS)
        count = failed(&api, code, e, "count devices");
    cuda_api_close(&api);
    return count;
}

int gpu_cuda_facts(int ordinal, gpu_facts *out, err *e)
{
    cuda_api api;
    CUdevice device = 0;
    if (start_driver(&api, e) < 0)
        return -1;
    int rc = find_device(&api, ordinal, &device, e);
    if (rc == 0) {
        CUresult code = read_facts(&api, device, out);
        if (code != CUDA_SUCCESS)
            rc = failed(&api, code, e, "read the device's facts");
    }
    cuda_api_close(&api);
    return rc;
}

static CUmemAllocationProp allocation_on(CUdevice device)
{
    CUmemAllocationProp prop;
    memset(&prop, 0, sizeof prop);
    prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    prop.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    prop.location.id = device;
    return prop;
}

static int make_dirty(gpu_cuda *g, err *e)
{
    if (check(g, g->api.module_function(&g->dirty, g->tools, "ce_dirty"), e, "find ce_dirty") < 0)
        return -1;
    return check(g,
                 g->api.func_attribute(g->dirty, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                       (int)g->base.facts.shared_per_block),
                 e, "give ce_dirty all shared memory");
}

static int make_tools(gpu_cuda *g, err *e)
{
    static const char image[] = TOOLS_PTX;
    if (check(g, g->api.module_load(&g->tools, image), e, "load the runner's kernels") < 0 ||
        check(g, g->api.module_function(&g->sum, g->tools, "ce_sum"), e, "find ce_sum") < 0 ||
        make_dirty(g, e) < 0)
        return -1;
    return check(g, g->api.mem_alloc(&g->sum_at, sizeof(uint64_t)), e, "allocate device memory");
}

static int make_context(gpu_cuda *g, err *e)
{
    CUmemAllocationProp prop = allocation_on(g->device);
    if (check(g, g->api.ctx_create(&g->context, CU_CTX_SCHED_AUTO, g->device), e,
              "create a context") < 0 ||
        check(g, g->api.stream_create(&g->stream, CU_STREAM_NON_BLOCKING), e, "create a stream") <
            0 ||
        check(g, g->api.mem_granularity(&g->granularity, &prop, CU_MEM_ALLOC_GRANULARITY_MINIMUM),
              e, "ask for the mapping granularity") < 0)
        return -1;
    return make_tools(g, e);
}

static void cuda_unload(gpu *self)
{
    gpu_cuda *g = cuda_of(self);
    if (g->candidate != NULL && !g->broken)
        g->api.module_unload(g->candidate);
    g->candidate = NULL;
}

static void cuda_disarm(gpu *self)
{
    gpu_cuda *g = cuda_of(self);
    armed_graphs *a = &g->armed;
    timer_close(&a->timer);
    for (size_t k = 0; k < CE_TIMING_SLOTS_MAX && !g->broken; k++) {
        if (a->calls[k] != NULL)
            g->api.graph_destroy(a->calls[k]);
        if (a->prepare[k] != NULL)
            g->api.graph_destroy(a->prepare[k]);
    }
    *a = (armed_graphs){0};
}

static void cuda_close(gpu *self)
{
    gpu_cuda *g = cuda_of(self);
    if (g->api.library != NULL)
        cuda_disarm(self);
    if (g->api.library != NULL && !g->broken) {
        cuda_unload(self);
        if (g->sum_at != 0)
            g->api.mem_free(g->sum_at);
        if (g->tools != NULL)
            g->api.module_unload(g->tools);
        if (g->stream != NULL)
            g->api.stream_destroy(g->stream);
        if (g->context != NULL)
            g->api.ctx_destroy(g->context);
        cuda_api_close(&g->api);
    }
    free(g);
}

/* ---- module ---- */

static int cuda_load(gpu *self, const void *image, size_t size, runner_verdict *out, err *e)
{
    gpu_cuda *g = cuda_of(self);
    cuda_unload(self);
    /* The driver takes no size and PTX ends with a NUL: a NUL behind the image makes both safe. */
    SCOPED(scoped_free) char *copy = xmalloc(size + 1);
    memcpy(copy, image, size);
    copy[size] = '\0';
    CUresult code = g->api.module_load(&g->candidate, copy);
    if (code == CUDA_SUCCESS)
        return 0;
    g->candidate = NULL;
    return fault_judge((int64_t)code, FAULT_AT_LOAD, NULL, out)
               ? 0
               : failed(&g->api, code, e, "load the candidate");
}

/* param_size gives 0 past the kernel's last parameter. */
static size_t param_size(const gpu_cuda *g, CUfunction function, size_t i)
{
    size_t offset = 0;
    size_t size = 0;
    return g->api.func_param_info(function, i, &offset, &size) == CUDA_SUCCESS ? size : 0;
}

static void examine_params(const gpu_cuda *g, CUfunction function, const gpu_call *call,
                           runner_verdict *out)
{
    char pointer[128];
    size_t count = 0;
    while (count < ARENA_SLOTS && param_size(g, function, count) != 0)
        count++;
    if (count != call->arg_count) {
        snprintf(pointer, sizeof pointer, "%s/args", call->pointer);
        verdict_set(out, OUTCOME_PLAN_INVALID, pointer,
                    "%s: kernel %s has %zu parameters, the plan gives %zu", pointer, call->entry,
                    count, call->arg_count);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        size_t size = param_size(g, function, i);
        if (size == call->args[i].size)
            continue;
        snprintf(pointer, sizeof pointer, "%s/args/%zu", call->pointer, i);
        verdict_set(out, OUTCOME_PLAN_INVALID, pointer,
                    "%s: kernel %s declares %zu bytes, the plan gives %zu", pointer, call->entry,
                    size, call->args[i].size);
        return;
    }
}

static int find_function(const gpu_cuda *g, const gpu_call *call, CUfunction *function,
                         runner_verdict *out, err *e)
{
    CUresult code = g->api.module_function(function, g->candidate, call->entry);
    if (code == CUDA_SUCCESS || fault_judge((int64_t)code, FAULT_AT_LAUNCH, call->pointer, out))
        return 0;
    return failed(&g->api, code, e, "find a kernel");
}

static int cuda_examine(gpu *self, const gpu_call *call, runner_verdict *out, err *e)
{
    gpu_cuda *g = cuda_of(self);
    CUfunction function = NULL;
    if (find_function(g, call, &function, out, e) < 0)
        return -1;
    if (verdict_is_ok(out) && g->api.func_param_info != NULL)
        examine_params(g, function, call, out);
    return verdict_is_ok(out) ? gpu_room_make(&g->api, &self->facts, function, call, out, e) : 0;
}

/* ---- memory ---- */

static void cuda_unmap(gpu *self, gpu_mem *mem)
{
    gpu_cuda *g = cuda_of(self);
    if (g->broken)
        return;
    if (mem->base != 0)
        self->exact ? g->api.mem_free(mem->base) : g->api.mem_unmap(mem->base, mem->bytes);
    if (mem->handle != 0)
        g->api.mem_release(mem->handle);
    if (mem->range != 0)
        g->api.address_free(mem->range, mem->bytes + 2 * (uint64_t)GUARD_BYTES);
    *mem = (gpu_mem){0};
}

static int set_access(const gpu_cuda *g, const gpu_mem *mem, CUmemAccess_flags flags, err *e)
{
    const CUmemAccessDesc access = {
        .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = g->device}, .flags = flags};
    return check(g, g->api.mem_access(mem->base, mem->bytes, &access, 1), e, "set access rights");
}

static int map_steps(gpu_cuda *g, gpu_mem *mem, err *e)
{
    CUmemAllocationProp prop = allocation_on(g->device);
    CUdeviceptr range = 0;
    CUmemGenericAllocationHandle handle = 0;
    if (check(g, g->api.address_reserve(&range, mem->bytes + 2 * (uint64_t)GUARD_BYTES, 0, 0, 0), e,
              "reserve addresses") < 0)
        return -1;
    mem->range = range;
    if (check(g, g->api.mem_create(&handle, mem->bytes, &prop, 0), e, "allocate device memory") < 0)
        return -1;
    mem->handle = handle;
    CUdeviceptr base = range + GUARD_BYTES;
    if (check(g, g->api.mem_map(base, mem->bytes, 0, handle, 0), e, "map device memory") < 0)
        return -1;
    mem->base = base;
    return set_access(g, mem, CU_MEM_ACCESS_FLAGS_PROT_READWRITE, e);
}

/* map_exact: a tool that looks on knows the end of an allocation, not that of a mapping. */
static int map_exact(const gpu_cuda *g, uint64_t bytes, gpu_mem *out, err *e)
{
    CUdeviceptr base = 0;
    int rc = check(g, g->api.mem_alloc(&base, bytes > 0 ? bytes : 1), e, "allocate device memory");
    *out = (gpu_mem){.base = base, .bytes = bytes};
    return rc;
}

static int cuda_map(gpu *self, uint64_t bytes, gpu_mem *out, err *e)
{
    gpu_cuda *g = cuda_of(self);
    if (self->exact)
        return map_exact(g, bytes, out, e);
    if (bytes > (uint64_t)self->facts.memory_bytes)
        return err_set(e, ERR_LIMIT, "a buffer of %llu bytes does not fit the device's %lld",
                       (unsigned long long)bytes, (long long)self->facts.memory_bytes);
    uint64_t granules = (bytes + g->granularity - 1) / g->granularity;
    gpu_mem mem = {.bytes = (granules > 0 ? granules : 1) * g->granularity};
    if (map_steps(g, &mem, e) < 0) {
        cuda_unmap(self, &mem);
        return -1;
    }
    *out = mem;
    return 0;
}

static int cuda_wait(gpu *self, err *e)
{
    gpu_cuda *g = cuda_of(self);
    return check(g, g->api.stream_wait(g->stream), e, "wait for the device");
}

static int cuda_protect(gpu *self, const gpu_mem *mem, err *e)
{
    if (cuda_wait(self, e) < 0)
        return -1;
    return set_access(cuda_of(self), mem, CU_MEM_ACCESS_FLAGS_PROT_READ, e);
}

static CUresult queue_fill(const gpu_cuda *g, const gpu_fill *fill)
{
    if (fill->count == 0)
        return CUDA_SUCCESS;
    if (fill->width == 1)
        return g->api.memset8(fill->at, (unsigned char)fill->value, fill->count, g->stream);
    if (fill->width == 2)
        return g->api.memset16(fill->at, (unsigned short)fill->value, fill->count, g->stream);
    return g->api.memset32(fill->at, fill->value, fill->count, g->stream);
}

static int cuda_fill(gpu *self, const gpu_fill *fill, err *e)
{
    gpu_cuda *g = cuda_of(self);
    return check(g, queue_fill(g, fill), e, "fill device memory");
}

static int cuda_copy(gpu *self, uint64_t to, uint64_t from, uint64_t bytes, err *e)
{
    gpu_cuda *g = cuda_of(self);
    if (bytes == 0)
        return 0;
    return check(g, g->api.copy_dtod(to, from, bytes, g->stream), e, "copy device memory");
}

static int cuda_read(gpu *self, void *to, uint64_t from, uint64_t bytes, err *e)
{
    gpu_cuda *g = cuda_of(self);
    if (bytes != 0 &&
        check(g, g->api.copy_dtoh(to, from, bytes, g->stream), e, "read device memory") < 0)
        return -1;
    return cuda_wait(self, e);
}

static int cuda_sum(gpu *self, uint64_t at, uint64_t bytes, uint64_t salt, uint64_t *out, err *e)
{
    gpu_cuda *g = cuda_of(self);
    uint64_t words = (bytes + 3) / 4;
    unsigned blocks = (unsigned)self->facts.sm_count * SUM_BLOCKS_PER_SM;
    void *args[] = {&at, &words, &salt, &g->sum_at};
    if (check(g, g->api.memset32(g->sum_at, 0, 2, g->stream), e, "clear the checksum") < 0 ||
        check(g, g->api.launch(g->sum, blocks, 1, 1, SUM_THREADS, 1, 1, 0, g->stream, args, NULL),
              e, "launch the checksum kernel") < 0)
        return -1;
    return cuda_read(self, out, g->sum_at, sizeof *out, e);
}

static int cuda_dirty(gpu *self, uint64_t salt, err *e)
{
    gpu_cuda *g = cuda_of(self);
    const unsigned bytes = (unsigned)self->facts.shared_per_block;
    uint32_t words = bytes / 4, value = (uint32_t)(salt ^ salt >> 32);
    unsigned blocks = (unsigned)self->facts.sm_count * DIRTY_BLOCKS_PER_SM;
    void *args[] = {&words, &value};
    return check(
        g, g->api.launch(g->dirty, blocks, 1, 1, DIRTY_THREADS, 1, 1, bytes, g->stream, args, NULL),
        e, "launch the kernel that dirties shared memory");
}

/* ---- staging ---- */

static int cuda_attach(gpu *self, const gpu_staging *staging, uint64_t *base, err *e)
{
    gpu_cuda *g = cuda_of(self);
    CUipcMemHandle handle;
    CUdeviceptr at = 0;
    if (staging->handle == NULL)
        return err_set(e, ERR_PROTOCOL, "a cuda runner needs staging memory by CUDA IPC handle");
    memcpy(&handle, staging->handle, sizeof handle);
    if (check(g, g->api.ipc_open(&at, handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS), e,
              "open staging memory") < 0)
        return -1;
    *base = at;
    return 0;
}

static int cuda_detach(gpu *self, uint64_t base, err *e)
{
    gpu_cuda *g = cuda_of(self);
    if (cuda_wait(self, e) < 0)
        return -1;
    return check(g, g->api.ipc_close(base), e, "close staging memory");
}

/* ---- launches ---- */

/* place_args fills arena and pointer list; what the plan does not give reads as zero. A plan may have
 * thousands of launches: only what the last one left is cleared. */
static void place_args(gpu_cuda *g, const gpu_call *call)
{
    memset(g->arena, 0, g->placed * 8);
    for (size_t i = 0; i < call->arg_count; i++) {
        memcpy(g->arena + i * 8, call->args[i].bytes, call->args[i].size);
        g->params[i] = g->arena + i * 8;
    }
    for (size_t i = call->arg_count; i < g->placed; i++)
        g->params[i] = g->arena + ARENA_BYTES / 2;
    g->placed = call->arg_count;
}

static CUresult queue_launch(gpu_cuda *g, CUfunction function, const gpu_call *call)
{
    const uint32_t *grid = call->grid, *block = call->block;
    place_args(g, call);
    if (call->cooperative)
        return g->api.launch_cooperative(function, grid[0], grid[1], grid[2], block[0], block[1],
                                         block[2], call->shared, g->stream, g->params);
    return g->api.launch(function, grid[0], grid[1], grid[2], block[0], block[1], block[2],
                         call->shared, g->stream, g->params, NULL);
}

/* queue_call launches one node. A refusal is a verdict or an err, as fault.h says. */
static int queue_call(gpu_cuda *g, const gpu_call *call, runner_verdict *out, err *e)
{
    if (call->entry == NULL) {
        CUresult code = queue_fill(g, &call->fill);
        if (code == CUDA_SUCCESS || fault_judge((int64_t)code, FAULT_AT_WAIT, NULL, out))
            return 0;
        return failed(&g->api, code, e, "clear scratch");
    }
    CUfunction function = NULL;
    if (find_function(g, call, &function, out, e) < 0)
        return -1;
    if (!verdict_is_ok(out))
        return 0;
    CUresult code = queue_launch(g, function, call);
    if (code == CUDA_SUCCESS || fault_judge((int64_t)code, FAULT_AT_LAUNCH, call->pointer, out))
        return 0;
    return failed(&g->api, code, e, "launch");
}

static int queue_calls(gpu_cuda *g, const gpu_call *calls, size_t count, runner_verdict *out,
                       err *e)
{
    for (size_t i = 0; i < count && verdict_is_ok(out); i++)
        if (queue_call(g, &calls[i], out, e) < 0)
            return -1;
    return 0;
}

static void tell_hung(runner_verdict *out, int64_t deadline_ms)
{
    verdict_set(out, OUTCOME_HUNG, NULL, "the kernels did not finish within %lld ms",
                (long long)deadline_ms);
}

/* wait_until polls, so that a kernel that never ends cannot hold us. */
static CUresult wait_until(const gpu_cuda *g, int64_t end_us)
{
    useconds_t nap = NAP_MIN_US;
    CUresult code;
    while ((code = g->api.stream_query(g->stream)) == CUDA_ERROR_NOT_READY) {
        if (clock_mono_us() > end_us)
            return code;
        usleep(nap);
        nap = nap * 2 < NAP_MAX_US ? nap * 2 : NAP_MAX_US;
    }
    return code;
}

static int run_calls(gpu_cuda *g, const gpu_call *calls, size_t count, int64_t deadline_ms,
                     runner_verdict *out, err *e)
{
    int64_t start = clock_mono_us();
    if (queue_calls(g, calls, count, out, e) < 0)
        return -1;
    if (!verdict_is_ok(out))
        return 0;
    CUresult code = wait_until(g, start + deadline_ms * 1000);
    out->elapsed_us = clock_mono_us() - start;
    if (code == CUDA_ERROR_NOT_READY)
        tell_hung(out, deadline_ms);
    else if (code != CUDA_SUCCESS && !fault_judge((int64_t)code, FAULT_AT_WAIT, NULL, out))
        return failed(&g->api, code, e, "wait for the candidate");
    return 0;
}

static int cuda_run(gpu *self, const gpu_call *calls, size_t count, int64_t deadline_ms,
                    runner_verdict *out, err *e)
{
    gpu_cuda *g = cuda_of(self);
    int rc = run_calls(g, calls, count, deadline_ms, out, e);
    g->broken |= rc < 0 || !verdict_is_ok(out);
    return rc;
}

/* ---- timing ---- */

static int capture_fills(gpu_cuda *g, const gpu_slot *slot, CUgraph *out, err *e)
{
    if (check(g, g->api.capture_begin(g->stream, CU_STREAM_CAPTURE_MODE_RELAXED), e,
              "begin a graph") < 0)
        return -1;
    CUresult code = CUDA_SUCCESS;
    for (size_t i = 0; i < slot->fill_count && code == CUDA_SUCCESS; i++)
        code = queue_fill(g, &slot->fills[i]);
    CUresult ended = g->api.capture_end(g->stream, out);
    return check(g, code != CUDA_SUCCESS ? code : ended, e, "capture the poison graph");
}

static int capture_calls(gpu_cuda *g, const gpu_slot *slot, CUgraph *out, runner_verdict *verdict,
                         err *e)
{
    if (check(g, g->api.capture_begin(g->stream, CU_STREAM_CAPTURE_MODE_RELAXED), e,
              "begin a graph") < 0)
        return -1;
    int rc = queue_calls(g, slot->calls, slot->call_count, verdict, e);
    CUresult ended = g->api.capture_end(g->stream, out);
    if (rc < 0 || !verdict_is_ok(verdict))
        return rc;
    return check(g, ended, e, "capture the plan");
}

static int capture_slots(gpu_cuda *g, const gpu_time_job *job, runner_verdict *out, err *e)
{
    for (size_t k = 0; k < job->slot_count; k++) {
        if (capture_fills(g, &job->slots[k], &g->armed.prepare[k], e) < 0 ||
            capture_calls(g, &job->slots[k], &g->armed.calls[k], out, e) < 0)
            return -1;
        if (!verdict_is_ok(out))
            return 0;
    }
    return 0;
}

static int cuda_arm(gpu *self, const gpu_time_job *job, gpu_timing *timing, runner_verdict *out,
                    err *e)
{
    gpu_cuda *g = cuda_of(self);
    const timer_graphs graphs = {(void *const *)g->armed.calls, (void *const *)g->armed.prepare,
                                 g->stream, g->base.facts.l2_bytes};
    if (job->slot_count > CE_TIMING_SLOTS_MAX)
        return err_set(e, ERR_PROTOCOL, "%zu slots are too many", job->slot_count);
    g->armed.slots = job->slots;
    g->armed.slot_count = job->slot_count;
    g->armed.chained = job->chained;
    int rc = capture_slots(g, job, out, e);
    if (rc == 0 && verdict_is_ok(out))
        rc = timer_open(&g->armed.timer, job, &graphs, timing, out, e);
    g->broken |= rc < 0 || !verdict_is_ok(out);
    return rc;
}

static int cuda_block(gpu *self, const gpu_block *block, gpu_timing *timing, runner_verdict *out,
                      err *e)
{
    gpu_cuda *g = cuda_of(self);
    int rc = timer_block(&g->armed.timer, block, timing, out, e);
    g->broken |= rc < 0 || !verdict_is_ok(out);
    return rc;
}

/* ---- profile ---- */

static bool launch_slot(void *arg, const gpu_slot *slot, char *why, size_t size)
{
    enum { CALL_MS = 10000 };
    err e = {0};
    runner_verdict verdict;
    verdict_ok(&verdict);
    bool ran = cuda_run(arg, slot->calls, slot->call_count, CALL_MS, &verdict, &e) == 0 &&
               verdict_is_ok(&verdict);
    if (!ran)
        snprintf(why, size, "%.200s", e.code != ERR_NONE ? e.text : verdict.text);
    return ran;
}

static char *cuda_profile(gpu *self, const gpu_profile_job *ask)
{
    gpu_cuda *g = cuda_of(self);
    const profiler_job job = {.ask = ask,
                              .session = g->armed.timer.session,
                              .slots = g->armed.slots,
                              .slot_count = g->armed.slot_count,
                              .chained = g->armed.chained,
                              .context = g->context,
                              .stream = g->stream,
                              .ordinal = g->device,
                              .launch = launch_slot,
                              .arg = g};
    return profiler_run(&job);
}

static const gpu_ops cuda_ops = {
    .kind = "cuda",
    .close = cuda_close,
    .load = cuda_load,
    .unload = cuda_unload,
    .examine = cuda_examine,
    .map = cuda_map,
    .unmap = cuda_unmap,
    .protect = cuda_protect,
    .fill = cuda_fill,
    .copy = cuda_copy,
    .read = cuda_read,
    .sum = cuda_sum,
    .wait = cuda_wait,
    .dirty = cuda_dirty,
    .attach = cuda_attach,
    .detach = cuda_detach,
    .run = cuda_run,
    .arm = cuda_arm,
    .block = cuda_block,
    .disarm = cuda_disarm,
    .profile = cuda_profile,
};

gpu *gpu_cuda_open(int ordinal, err *e)
{
    gpu_cuda *g = xcalloc(1, sizeof *g);
    g->base.ops = &cuda_ops;
    g->placed = ARENA_SLOTS; /* the first launch fills the whole list */
    if (start_driver(&g->api, e) < 0 || find_device(&g->api, ordinal, &g->device, e) < 0)
        goto fail;
    CUresult code = read_facts(&g->api, g->device, &g->base.facts);
    if (code != CUDA_SUCCESS) {
        failed(&g->api, code, e, "read the device's facts");
        goto fail;
    }
    if (make_context(g, e) < 0)
        goto fail;
    return &g->base;
fail:
    cuda_close(&g->base);
    return NULL;
}
