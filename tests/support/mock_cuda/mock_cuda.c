/* mock_cuda - see mock_cuda.h.
 *
 * SPDX-License-Identifier: MIT */
#define __CUDA_API_VERSION_INTERNAL /* declares the versioned names without renaming macros */
#include <cuda.h>

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#include <fcntl.h>

#include "mock_cuda.h"

enum {
    GRANULARITY = 2 * 1024 * 1024,
    L2_BYTES = 1024 * 1024,
    SHARED_MAX = 232448,
    WITHOUT_OPT_IN = 49152,
    SM_COUNT = 4,
    ALLOCATIONS_MAX = 4096
};

typedef struct op op;
struct op {
    mock_kind kind;
    op *next;
    const mock_kernel *kernel;
    mock_launch launch;
    uint64_t params[MOCK_PARAMS_MAX];
    void *slots[MOCK_PARAMS_MAX];
    uint64_t at, from, count;
    uint32_t value, width;
    struct CUevent_st *event;
    struct CUgraphExec_st *exec;
};

struct CUevent_st {
    uint64_t ns;
};

struct CUgraph_st {
    op *first, *last;
    size_t count;
    bool has_events; /* event nodes, which an executable graph may be told anew */
};

struct CUgraphExec_st {
    struct CUgraph_st *graph;
    const struct CUgraph_st *origin; /* of a snapshot */
};

typedef struct allocation {
    uint64_t at;
    size_t bytes;
    int fd; /* shared through /proc */
} allocation;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t work = PTHREAD_COND_INITIALIZER;
static op *head, *tail;
static size_t unfinished;
static bool worker_runs;
static CUresult sticky;
static struct CUgraph_st *capture; /* of the one stream; NULL when not capturing */
static bool has_context;
static sigjmp_buf escape;
static pthread_t worker; /* valid while worker_runs */
static mock_trace trace[MOCK_TRACE_MAX];
static size_t trace_count;
static allocation allocations[ALLOCATIONS_MAX];
static char refused[64];
static int refused_result;
static size_t queue_room;
static int stream_marker;

/* ---- objects: reachable from here, since a device that is given up frees nothing ---- */

typedef struct object {
    struct object *previous, *next;
} object;

static object objects = {&objects, &objects};

static void *object_new(size_t size)
{
    object *o = calloc(1, sizeof *o + size);
    o->previous = &objects;
    o->next = objects.next;
    objects.next->previous = o;
    objects.next = o;
    return o + 1;
}

static void object_free(void *memory)
{
    object *o = (object *)memory - 1;
    o->previous->next = o->next;
    o->next->previous = o->previous;
    free(o);
}

/* ---- test hooks ---- */

const mock_trace *mock_cuda_trace(size_t *count)
{
    *count = trace_count;
    return trace;
}

void mock_cuda_trace_clear(void)
{
    trace_count = 0;
}

void mock_cuda_queue_room(size_t nodes)
{
    queue_room = nodes;
}

void mock_cuda_refuse(const char *function, int result)
{
    snprintf(refused, sizeof refused, "%s", function);
    refused_result = result;
}

/* gate is what every call starts with: a refusal ordered by the test, or the sticky error. */
static CUresult gate(const char *function)
{
    if (strcmp(function, refused) == 0) {
        refused[0] = '\0';
        return (CUresult)refused_result;
    }
    return sticky;
}

#define GATE()                           \
    do {                                 \
        CUresult gate_ = gate(__func__); \
        if (gate_ != CUDA_SUCCESS)       \
            return gate_;                \
    } while (0)

/* ---- the queue ---- */

__attribute__((noreturn)) void mock_fault(int result)
{
    siglongjmp(escape, result);
}

static void on_fault(int sig)
{
    if (worker_runs && pthread_equal(pthread_self(), worker))
        siglongjmp(escape, CUDA_ERROR_ILLEGAL_ADDRESS);
    signal(sig, SIG_DFL);
    raise(sig);
}

static void fill(const op *o)
{
    for (uint64_t i = 0; i < o->count; i++)
        memcpy((char *)(uintptr_t)o->at + i * o->width, &o->value, o->width);
}

