/* gpu - a device that runs candidates, as a table of operations
 *
 * Purpose:   what the runner needs from a device: guarded memory, a module, launches with a deadline,
 *            timing. Back ends: cuda (gpu_cuda.c), emu (gpu_emu.c: the CPU, no timing) and fake
 *            (gpu_fake.c), which answers whole phases from a script and has no memory.
 * Ownership: gpu_open gives an owned device, closed by gpu_close. Memory is a value that its user
 *            gives back by unmap.
 * Threads:   one owner, one device a process.
 * Errors:    ERR_UNAVAILABLE without driver or device, ERR_LIMIT when device memory does not suffice,
 *            ERR_GPU for anything else the driver says outside a candidate. What a candidate does is a
 *            runner_verdict; after a verdict other than ok the device may be broken: end the process.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_AGENT_NODE_RUNNER_GPU_H
#define CE_AGENT_NODE_RUNNER_GPU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent-node/runner/verdict.h"
#include "common/err.h"

typedef struct gpu gpu;

typedef struct gpu_facts {
    char kind[17]; /* cuda, emu, fake */
    char name[129];
    char uuid[65];
    char arch[17];            /* compile target, "sm_90a" */
    int64_t cc;               /* compute capability times 10 */
    int64_t sm_count;         /* multiprocessors */
    int64_t l2_bytes;         /* as the device says */
    int64_t memory_bytes;     /* of the device */
    double memory_rate;       /* bytes a second that clock and bus allow; 0: not known */
    int64_t shared_per_block; /* static and dynamic, opt-in included */
    int64_t threads_per_block;
    int64_t driver; /* CUDA version of the driver, 13000 */
    int64_t grid_max[3], block_max[3];
} gpu_facts;

/* Mapped memory with unmapped address space on both sides. */
typedef struct gpu_mem {
    uint64_t base, bytes;   /* the mapped range */
    uint64_t handle, range; /* of the back end: physical memory, start of the reserved addresses */
} gpu_mem;

/* What lies in mapped memory, for a device that checks accesses. */
typedef struct gpu_buffer {
    uint64_t at, bytes;
    const char *name;
    uint32_t element; /* bytes; 0: not known */
    bool is_input;    /* holds data from the start and is never written by a candidate */
} gpu_buffer;

/* count elements of width 1, 2 or 4 bytes from address `at`, each set to value. */
typedef struct gpu_fill {
    uint64_t at;
    uint32_t value;
    uint32_t width;
    uint64_t count;
} gpu_fill;

typedef struct gpu_arg {
    uint8_t bytes[8]; /* little endian */
    size_t size;      /* 4 or 8 */
} gpu_arg;

/* One node of a plan with addresses in place: a launch, or (entry NULL) a fill. */
typedef struct gpu_call {
    const char *entry; /* borrowed */
    uint32_t grid[3], block[3], shared;
    bool cooperative; /* all blocks at once, or a verdict */
    gpu_arg *args;    /* owned by the list that holds the call */
    size_t arg_count;
    gpu_fill fill;       /* entry NULL */
    const char *pointer; /* into the plan, for messages; borrowed */
} gpu_call;

/* What a slot does before a timed call (fills) and in it (calls). All borrowed. */
typedef struct gpu_slot {
    const gpu_fill *fills;
    size_t fill_count;
    const gpu_call *calls;
    size_t call_count;
} gpu_slot;

/* gpu_keep_fn looks at a slot after its call, before it is poisoned; 0 / -1. */
typedef int gpu_keep_fn(void *arg, size_t slot);

/* All borrowed until disarm. */
typedef struct gpu_time_job {
    const gpu_slot *slots;
    size_t slot_count;
    bool chained; /* G-mode: a sample is one call on each slot in a row */
    bool settle;  /* the full warm-up; else a few calls on each slot */
    int64_t deadline_ms;
    gpu_keep_fn *keep;
    void *keep_arg;
} gpu_time_job;

typedef struct gpu_block {
    size_t samples, untimed; /* untimed calls come first */
    int64_t keep;            /* call the job's keep after this sample; -1: never */
    int64_t deadline_ms;
    bool warm; /* L2 as the same call leaves it (ce_timing.h); not when chained */
} gpu_block;

typedef struct gpu_timing {
    double *samples; /* ms of one call, in the order taken; caller's array of block.samples */
    size_t sample_count;
    double event_floor_ms;    /* of arming */
    int64_t warmup_calls;     /* of arming */
    double host_ms, event_ms; /* the block on the host's clock, and what its events add up to */
    int64_t voided, suspect;  /* releases thrown away; releases whose two clocks disagree */
} gpu_timing;

/* How an armed candidate is looked at. */
typedef struct gpu_profile_job {
    size_t samples;      /* for spans; 1 … 100 */
    bool counters;       /* hardware counters, too */
    const char *library; /* libcupti; NULL: looked for */
    int64_t deadline_ms; /* of each part */
} gpu_profile_job;

