/* module - a PTX module as data
 *
 * Purpose:   what parse.h reads: variables, functions, registers and structured instructions with their
 *            PTX line and, with -lineinfo, their CUDA source line. The eligibility gate reads it; a CPU
 *            emulator can run it: every name is resolved (registers and labels to numbers, symbols to
 *            the variable or function meant), so nothing is looked up by text again.
 * Ownership: everything belongs to the module; ptx_module_destroy frees it in one piece.
 * Threads:   immutable after parsing: any number of readers.
 * Errors:    none.
 *
 * Texts that are compared often (opcode, modifiers, names) are interned per module: equal texts are
 * equal pointers within one module.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_PTX_MODULE_H
#define CE_PTX_MODULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent-node/ptx/arena.h"

/* What a text may cost; past a limit parsing fails with ERR_LIMIT. */
enum {
    PTX_TEXT_MAX = 16 * 1024 * 1024,
    PTX_ARENA_MAX = 1024 * 1024 * 1024,
    PTX_FUNCTION_MAX = 65536,
    PTX_VARIABLE_MAX = 262144,       /* of a module; of a function as many again */
    PTX_REGISTER_MAX = 1024 * 1024,  /* of a function */
    PTX_OPERAND_MAX = 1024,          /* of an instruction or a list */
    PTX_MODIFIER_MAX = 16,           /* of an instruction */
    PTX_NESTING_MAX = 64,            /* braces */
    PTX_DIM_MAX = 8,                 /* of an array */
    PTX_IMAGE_MAX = 64 * 1024 * 1024 /* bytes of a variable that has an initialiser */
};

typedef enum ptx_space {
    PTX_SPACE_NONE,
    PTX_SPACE_REG,
    PTX_SPACE_CONST,
    PTX_SPACE_GLOBAL,
    PTX_SPACE_LOCAL,
    PTX_SPACE_PARAM,
    PTX_SPACE_SHARED,
    PTX_SPACE_TEX
} ptx_space;

typedef enum ptx_type_class {
    PTX_BITS,
    PTX_UNSIGNED,
    PTX_SIGNED,
    PTX_FLOAT, /* also packed halves (f16x2), bf16, tf32, fp8: see the name */
    PTX_PREDICATE,
    PTX_OPAQUE /* texref, samplerref, surfref */
} ptx_type_class;

typedef struct ptx_type {
    const char *name; /* "u32"; static storage */
    ptx_type_class kind;
    uint32_t bytes; /* predicates 1, opaque 8 */
} ptx_type;

typedef enum ptx_linkage {
    PTX_LINK_NONE, /* private to the module */
    PTX_LINK_VISIBLE,
    PTX_LINK_EXTERN,
    PTX_LINK_WEAK,
    PTX_LINK_COMMON
} ptx_linkage;

/* An address inside an initialiser. */
typedef struct ptx_reloc {
    uint64_t offset;                   /* into the image */
    uint32_t bytes;                    /* 1…8 */
    bool generic;                      /* generic(symbol): a generic, not a state-space, address */
    const struct ptx_variable *target; /* one of the two is set */
    const struct ptx_function *function;
    int64_t addend;
} ptx_reloc;

typedef struct ptx_variable {
    const char *name;
    ptx_linkage linkage;
    ptx_space space;
    const ptx_type *type;
    uint8_t lanes; /* of a vector type: 1, 2 or 4 */
    bool managed;
    bool is_kernel_param;
    uint32_t align; /* bytes, a power of two */
    uint8_t dim_count;
    uint64_t dims[PTX_DIM_MAX]; /* 0: unsized (extern shared memory) */
    uint64_t bytes;             /* of the whole variable; 0 when unsized */
    const uint8_t *image;       /* `bytes` bytes; NULL: no initialiser, zero */
    const ptx_reloc *relocs;
    size_t reloc_count;
    uint32_t line;  /* of the PTX */
    uint32_t index; /* among the module's or its function's variables */
} ptx_variable;

typedef struct ptx_register {
    const char *name; /* whole, or prefix when `number` is used */
    uint32_t number;  /* UINT32_MAX: the name is whole */
    const ptx_type *type;
    uint8_t lanes;
} ptx_register;