static void execute(op *o)
{
    struct timespec t;
    switch (o->kind) {
    case MOCK_KERNEL:
        o->kernel->run(&o->launch);
        break;
    case MOCK_FILL:
        fill(o);
        break;
    case MOCK_COPY:
        memmove((void *)(uintptr_t)o->at, (const void *)(uintptr_t)o->from, o->count);
        break;
    case MOCK_EVENT:
        clock_gettime(CLOCK_MONOTONIC, &t);
        o->event->ns = (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
        break;
    case MOCK_GRAPH:
        for (op *node = o->exec->graph->first; node != NULL; node = node->next)
            execute(node);
        break;
    }
}

static op *next_op(void)
{
    pthread_mutex_lock(&lock);
    while (head == NULL)
        pthread_cond_wait(&work, &lock);
    op *o = head;
    head = o->next;
    tail = head == NULL ? NULL : tail;
    pthread_mutex_unlock(&lock);
    return o;
}

static void *run_worker(void *arg)
{
    (void)arg;
    for (;;) {
        op *o = next_op();
        int fault = sigsetjmp(escape, 1);
        if (fault == 0 && sticky == CUDA_SUCCESS)
            execute(o);
        else if (sticky == CUDA_SUCCESS)
            sticky = (CUresult)fault;
        pthread_mutex_lock(&lock);
        unfinished--;
        pthread_mutex_unlock(&lock);
        free(o);
    }
    return NULL;
}

/* catch_faults is repeated before each launch: a test framework puts handlers of its own in place. */
static void catch_faults(void)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = on_fault;
    action.sa_flags = SA_NODEFER;
    sigaction(SIGSEGV, &action, NULL);
    sigaction(SIGBUS, &action, NULL);
}

static void start_worker(void)
{
    pthread_create(&worker, NULL, run_worker, NULL);
    pthread_detach(worker);
    worker_runs = true;
}

static void append(op **first, op **last, op *o)
{
    if (*first == NULL)
        *first = o;
    else
        (*last)->next = o;
    *last = o;
}

static const void *graph_of(const op *o)
{
    if (o->exec == NULL)
        return NULL;
    return o->exec->origin != NULL ? o->exec->origin : o->exec->graph;
}

/* submit copies an op into the queue, or into the graph that is being captured. */
static CUresult submit(const op *what)
{
    op *o = malloc(sizeof *o);
    *o = *what;
    o->next = NULL;
    o->launch.params = o->slots;
    for (size_t i = 0; i < MOCK_PARAMS_MAX; i++)
        o->slots[i] = &o->params[i];
    if (capture != NULL) {
        append(&capture->first, &capture->last, o);
        capture->count++;
        return CUDA_SUCCESS;
    }
    pthread_mutex_lock(&lock);
    if (trace_count < MOCK_TRACE_MAX)
        trace[trace_count++] =
            (mock_trace){o->kind, o->kernel != NULL ? o->kernel->name : NULL, graph_of(o)};
    append(&head, &tail, o);
    unfinished++;
    catch_faults();
    if (!worker_runs)
        start_worker();
    pthread_cond_signal(&work);
    pthread_mutex_unlock(&lock);
    return CUDA_SUCCESS;
}

static bool busy(void)
{
    pthread_mutex_lock(&lock);
    bool is = unfinished != 0;
    pthread_mutex_unlock(&lock);
    return is;
}

static CUresult wait_all(void)
{
    const struct timespec nap = {0, 10000};
    while (busy())
        nanosleep(&nap, NULL);
    return sticky;
}

/* ---- driver and device ---- */

MOCK_API CUresult cuInit(unsigned int flags)
{
    (void)flags;
    GATE();
    return CUDA_SUCCESS;
}

MOCK_API CUresult cuDriverGetVersion(int *version)
{
    *version = 13000;
    return CUDA_SUCCESS;
}

MOCK_API CUresult cuGetErrorName(CUresult error, const char **text)
{
    *text = error == CUDA_ERROR_OUT_OF_MEMORY ? "CUDA_ERROR_OUT_OF_MEMORY" : "CUDA_ERROR_MOCK";
    return CUDA_SUCCESS;
}

MOCK_API CUresult cuGetErrorString(CUresult error, const char **text)
{
    (void)error;
    *text = "said by the mock driver";
    return CUDA_SUCCESS;
}