/* Memory of another process. One of the two is given. */
typedef struct gpu_staging {
    const uint8_t *handle; /* 64 bytes of CUDA IPC, or NULL */
    const char *shm;       /* POSIX shared memory name, or NULL */
} gpu_staging;

typedef enum gpu_phase {
    GPU_PHASE_LOAD,
    GPU_PHASE_CHECK,
    GPU_PHASE_ARM,
    GPU_PHASE_TIME, /* a block */
    GPU_PHASE_WARM  /* a warm block */
} gpu_phase;

typedef struct gpu_ops {
    const char *kind;
    void (*close)(gpu *self);
    /* script answers a whole phase by itself; NULL on a device that executes. Then only `close`, this
     * and `profile` exist. timing is NULL outside ARM and TIME. */
    int (*script)(gpu *self, gpu_phase phase, gpu_timing *timing, runner_verdict *out, err *e);

    /* load makes the image (cubin; PTX on emu) the current module (an earlier one is unloaded first). */
    int (*load)(gpu *self, const void *image, size_t size, runner_verdict *out, err *e);
    void (*unload)(gpu *self);
    /* examine looks whether the entry exists, takes these arguments and has room on the device. */
    int (*examine)(gpu *self, const gpu_call *call, runner_verdict *out, err *e);

    int (*map)(gpu *self, uint64_t bytes, gpu_mem *out, err *e); /* rounds bytes up */
    void (*unmap)(gpu *self, gpu_mem *mem);                      /* a zeroed mem is fine */
    int (*protect)(gpu *self, const gpu_mem *mem, err *e);       /* read-only from now on */

    /* know says what the compiler found out about a kernel; NULL on a device that counts nothing. */
    void (*know)(gpu *self, const char *kernel, uint32_t registers);
    /* modelled is what the launches of the last run did, as JSON (the caller frees), or NULL. */
    char *(*modelled)(gpu *self);

    /* tell says what lies where; gone with the mapping. NULL on a device that need not know. */
    int (*tell)(gpu *self, const gpu_buffer *what, err *e);

    /* fill, copy: in order with launches, not waited for. read, sum: waited for. */
    int (*fill)(gpu *self, const gpu_fill *fill, err *e);
    int (*copy)(gpu *self, uint64_t to, uint64_t from, uint64_t bytes, err *e);
    int (*read)(gpu *self, void *to, uint64_t from, uint64_t bytes, err *e);
    /* sum is a checksum that depends on the salt and on every byte and its place. */
    int (*sum)(gpu *self, uint64_t at, uint64_t bytes, uint64_t salt, uint64_t *out, err *e);
    int (*wait)(gpu *self, err *e); /* until all of the above is done */
    /* dirty leaves junk made from the salt in the shared memory of every multiprocessor, in order with
     * launches. NULL on a device that knows what a kernel has not written. */
    int (*dirty)(gpu *self, uint64_t salt, err *e);

    /* attach maps staging into this process; detach ends it (waits for copies first). */
    int (*attach)(gpu *self, const gpu_staging *staging, uint64_t *base, err *e);
    int (*detach)(gpu *self, uint64_t base, err *e);

    /* run launches the calls in order and waits until they are done or the deadline has passed. */
    int (*run)(gpu *self, const gpu_call *calls, size_t count, int64_t deadline_ms,
               runner_verdict *out, err *e);

    /* arm makes graphs of the slots and warms up; then blocks; disarm ends it (idempotent). */
    int (*arm)(gpu *self, const gpu_time_job *job, gpu_timing *timing, runner_verdict *out, err *e);
    int (*block)(gpu *self, const gpu_block *block, gpu_timing *timing, runner_verdict *out,
                 err *e);
    void (*disarm)(gpu *self);
    /* profile looks at what is armed: JSON (runner/profiler.h; the caller frees). What fails is told
     * there. NULL on a device that measures nothing. */
    char *(*profile)(gpu *self, const gpu_profile_job *job);
} gpu_ops;

/* What every back end's own struct starts with. */
struct gpu {
    const gpu_ops *ops;
    gpu_facts facts;
    bool exact; /* see gpu_options */
};

typedef struct gpu_options {
    const char *device;      /* "cuda:0", "emu", "fake" */
    const char *fake_script; /* "fake" only: file, or NULL for the defaults */
    const char *problem;     /* "fake" only: whose script, or NULL */
    bool exact; /* a tool looks on: memory is as large as each tensor and allocated by itself,
                                nothing is filled, and no kernel runs but the candidate's */
} gpu_options;

gpu *gpu_open(const gpu_options *options, err *e);
void gpu_close(gpu **self);

/* gpu_cuda_count: how many CUDA devices there are; -1 and the reason when there is no driver. */
int gpu_cuda_count(err *e);
gpu *gpu_cuda_open(int ordinal, err *e);
gpu *gpu_fake_open(const gpu_options *options, err *e);
gpu *gpu_emu_open(void);
/* gpu_cuda_facts reads a device's facts without making a context. */
int gpu_cuda_facts(int ordinal, gpu_facts *out, err *e);

#endif
