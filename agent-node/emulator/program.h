/* program - a kernel decoded for execution
 *
 * Purpose:   one flat array of fixed-size ops per kernel, called functions included, with registers,
 *            constants and special registers turned into places of one register file and labels into
 *            op numbers. Op n of a function is its PTX instruction n, so that source lines are found
 *            by subtraction.
 * Ownership: program_destroy frees it; it borrows the module it was decoded from.
 * Threads:   immutable after decoding: any number of readers.
 * Errors:    none.
 *
 * Private to agent-node/emulator; others include emulator.h.
 *
 * The register file of a warp is an array of units of 128 bytes: 32 lanes of 32 bits. A 64-bit register
 * takes two units, a predicate takes the first word of one, a bit a lane. 8- and 16-bit registers keep
 * their value in the low bits of a 32-bit lane, the rest zero. Unit 0 is the constant zero.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_EMULATOR_PROGRAM_H
#define CE_EMULATOR_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent-node/emulator/emulator.h"
#include "agent-node/ptx/module.h"

enum {
    LANES = 32,
    UNIT_BYTES = 128,
    ALL_LANES_BITS = -1,
    CALL_DEPTH_MAX = 16,
    VECTOR_MAX = 4,
    SHARED_BASE = 1024,  /* first shared address: small numbers are no addresses */
    LOCAL_BASE = 2048,   /* likewise */
    VARIABLE_GAP = 64,   /* bytes that belong to nothing between two variables */
    BLOCK_THREADS = 1024 /* of a block at most */
};

#define ALL_LANES 0xffffffffu

/* Where the windows of the generic address space lie: no host address is up there. */
#define WINDOW_SHARED 0x4000000000000000u
#define WINDOW_LOCAL  0x2000000000000000u
#define WINDOW_BYTES  0x0000000100000000u

typedef struct op op;
typedef struct warp warp;

/* What an op that is more than lanes leaves behind. */
typedef enum step {
    STEP_NEXT,   /* go on at w->pc */
    STEP_SWITCH, /* the set of groups changed: choose again */
    STEP_STOP    /* a finding was recorded */
} step;

typedef void lane_fn(warp *w, const op *o);
typedef uint32_t compare_fn(const warp *w, const op *o); /* a bit a lane, of all lanes */
typedef step step_fn(warp *w, const op *o);

typedef enum rounding {
    ROUND_NEAREST,
    ROUND_ZERO,
    ROUND_DOWN,
    ROUND_UP,
    ROUND_NEAREST_AWAY /* cvt.rna */
} rounding;

/* How a set or setp joins its comparison with a predicate. */
typedef enum joint { JOINT_NONE, JOINT_AND, JOINT_OR, JOINT_XOR } joint;

enum {
    OP_GUARD_NOT = 1, /* @!p */
    OP_OWN_VALID = 2, /* the function says itself which results are valid */
    OP_NOT_C = 4,     /* the predicate operand c is negated */
    OP_BRANCH = 8,    /* the guard is the condition: the step sees it, the loop does not */
    OP_COUNTED = 16,  /* a barrier with a number of threads */
    OP_TOGETHER =
        32, /* lanes do it together: those that the guard leaves out go on by themselves */
    OP_WHOLE_WARP = 64 /* an aligned barrier: all lanes of the warp must come */
};

struct op {
    lane_fn *lanes; /* NULL: step */
    union {
        step_fn *step;
        compare_fn *compare;
    };
    uint32_t d, e;    /* results: units; 0: none */
    uint32_t a, b, c; /* operands: units; 0 where there is none */
    uint32_t guard;   /* unit of a predicate; 0: none */
    uint32_t target;  /* of a branch: op; else number of an access, atomic, call, table */
    uint8_t flags, class, round, mode;
    uint64_t imm;
};

/* A load, a store, an atomic: how. */
typedef enum access_order {
    ORDER_WEAK,
    ORDER_RELAXED, /* volatile, relaxed: flags are read and written so */
    ORDER_ACQUIRE,
    ORDER_RELEASE,
    ORDER_ACQ_REL
} access_order;

typedef struct mem_access {
    ptx_space space; /* PTX_SPACE_NONE: generic */
    uint8_t bytes;   /* of an element: 1, 2, 4, 8 */
    uint8_t count;   /* 1, 2, 4 */
    bool is_signed, is_store, wide_base;
    access_order order;
    uint32_t base; /* unit of the address register; 0: the address is `offset` */
    int64_t offset;
    uint32_t units[VECTOR_MAX]; /* of the elements; 0 in a load: not wanted */
    bool wide[VECTOR_MAX];      /* 64-bit registers */
    uint32_t keep[VECTOR_MAX];  /* bits that a narrower register has */
} mem_access;