MOCK_API CUresult cuDeviceGet(CUdevice *device, int ordinal)
{
    *device = ordinal;
    return ordinal == 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

MOCK_API CUresult cuDeviceGetCount(int *count)
{
    GATE();
    *count = 1;
    return CUDA_SUCCESS;
}

MOCK_API CUresult cuDeviceGetName(char *name, int size, CUdevice device)
{
    (void)device;
    snprintf(name, (size_t)size, "mock GPU");
    return CUDA_SUCCESS;
}

MOCK_API CUresult cuDeviceGetUuid(CUuuid *uuid, CUdevice device)
{
    (void)device;
    for (size_t i = 0; i < sizeof uuid->bytes; i++)
        uuid->bytes[i] = (char)(0xA0 + i);
    return CUDA_SUCCESS;
}

MOCK_API CUresult cuDeviceTotalMem_v2(size_t *bytes, CUdevice device)
{
    (void)device;
    *bytes = (size_t)1 << 30;
    return CUDA_SUCCESS;
}

typedef struct attribute_row {
    CUdevice_attribute name;
    int value;
} attribute_row;

MOCK_API CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute name, CUdevice device)
{
    static const attribute_row rows[] = {
        {CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, SM_COUNT},
        {CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, L2_BYTES},
        {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK, 49152},
        {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, SHARED_MAX},
        {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 1024},
        {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X, 2147483647},
        {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y, 65535},
        {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z, 65535},
        {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X, 1024},
        {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y, 1024},
        {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z, 64},
        {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 9},
        {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, 0},
    };
    (void)device;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].name == name) {
            *value = rows[i].value;
            return CUDA_SUCCESS;
        }
    return CUDA_ERROR_INVALID_VALUE;
}

MOCK_API CUresult cuCtxCreate_v2(CUcontext *context, unsigned int flags, CUdevice device)
{
    (void)flags;
    (void)device;
    GATE();
    has_context = true;
    *context = (CUcontext)&stream_marker;
    return CUDA_SUCCESS;
}

MOCK_API CUresult cuCtxDestroy_v2(CUcontext context)
{
    (void)context;
    has_context = false;
    return CUDA_SUCCESS;
}

MOCK_API CUresult cuCtxGetDevice(CUdevice *device)
{
    *device = 0;
    return has_context ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}

/* ---- modules ---- */

MOCK_API CUresult cuModuleLoadData(CUmodule *module, const void *image)
{
    GATE();
    *module = (CUmodule)&stream_marker;
    return strncmp(image, "BAD", 3) == 0 ? CUDA_ERROR_INVALID_IMAGE : CUDA_SUCCESS;
}

MOCK_API CUresult cuModuleUnload(CUmodule module)
{
    (void)module;
    return sticky;
}

MOCK_API CUresult cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name)
{
    (void)module;
    GATE();
    const mock_kernel *kernel = mock_kernel_find(name);
    *function = (CUfunction)(uintptr_t)kernel;
    return kernel != NULL ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

static const mock_kernel *kernel_of(CUfunction function)
{
    return (const mock_kernel *)(uintptr_t)function;
}

/* Kernels with an opt-in, and how many bytes. */
static struct opt_in {
    const mock_kernel *kernel;
    int bytes;
} opt_ins[16];

static int *opt_in_of(const mock_kernel *kernel)
{
    size_t i = 0;
    while (i + 1 < sizeof opt_ins / sizeof *opt_ins && opt_ins[i].kernel != NULL &&
           opt_ins[i].kernel != kernel)
        i++;
    opt_ins[i].kernel = kernel;
    return &opt_ins[i].bytes;
}

MOCK_API CUresult cuFuncSetAttribute(CUfunction function, CUfunction_attribute name, int value)
{
    const mock_kernel *kernel = kernel_of(function);
    GATE();
    if (name != CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES || value < 0 ||
        value + kernel->shared > SHARED_MAX)
        return CUDA_ERROR_INVALID_VALUE;
    *opt_in_of(kernel) = value;
    return CUDA_SUCCESS;
}

MOCK_API CUresult cuFuncGetAttribute(int *value, CUfunction_attribute name, CUfunction function)
{
    GATE();
    if (name != CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES)
        return CUDA_ERROR_INVALID_VALUE;
    *value = kernel_of(function)->shared;
    return CUDA_SUCCESS;
}

MOCK_API CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, CUfunction function,
                                                              int threads, size_t shared)
{
    const size_t all = (size_t)kernel_of(function)->shared + shared + 1024;
    GATE();
    *blocks = 2048 / threads;
    if ((size_t)*blocks * all > SHARED_MAX + 1024)
        *blocks = (int)((SHARED_MAX + 1024) / all);
    return CUDA_SUCCESS;
}

