/* emulator - runs PTX kernels on the CPU and checks every memory access
 *
 * Purpose:   takes the PTX that NVRTC emits for compute_80, runs grids on all cores, and says what a
 *            kernel does wrong: accesses out of bounds or misaligned, uninitialised data that matters,
 *            races, barrier divergence, traps, hanging. Counts what a launch does. No CUDA library is
 *            needed. Nothing here is a time of any device.
 * Ownership: emu_module_create and emu_memory_create give owned objects. Buffers of an emu_memory are the
 *            caller's host memory; device addresses are host addresses.
 * Threads:   one launch at a time a memory; a module may be used by several threads.
 * Errors:    ERR_PROTOCOL or ERR_LIMIT for text that is no PTX, ERR_USAGE for a call that makes no sense.
 *            What a kernel does, and an instruction that is not supported, is a finding in the report.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_EMULATOR_EMULATOR_H
#define CE_EMULATOR_EMULATOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/err.h"
#include "common/outcome.h"

/* The device that PTX for compute_80 meets. */
enum {
    EMU_CC = 80,
    EMU_SM_COUNT = 16,
    EMU_PTX_MAJOR = 9, /* newest version of PTX that is known */
    EMU_BLOCK_THREADS_MAX = 1024,
    EMU_SHARED_MAX = 163 * 1024, /* static and dynamic of a block, as with opt-in */
    EMU_OVERHEAD_MAX = 64 << 20, /* bytes besides the buffers */
    EMU_FINDINGS_MAX = 8,        /* of a launch */
    EMU_NAME_MAX = 128
};

typedef struct emu_module emu_module;
typedef struct emu_memory emu_memory;

/* ---- memory ---- */

typedef struct emu_buffer {
    uint64_t base; /* host address of the first byte */
    uint64_t bytes;
    const char *name;    /* copied */
    uint32_t element;    /* bytes of an element, for messages; 0: 1 */
    bool is_input;       /* a write is a finding */
    bool is_initialised; /* all bytes hold data; else reading them before writing is a finding */
} emu_buffer;

emu_memory *emu_memory_create(void);
void emu_memory_destroy(emu_memory **self);
/* emu_memory_add: buffers may not overlap (ERR_USAGE). */
int emu_memory_add(emu_memory *self, const emu_buffer *buffer, err *e);
/* emu_memory_remove forgets the buffer that starts at base; false when there is none. */
bool emu_memory_remove(emu_memory *self, uint64_t base);
/* emu_memory_mark says that the host has given bytes of a buffer a value (or taken it back). */
void emu_memory_mark(emu_memory *self, uint64_t at, uint64_t bytes, bool is_initialised);

/* ---- findings ---- */

#define EMU_KINDS(X)                           \
    X(READ, OUT_OF_BOUNDS, "read")             \
    X(WRITE, OUT_OF_BOUNDS, "write")           \
    X(MISALIGNED, OUT_OF_BOUNDS, "misaligned") \
    X(INPUT, OUT_OF_BOUNDS, "input")           \
    X(UNINITIALISED, UNINITIALISED, "")        \
    X(RACE_SHARED, RACE, "shared")             \
    X(RACE_GLOBAL, RACE, "global")             \
    X(BARRIER, RACE, "barrier")                \
    X(SHUFFLE, RACE, "shuffle")                \
    X(TRAP, CRASHED, "trap")                   \
    X(ASSERT, CRASHED, "assert")               \
    X(HUNG, HUNG, "")                          \
    X(DEADLOCK, HUNG, "barrier")               \
    X(ENTRY, LAUNCH_FAILED, "entry")           \
    X(ARGS, PLAN_INVALID, "")                  \
    X(LAUNCH, LAUNCH_FAILED, "resources")      \
    X(UNSUPPORTED, UNSUPPORTED_ON_EMU, "")

typedef enum emu_kind {
#define EMU_KIND_ENUM(id, result, detail) EMU_##id,
    EMU_KINDS(EMU_KIND_ENUM)
#undef EMU_KIND_ENUM
} emu_kind;