typedef enum ptx_operand_kind {
    PTX_OPERAND_REGISTER, /* reg, component ("x", "b0") or NULL */
    PTX_OPERAND_SPECIAL,  /* name "%tid", component "x" */
    PTX_OPERAND_INT,      /* bits */
    PTX_OPERAND_FLOAT32,  /* bits: IEEE single */
    PTX_OPERAND_FLOAT64,  /* bits: IEEE double */
    PTX_OPERAND_VARIABLE, /* the address of variable, plus offset */
    PTX_OPERAND_FUNCTION, /* function */
    PTX_OPERAND_LABEL,    /* target: index of an instruction (may be one past the last) */
    PTX_OPERAND_TABLE, /* table: a .branchtargets, .calltargets or .callprototype of the function */
    PTX_OPERAND_ADDRESS, /* [base + offset]; base is items[0] (register, variable, special or int);
                             further items as in [tensorMap, {%r1, %r2}] */
    PTX_OPERAND_VECTOR,  /* {items} */
    PTX_OPERAND_LIST,    /* (items) of a call */
    PTX_OPERAND_PAIR,    /* items[0] | items[1] */
    PTX_OPERAND_SINK     /* _ */
} ptx_operand_kind;

typedef struct ptx_operand {
    ptx_operand_kind kind;
    bool negated; /* !%p1, or -%r1 */
    uint32_t reg;
    const char *name; /* as written: diagnostics */
    const char *component;
    uint64_t bits;
    int64_t offset;
    const ptx_variable *variable;
    const struct ptx_function *function;
    size_t target;
    size_t table;
    struct ptx_operand *items;
    size_t item_count;
} ptx_operand;

/* Where an instruction comes from in CUDA source; file 0: unknown. */
typedef struct ptx_where {
    uint32_t file; /* number of a .file line */
    uint32_t line;
    uint32_t column;
    uint32_t outer_file; /* an inlined call's place in the code that called; 0: not inlined */
    uint32_t outer_line;
} ptx_where;

#define PTX_NO_GUARD UINT32_MAX

typedef struct ptx_instruction {
    const char *opcode;           /* "ld" */
    const char *const *modifiers; /* "global", "nc", "f32" */
    size_t modifier_count;
    ptx_operand *operands;
    size_t operand_count;
    uint32_t guard; /* predicate register, or PTX_NO_GUARD */
    bool guard_negated;
    uint32_t line; /* of the PTX */
    ptx_where where;
} ptx_instruction;

/* .maxntid 256, 1, 1 and the like. */
typedef struct ptx_directive {
    const char *name; /* "maxntid" */
    const uint64_t *values;
    size_t value_count;
    const char *text; /* .pragma "…" ; else NULL */
} ptx_directive;

typedef enum ptx_table_kind {
    PTX_TABLE_BRANCH,   /* labels */
    PTX_TABLE_CALL,     /* functions */
    PTX_TABLE_PROTOTYPE /* results and params of an indirect call */
} ptx_table_kind;

typedef struct ptx_table {
    const char *name;
    ptx_table_kind kind;
    ptx_operand *items; /* labels or functions */
    size_t item_count;
    const ptx_variable *const *results; /* PTX_TABLE_PROTOTYPE */
    size_t result_count;
    const ptx_variable *const *params;
    size_t param_count;
} ptx_table;

typedef struct ptx_function {
    const char *name;
    ptx_linkage linkage;
    bool is_entry;
    bool has_body;
    const ptx_variable *const *results; /* .reg or .param space */
    size_t result_count;
    const ptx_variable *const *params;
    size_t param_count;
    const ptx_directive *directives;
    size_t directive_count;
    const ptx_register *registers;
    size_t register_count;
    const ptx_variable *const *variables; /* declared in the body, all scopes */
    size_t variable_count;
    const ptx_instruction *code;
    size_t code_count;
    const ptx_table *tables;
    size_t table_count;
    uint32_t line; /* of the PTX */
} ptx_function;

typedef struct ptx_file {
    uint32_t number;
    const char *path;
} ptx_file;

typedef struct ptx_module {
    uint32_t version_major;
    uint32_t version_minor;
    const char *target;     /* "sm_90a" */
    uint32_t address_bytes; /* 4 or 8 */
    const ptx_variable *const *variables;
    size_t variable_count;
    const ptx_function *const *functions; /* a declaration and its later definition are one */
    size_t function_count;
    const ptx_file *files;
    size_t file_count;
    arena *memory;
} ptx_module;

void ptx_module_destroy(ptx_module **self);

/* ptx_module_function finds by name; NULL when there is none. */
const ptx_function *ptx_module_function(const ptx_module *self, const char *name);
/* ptx_module_file is the path of a .file number; NULL when unknown. */
const char *ptx_module_file(const ptx_module *self, uint32_t number);
/* ptx_function_directive finds "maxntid", …; NULL when absent. */
const ptx_directive *ptx_function_directive(const ptx_function *self, const char *name);
bool ptx_instruction_has(const ptx_instruction *self, const char *modifier);

#endif