MOCK_API CUresult cuFuncGetParamInfo(CUfunction function, size_t index, size_t *offset,
                                     size_t *size)
{
    const mock_kernel *kernel = kernel_of(function);
    if (index >= kernel->param_count)
        return CUDA_ERROR_INVALID_VALUE;
    *offset = index * 8;
    *size = kernel->param_size[index];
    return CUDA_SUCCESS;
}

MOCK_API CUresult cuLaunchKernel(CUfunction function, unsigned int grid_x, unsigned int grid_y,
                                 unsigned int grid_z, unsigned int block_x, unsigned int block_y,
                                 unsigned int block_z, unsigned int shared, CUstream stream,
                                 void **params, void **extra)
{
    (void)stream;
    (void)extra;
    GATE();
    const mock_kernel *kernel = kernel_of(function);
    if (block_x * block_y * block_z > 1024 || grid_x == 0 ||
        (shared + (unsigned)kernel->shared > WITHOUT_OPT_IN && (int)shared > *opt_in_of(kernel)))
        return CUDA_ERROR_INVALID_VALUE;
    op o = {.kind = MOCK_KERNEL,
            .kernel = kernel_of(function),
            .launch = {{grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, NULL}};
    for (size_t i = 0; i < o.kernel->param_count; i++)
        memcpy(&o.params[i], params[i], o.kernel->param_size[i]);
    return submit(&o);
}

MOCK_API CUresult cuLaunchCooperativeKernel(CUfunction function, unsigned int grid_x,
                                            unsigned int grid_y, unsigned int grid_z,
                                            unsigned int block_x, unsigned int block_y,
                                            unsigned int block_z, unsigned int shared,
                                            CUstream stream, void **params)
{
    int blocks = 0;
    GATE();
    cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function,
                                                (int)(block_x * block_y * block_z), shared);
    if ((uint64_t)grid_x * grid_y * grid_z > (uint64_t)blocks * SM_COUNT)
        return CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE;
    return cuLaunchKernel(function, grid_x, grid_y, grid_z, block_x, block_y, block_z, shared,
                          stream, params, NULL);
}

/* ---- memory ---- */

static allocation *find_allocation(uint64_t at)
{
    for (size_t i = 0; i < ALLOCATIONS_MAX; i++)
        if (allocations[i].at == at)
            return &allocations[i];
    return NULL;
}

static CUresult map_shared(CUdeviceptr *at, int fd, size_t bytes)
{
    allocation *a = find_allocation(0);
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (memory == MAP_FAILED || a == NULL)
        return CUDA_ERROR_OUT_OF_MEMORY;
    *a = (allocation){(uint64_t)(uintptr_t)memory, bytes, fd};
    *at = a->at;
    return CUDA_SUCCESS;
}

MOCK_API CUresult cuMemAlloc_v2(CUdeviceptr *at, size_t bytes)
{
    GATE();
    int fd = memfd_create("mock_cuda", MFD_CLOEXEC);
    if (fd < 0 || ftruncate(fd, (off_t)bytes) < 0)
        return CUDA_ERROR_OUT_OF_MEMORY;
    return map_shared(at, fd, bytes);
}

MOCK_API CUresult cuMemFree_v2(CUdeviceptr at)
{
    wait_all();
    allocation *a = find_allocation(at);
    if (a == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    munmap((void *)(uintptr_t)a->at, a->bytes);
    close(a->fd);
    *a = (allocation){0};
    return CUDA_SUCCESS;
}

MOCK_API CUresult cuMemHostAlloc(void **memory, size_t bytes, unsigned int flags)
{
    (void)flags;
    GATE();
    *memory = object_new(bytes);
    return CUDA_SUCCESS;
}

MOCK_API CUresult cuMemFreeHost(void *memory)
{
    wait_all();
    object_free(memory);
    return CUDA_SUCCESS;
}

MOCK_API CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr *at, void *memory, unsigned int flags)
{
    (void)flags;
    *at = (CUdeviceptr)(uintptr_t)memory;
    return CUDA_SUCCESS;
}