typedef uint64_t atomic_fn(uint64_t old, uint64_t b, uint64_t c);

typedef struct atomic {
    mem_access at; /* one element; units[0]: the result or 0 */
    atomic_fn *apply;
    uint32_t b, c;  /* operands: units */
    bool wide;      /* operands are 64-bit */
    bool exchanges; /* what the memory held does not matter */
} atomic;

/* An argument or result of a call: bytes of the caller's frame and of the callee's. */
typedef struct call_copy {
    uint32_t from, to; /* local addresses */
    uint32_t bytes;
} call_copy;

typedef struct call {
    uint32_t first; /* op */
    uint32_t copy_count, result_count;
    call_copy *copies; /* arguments, then results */
} call;

/* A .branchtargets list. */
typedef struct branch_table {
    uint32_t *targets;
    size_t count;
} branch_table;

/* A variable with its address in the layout. */
typedef struct placed {
    const ptx_variable *variable;
    const ptx_function *function; /* local: whose; NULL: the module's */
    uint64_t at;                  /* shared and local: in the space; global, const: host address */
    uint64_t bytes;
} placed;

typedef struct constant {
    uint32_t unit;
    bool wide;
    uint64_t bits;
} constant;

typedef enum special_register {
    SPECIAL_TID_X,
    SPECIAL_TID_Y,
    SPECIAL_TID_Z,
    SPECIAL_NTID_X,
    SPECIAL_NTID_Y,
    SPECIAL_NTID_Z,
    SPECIAL_CTAID_X,
    SPECIAL_CTAID_Y,
    SPECIAL_CTAID_Z,
    SPECIAL_NCTAID_X,
    SPECIAL_NCTAID_Y,
    SPECIAL_NCTAID_Z,
    SPECIAL_LANEID,
    SPECIAL_WARPID,
    SPECIAL_NWARPID,
    SPECIAL_SMID,
    SPECIAL_NSMID,
    SPECIAL_GRIDID,
    SPECIAL_LANEMASK_EQ,
    SPECIAL_LANEMASK_LT,
    SPECIAL_LANEMASK_LE,
    SPECIAL_LANEMASK_GT,
    SPECIAL_LANEMASK_GE,
    SPECIAL_DYNAMIC_SHARED,
    SPECIAL_TOTAL_SHARED,
    SPECIAL_ENVREG1,
    SPECIAL_ENVREG2,
    SPECIAL_ZERO,
    SPECIAL_COUNT
} special_register;

/* A stretch of ops that is one function. */
typedef struct program_part {
    const ptx_function *function;
    uint32_t first, count; /* ops */
    uint32_t registers;    /* first unit */
    uint32_t height;       /* how deep calls nest below it */
    bool is_open;          /* while its calls are looked at */
} program_part;

typedef struct program {
    const ptx_module *module;
    const ptx_function *entry;
    op *ops;
    size_t op_count;
    program_part *parts;
    size_t part_count;
    mem_access *accesses;
    size_t access_count;
    atomic *atomics;
    size_t atomic_count;
    call *calls;
    size_t call_count;
    branch_table *tables;
    size_t table_count;
    placed *placed; /* shared and local variables */
    size_t placed_count;
    constant *constants;
    size_t constant_count;
    uint32_t specials[SPECIAL_COUNT]; /* units; 0: not used */
    uint32_t unit_count;
    uint32_t register_units; /* the first so many are registers */

    uint32_t shared_real;    /* static, as the hardware packs it */
    uint32_t shared_bytes;   /* static, from SHARED_BASE, gaps included */
    uint32_t shared_dynamic; /* where dynamic shared memory starts */
    uint32_t local_bytes;    /* of a thread, from LOCAL_BASE */
    uint32_t param_bytes;
    uint32_t main_file; /* number of the file the kernel is in */
} program;

void program_destroy(program **self);

/* program_instruction is what op number `at` was decoded from; NULL for the end of a function. */
const ptx_instruction *program_instruction(const program *self, uint32_t at);
const program_part *program_part_of(const program *self, uint32_t at);
/* program_line is the line in the kernel's own source file where op `at` comes from, or 0; an inlined
 * header's line becomes the line of the call. *file gets the path, or NULL. */
uint32_t program_line(const program *self, uint32_t at, const char **file);

#endif
