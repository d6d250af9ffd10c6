/* corpus - one small kernel for every instruction and type that the emulator executes
 *
 * Purpose:   a list of rows, each an instruction with the kinds of its operands; the PTX that runs a row
 *            over CORPUS_THREADS sets of operands; the operands. A GPU runs it once (capture.c) and its
 *            results become a fixture; the emulator runs it in every test (test_emulator_corpus.c).
 * Ownership: corpus_create gives an owned list.
 * Threads:   immutable after creation.
 * Errors:    none.
 *
 * A row's body is PTX with $a $b $c $f for operands, $d $e for results, $s and $g for the address of 32
 * bytes of shared or global memory that are the thread's own, $l for 32 bytes of local memory.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_TESTS_GPU_EMU_CORPUS_H
#define CE_TESTS_GPU_EMU_CORPUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    CORPUS_THREADS = 128,
    CORPUS_OPERANDS = 4,
    CORPUS_CHUNK = 48, /* rows a module */
    CORPUS_CELL = 32,  /* bytes of $s, $g, $l */
    CORPUS_BODY = 224
};

/* What an operand or result is: how it is kept and which values it takes. */
typedef enum corpus_kind {
    KIND_NONE,
    KIND_PRED,
    KIND_U16,
    KIND_S16,
    KIND_U32,
    KIND_S32,
    KIND_U64,
    KIND_S64,
    KIND_F16,
    KIND_F16X2,
    KIND_BF16,
    KIND_BF16X2,
    KIND_F32,
    KIND_F64,
    KIND_AMOUNT,    /* u32 from 0 to 70 */
    KIND_DIVISOR16, /* never 0 or -1 */
    KIND_DIVISOR32,
    KIND_DIVISOR64,
    KIND_COUNT
} corpus_kind;

/* How far a result may be from the true value: what the PTX manual states of the instruction. */
typedef enum corpus_match {
    MATCH_BITS, /* nothing: the same bits */
    MATCH_ULP,  /* units in the last place of the true value, in the result's type */
    MATCH_RELATIVE,
    MATCH_ABSOLUTE,
    MATCH_LOGARITHM /* absolute for an operand in (0.5, 2), relative elsewhere */
} corpus_match;

typedef enum corpus_round { CORPUS_RN, CORPUS_RZ, CORPUS_RM, CORPUS_RP } corpus_round;

enum { CORPUS_FTZ = 1, CORPUS_SAT = 2, CORPUS_RELU = 4, CORPUS_NAN = 8 };

typedef struct corpus_row {
    char name[64]; /* the instruction; unique */
    char body[CORPUS_BODY];
    corpus_kind d, e;
    corpus_kind in[CORPUS_OPERANDS];
    double low, high; /* floats are drawn from here; equal: any bits, all special values */
    corpus_match match;
    double bound;
    /* For an independent computation (reference.c): */
    char op[16];            /* "add"; "" when there is none */
    corpus_kind type, from; /* of the operation; of a conversion's source */
    corpus_round round;
    unsigned flags;
    uint64_t imm;
} corpus_row;

typedef struct corpus {
    corpus_row *rows;
    size_t count;
} corpus;

corpus *corpus_create(void);
void corpus_destroy(corpus **self);

/* corpus_module is the PTX of rows first … first + CORPUS_CHUNK - 1: kernels k<number>(in, out). The caller
 * frees. */
char *corpus_module(const corpus *self, size_t first);
/* corpus_operands draws a row's operands: CORPUS_THREADS sets of CORPUS_OPERANDS words. */
void corpus_operands(const corpus_row *row, uint64_t *out);
/* A result is two words (d, e) and the thread's cell of global memory behind all results. */
size_t corpus_out_bytes(void);

unsigned corpus_bits(corpus_kind kind);    /* 1, 16, 32, 64 */
const char *corpus_type(corpus_kind kind); /* "u16"; of DIVISOR: "b32" … */
/* corpus_hash identifies a row: name, body, operands. */
uint32_t corpus_hash(const corpus_row *row);

struct buf;
/* corpus_table appends the page that lists all rows: docs/emulator-instructions.md. */
void corpus_table(const corpus *self, struct buf *out);

/* ---- families*.c ---- */

/* corpus_add appends a row with these operand kinds (KIND_NONE ends them); the caller sets the rest. */
corpus_row *corpus_add(corpus *self, corpus_kind d, corpus_kind a, corpus_kind b, corpus_kind c);
void corpus_integers(corpus *self);
void corpus_floats(corpus *self);
void corpus_conversions(corpus *self);
void corpus_comparisons(corpus *self);
void corpus_memory(corpus *self);

#endif