MOCK_API CUresult cuMemAddressReserve(CUdeviceptr *at, size_t bytes, size_t alignment,
                                      CUdeviceptr hint, unsigned long long flags)
{
    GATE();
    if (bytes % GRANULARITY != 0 || alignment != 0 || hint != 0 || flags != 0)
        return CUDA_ERROR_INVALID_VALUE;
    void *memory = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    *at = (CUdeviceptr)(uintptr_t)memory;
    return memory == MAP_FAILED ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_SUCCESS;
}

MOCK_API CUresult cuMemAddressFree(CUdeviceptr at, size_t bytes)
{
    return munmap((void *)(uintptr_t)at, bytes) == 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

MOCK_API CUresult cuMemGetAllocationGranularity(size_t *granularity,
                                                const CUmemAllocationProp *prop,
                                                CUmemAllocationGranularity_flags option)
{
    (void)option;
    *granularity = GRANULARITY;
    return prop->type == CU_MEM_ALLOCATION_TYPE_PINNED &&
                   prop->location.type == CU_MEM_LOCATION_TYPE_DEVICE
               ? CUDA_SUCCESS
               : CUDA_ERROR_INVALID_VALUE;
}

MOCK_API CUresult cuMemCreate(CUmemGenericAllocationHandle *handle, size_t bytes,
                              const CUmemAllocationProp *prop, unsigned long long flags)
{
    GATE();
    if (bytes % GRANULARITY != 0 || flags != 0 || prop->type != CU_MEM_ALLOCATION_TYPE_PINNED)
        return CUDA_ERROR_INVALID_VALUE;
    *handle = bytes;
    return CUDA_SUCCESS;
}

MOCK_API CUresult cuMemRelease(CUmemGenericAllocationHandle handle)
{
    return handle != 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

MOCK_API CUresult cuMemMap(CUdeviceptr at, size_t bytes, size_t offset,
                           CUmemGenericAllocationHandle handle, unsigned long long flags)
{
    GATE();
    return at != 0 && offset == 0 && flags == 0 && handle == bytes ? CUDA_SUCCESS
                                                                   : CUDA_ERROR_INVALID_VALUE;
}

MOCK_API CUresult cuMemUnmap(CUdeviceptr at, size_t bytes)
{
    wait_all();
    return mprotect((void *)(uintptr_t)at, bytes, PROT_NONE) == 0 ? CUDA_SUCCESS
                                                                  : CUDA_ERROR_INVALID_VALUE;
}

MOCK_API CUresult cuMemSetAccess(CUdeviceptr at, size_t bytes, const CUmemAccessDesc *access,
                                 size_t count)
{
    GATE();
    if (count != 1 || access->location.type != CU_MEM_LOCATION_TYPE_DEVICE)
        return CUDA_ERROR_INVALID_VALUE;
    int rights = access->flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE ? PROT_READ | PROT_WRITE
                 : access->flags == CU_MEM_ACCESS_FLAGS_PROT_READ    ? PROT_READ
                                                                     : PROT_NONE;
    return mprotect((void *)(uintptr_t)at, bytes, rights) == 0 ? CUDA_SUCCESS
                                                               : CUDA_ERROR_INVALID_VALUE;
}

static CUresult submit_fill(CUdeviceptr at, uint32_t value, uint32_t width, size_t count)
{
    if (at % width != 0)
        return CUDA_ERROR_INVALID_VALUE;
    op o = {.kind = MOCK_FILL, .at = at, .value = value, .width = width, .count = count};
    return submit(&o);
}

MOCK_API CUresult cuMemsetD8Async(CUdeviceptr at, unsigned char value, size_t count,
                                  CUstream stream)
{
    (void)stream;
    GATE();
    return submit_fill(at, value, 1, count);
}

MOCK_API CUresult cuMemsetD16Async(CUdeviceptr at, unsigned short value, size_t count,
                                   CUstream stream)
{
    (void)stream;
    GATE();
    return submit_fill(at, value, 2, count);
}

MOCK_API CUresult cuMemsetD32Async(CUdeviceptr at, unsigned int value, size_t count,
                                   CUstream stream)
{
    (void)stream;
    GATE();
    return submit_fill(at, value, 4, count);
}

static CUresult submit_copy(uint64_t to, uint64_t from, size_t bytes)
{
    op o = {.kind = MOCK_COPY, .at = to, .from = from, .count = bytes};
    return submit(&o);
}

MOCK_API CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, size_t bytes,
                                       CUstream stream)
{
    (void)stream;
    GATE();
    return submit_copy(to, from, bytes);
}

MOCK_API CUresult cuMemcpyDtoHAsync_v2(void *to, CUdeviceptr from, size_t bytes, CUstream stream)
{
    (void)stream;
    GATE();
    return submit_copy((uint64_t)(uintptr_t)to, from, bytes);
}

MOCK_API CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void *from, size_t bytes,
                                       CUstream stream)
{
    (void)stream;
    GATE();
    return submit_copy(to, (uint64_t)(uintptr_t)from, bytes);
}