typedef struct emu_finding {
    emu_kind kind;
    outcome result;     /* of the kind */
    const char *detail; /* of the kind; static */
    char kernel[EMU_NAME_MAX];
    uint32_t block[3], thread[3];
    bool has_place;                 /* block and thread are known */
    char file[EMU_NAME_MAX];        /* last part of the path; "" when unknown */
    uint32_t line;                  /* where the fault is in the source (-lineinfo), or 0 */
    uint32_t use_line;              /* uninitialised: where the value takes effect, or 0 */
    char instruction[EMU_NAME_MAX]; /* PTX, "st.global.f32" */
    char buffer[EMU_NAME_MAX];      /* "" when the address belongs to none */
    int64_t offset;                 /* bytes from the start of the buffer */
    int64_t index;                  /* element */
    char text[512]; /* one sentence for people: what, where, and what would be legal */
} emu_finding;

/* ---- counters: modelled, never measured ---- */

#define EMU_CLASSES(X)                   \
    X(INTEGER, "integer")                \
    X(FLOAT32, "f32")                    \
    X(FLOAT64, "f64")                    \
    X(HALF, "half")                      \
    X(SPECIAL, "special function")       \
    X(CONVERT, "conversion")             \
    X(MOVE, "move and select")           \
    X(COMPARE, "compare")                \
    X(CONTROL, "control")                \
    X(SYNC, "barrier, vote and shuffle") \
    X(GLOBAL, "global memory")           \
    X(SHARED, "shared memory")           \
    X(LOCAL, "local memory")             \
    X(PARAM, "parameters and constants") \
    X(ATOMIC, "atomic")

typedef enum emu_class {
#define EMU_CLASS_ENUM(id, name) EMU_CLASS_##id,
    EMU_CLASSES(EMU_CLASS_ENUM)
#undef EMU_CLASS_ENUM
        EMU_CLASS_COUNT
} emu_class;

typedef struct emu_counters {
    uint64_t thread_instructions[EMU_CLASS_COUNT];
    uint64_t warp_instructions;
    uint64_t global_requests, global_sectors;    /* 32-byte sectors that warps' requests touch */
    uint64_t shared_requests, shared_wavefronts; /* passes; more than requests: bank conflicts */
    uint64_t branches, divergent_branches;       /* of warps */
    uint64_t barriers;                           /* completed, of blocks */
    uint64_t blocks, threads;
} emu_counters;

const char *emu_class_name(emu_class c);
void emu_counters_add(emu_counters *to, const emu_counters *from);

/* ---- modules and launches ---- */

typedef struct emu_report {
    emu_finding findings[EMU_FINDINGS_MAX]; /* lowest block first */
    size_t finding_count;                   /* 0: nothing wrong */
    emu_counters counters;
    uint32_t shared_bytes; /* of a block, static and dynamic; examine gives it too */
} emu_report;

/* emu_module_create parses size bytes of PTX; globals of the module get memory of their own. */
emu_module *emu_module_create(const char *ptx, size_t size, err *e);
void emu_module_destroy(emu_module **self);

typedef struct emu_arg {
    uint8_t bytes[8]; /* little endian */
    size_t size;      /* 1 … 8 */
} emu_arg;

typedef struct emu_launch {
    const char *entry;
    uint32_t grid[3], block[3];
    uint32_t shared;  /* dynamic, bytes */
    bool cooperative; /* all blocks run at once and may wait for each other */
    const emu_arg *args;
    size_t arg_count;
} emu_launch;

typedef struct emu_options {
    int64_t deadline_ms;      /* 0: none */
    uint64_t instruction_max; /* thread instructions of the launch; 0: no limit */
    unsigned workers;         /* threads; 0: as many as CPUs */
} emu_options;

/* emu_module_examine decodes the entry and looks whether the launch fits it. A kernel that is not there,
 * cannot be decoded or does not take these arguments is a finding. */
int emu_module_examine(emu_module *self, const emu_launch *launch, emu_report *out, err *e);
/* emu_module_run runs the grid to its end, to the first finding, or to the deadline. */
int emu_module_run(emu_module *self, emu_memory *memory, const emu_launch *launch,
                   const emu_options *options, emu_report *out, err *e);

#endif
