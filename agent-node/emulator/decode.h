/* decode - from a parsed PTX kernel to a program
 *
 * Purpose:   lays out registers, constants and variables and gives every instruction its op; refuses
 *            what the emulator does not execute, naming instruction and source line.
 * Ownership: program_decode gives an owned program, which borrows the module's PTX and variables.
 * Threads:   safe for different programs.
 * Errors:    a kernel that cannot be executed: NULL and a finding.
 *
 * Private to agent-node/emulator. The parts of the decoder share struct decoder; each decode function
 * fills self->op from self->in and says false after having refused.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_EMULATOR_DECODE_H
#define CE_EMULATOR_DECODE_H

#include "agent-node/emulator/lanes.h"

program *program_decode(const ptx_module *module, const placed *globals, size_t global_count,
                        const ptx_function *entry, emu_report *out);

enum { CONSTANT_BUCKETS = 4096 };

typedef struct decoder {
    program *p;
    const placed *globals; /* the module's variables in host memory */
    size_t global_count;
    emu_report *report;
    const program_part *part;
    const ptx_instruction *in;
    uint32_t at; /* number of the op */
    op *op;
    uint32_t **units;  /* by part and register */
    uint32_t *buckets; /* constants by value: number + 1 of the first */
    uint32_t *chain;   /* number + 1 of the next one */
    size_t chain_cap;
} decoder;

/* ---- decode_operand.c ---- */

/* refuse records why the instruction is not executed; always false. */
bool refuse(decoder *self, const char *format, ...) __attribute__((format(printf, 2, 3)));
bool register_is_wide(const decoder *self, uint32_t reg);
const ptx_type *register_type(const decoder *self, uint32_t reg);
/* source finds the unit of an operand of a kind ('w', 'd', 'p', 'x'; see lanes.h). `bytes` is the
 * width of a constant for 'x'. */
bool source(decoder *self, const ptx_operand *x, char kind, uint32_t *unit);
bool result(decoder *self, const ptx_operand *x, char kind, uint32_t *unit);
uint32_t constant_unit(decoder *self, uint64_t bits, bool wide);
/* place_of is the address of a variable in its space (global, const: host address). */
bool place_of(decoder *self, const ptx_variable *v, uint64_t *address);
/* integer_operand takes a constant. */
bool integer_operand(decoder *self, const ptx_operand *x, uint64_t *out);
const ptx_operand *operand_at(decoder *self, size_t i); /* NULL after refusing */

/* ---- what an instruction becomes; rows of the table in decode.c ---- */

typedef bool decode_fn(decoder *self);
decode_fn decode_lanes, decode_mov, decode_cvt;                     /* decode_lanes.c */
decode_fn decode_load, decode_store, decode_atomic, decode_nothing; /* decode_memory.c */
decode_fn decode_bra, decode_brx, decode_call, decode_ret, decode_exit, decode_trap, decode_bar,
    decode_shfl, decode_vote, decode_match, decode_redux, decode_activemask, decode_fence,
    decode_nanosleep; /* decode_flow.c */

/* decode_expected: the plain load in front of a loop around cas (the idiom of CUDA's guide and headers) is no
 * race: what it gives is only what cas expects to find. All ops are decoded. (decode_memory.c) */
void decode_expected(program *p);

/* PUSH makes room for one more item of an array with a count and gives its place. */
#define PUSH(items, count) \
    ((items) = decode_room((items), (count), sizeof *(items)), &(items)[(count)++])
void *decode_room(void *items, size_t count, size_t size);

#endif