/* ---- memory of another process: {pid, descriptor, size} inside the handle ---- */

typedef struct shared_name {
    pid_t pid;
    int fd;
    size_t bytes;
} shared_name;

MOCK_API CUresult cuIpcGetMemHandle(CUipcMemHandle *handle, CUdeviceptr at)
{
    allocation *a = find_allocation(at);
    if (at == 0 || a == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    shared_name name = {getpid(), a->fd, a->bytes};
    memset(handle, 0, sizeof *handle);
    memcpy(handle, &name, sizeof name);
    return CUDA_SUCCESS;
}

MOCK_API CUresult cuIpcOpenMemHandle_v2(CUdeviceptr *at, CUipcMemHandle handle, unsigned int flags)
{
    shared_name name;
    char path[64];
    GATE();
    memcpy(&name, &handle, sizeof name);
    snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)name.pid, name.fd);
    int fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0 || flags != CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS)
        return CUDA_ERROR_INVALID_VALUE;
    return map_shared(at, fd, name.bytes);
}

MOCK_API CUresult cuIpcCloseMemHandle(CUdeviceptr at)
{
    return cuMemFree_v2(at);
}

/* ---- streams, events, graphs ---- */

MOCK_API CUresult cuStreamCreate(CUstream *stream, unsigned int flags)
{
    (void)flags;
    GATE();
    *stream = (CUstream)&stream_marker;
    return CUDA_SUCCESS;
}

MOCK_API CUresult cuStreamDestroy_v2(CUstream stream)
{
    (void)stream;
    return wait_all();
}

MOCK_API CUresult cuStreamQuery(CUstream stream)
{
    (void)stream;
    if (busy())
        return CUDA_ERROR_NOT_READY;
    return sticky;
}

MOCK_API CUresult cuStreamSynchronize(CUstream stream)
{
    (void)stream;
    return wait_all();
}

MOCK_API CUresult cuStreamBeginCapture_v2(CUstream stream, CUstreamCaptureMode mode)
{
    (void)stream;
    (void)mode;
    GATE();
    capture = object_new(sizeof *capture);
    return CUDA_SUCCESS;
}

MOCK_API CUresult cuStreamEndCapture(CUstream stream, CUgraph *graph)
{
    (void)stream;
    *graph = capture;
    capture = NULL;
    return sticky;
}

MOCK_API CUresult cuEventCreate(CUevent *event, unsigned int flags)
{
    (void)flags;
    GATE();
    *event = object_new(sizeof **event);
    return CUDA_SUCCESS;
}

MOCK_API CUresult cuEventDestroy_v2(CUevent event)
{
    object_free(event);
    return CUDA_SUCCESS;
}

MOCK_API CUresult cuEventRecord(CUevent event, CUstream stream)
{
    (void)stream;
    GATE();
    op o = {.kind = MOCK_EVENT, .event = event};
    return submit(&o);
}

MOCK_API CUresult cuEventElapsedTime(float *ms, CUevent begin, CUevent end)
{
    GATE();
    *ms = (float)((double)(end->ns - begin->ns) / 1e6);
    return CUDA_SUCCESS;
}

MOCK_API CUresult cuGraphGetNodes(CUgraph graph, CUgraphNode *nodes, size_t *count)
{
    size_t n = 0;
    for (op *o = graph->first; nodes != NULL && o != NULL && n < *count; o = o->next)
        nodes[n++] = (CUgraphNode)o;
    *count = nodes != NULL ? n : graph->count;
    return CUDA_SUCCESS;
}

MOCK_API CUresult cuGraphNodeGetType(CUgraphNode node, CUgraphNodeType *type)
{
    const op *o = (const op *)node;
    *type = o->kind == MOCK_KERNEL ? CU_GRAPH_NODE_TYPE_KERNEL : CU_GRAPH_NODE_TYPE_EMPTY;
    return CUDA_SUCCESS;
}

MOCK_API CUresult cuGraphKernelNodeGetParams_v2(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS *params)
{
    op *o = (op *)node;
    *params = (CUDA_KERNEL_NODE_PARAMS){.func = (CUfunction)(uintptr_t)o->kernel,
                                        .kernelParams = o->slots};
    return CUDA_SUCCESS;
}

MOCK_API CUresult cuGraphCreate(CUgraph *graph, unsigned int flags)
{
    (void)flags;
    GATE();
    *graph = object_new(sizeof **graph);
    return CUDA_SUCCESS;
}

/* add_node appends; that is a chain, so a node may only depend on the one before it. */
static CUresult add_node(CUgraph graph, const CUgraphNode *after, size_t count, const op *what,
                         CUgraphNode *node)
{
    if (count != (graph->last != NULL) || (count == 1 && (op *)after[0] != graph->last))
        return CUDA_ERROR_INVALID_VALUE;
    op *o = malloc(sizeof *o);
    *o = *what;
    o->next = NULL;
    append(&graph->first, &graph->last, o);
    graph->count++;
    *node = (CUgraphNode)o;
    return CUDA_SUCCESS;
}

MOCK_API CUresult cuGraphAddChildGraphNode(CUgraphNode *node, CUgraph graph,
                                           const CUgraphNode *after, size_t count, CUgraph child)
{
    GATE();
    struct CUgraphExec_st *exec = object_new(sizeof *exec);
    exec->graph = child;
    op o = {.kind = MOCK_GRAPH, .exec = exec};
    return add_node(graph, after, count, &o, node);
}

MOCK_API CUresult cuGraphAddEventRecordNode(CUgraphNode *node, CUgraph graph,
                                            const CUgraphNode *after, size_t count, CUevent event)
{
    GATE();
    op o = {.kind = MOCK_EVENT, .event = event};
    graph->has_events = true;
    return add_node(graph, after, count, &o, node);
}

MOCK_API CUresult cuGraphExecEventRecordNodeSetEvent(CUgraphExec exec, CUgraphNode node,
                                                     CUevent event)
{
    (void)exec;
    GATE();
    ((op *)node)->event = event;
    return CUDA_SUCCESS;
}

MOCK_API CUresult cuGraphInstantiateWithFlags(CUgraphExec *exec, CUgraph graph,
                                              unsigned long long flags)
{
    GATE();
    if (flags != 0)
        return CUDA_ERROR_INVALID_VALUE;
    *exec = object_new(sizeof **exec);
    (*exec)->graph = graph;
    return CUDA_SUCCESS;
}

MOCK_API CUresult cuGraphUpload(CUgraphExec exec, CUstream stream)
{
    (void)exec;
    (void)stream;
    return sticky;
}

/* snapshot: what is changed in an executable graph later does not touch a launch that is queued. */
static struct CUgraphExec_st *snapshot(const struct CUgraphExec_st *exec)
{
    struct CUgraphExec_st *copy = object_new(sizeof *copy);
    copy->origin = exec->graph;
    copy->graph = object_new(sizeof *copy->graph);
    for (const op *o = exec->graph->first; o != NULL; o = o->next) {
        op *node = object_new(sizeof *node);
        *node = *o;
        node->next = NULL;
        append(&copy->graph->first, &copy->graph->last, node);
    }
    return copy;
}

MOCK_API CUresult cuGraphLaunch(CUgraphExec exec, CUstream stream)
{
    (void)stream;
    GATE();
    op o = {.kind = MOCK_GRAPH, .exec = exec->graph->has_events ? snapshot(exec) : exec};
    if (queue_room != 0 && exec->graph->count > queue_room)
        wait_all();
    return submit(&o);
}

MOCK_API CUresult cuGraphExecDestroy(CUgraphExec exec)
{
    object_free(exec);
    return CUDA_SUCCESS;
}

MOCK_API CUresult cuGraphDestroy(CUgraph graph)
{
    for (op *o = graph->first; o != NULL;) {
        op *next = o->next;
        free(o);
        o = next;
    }
    object_free(graph);
    return CUDA_SUCCESS;
}
