/* reference - what a row of the corpus must give, computed another way
 *
 * Purpose:   integers in 128 bits or bit by bit, floats in quadruple precision with a rounding of their own:
 *            nothing here shares code or method with the emulator.
 * Ownership: values.
 * Threads:   safe.
 * Errors:    false where there is no reference for the row.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_TESTS_EMU_REFERENCE_H
#define CE_TESTS_EMU_REFERENCE_H

#include "tests/gpu/emu_corpus/corpus.h"

/* Operands of all threads: four words each. */
typedef struct reference_case {
    const corpus_row *row;
    const uint64_t *operands;
    unsigned thread;
} reference_case;

bool reference(const reference_case *c, uint64_t out[2]);
/* reference_true is the true value of an approximation, before any rounding; high: of a pair's upper
 * half. A result that .ftz flushes is the zero. */
bool reference_true(const reference_case *c, bool high, double *out);

/* ---- parts ---- */

bool reference_integer(const reference_case *c, uint64_t out[2]);
bool reference_bits(const reference_case *c, uint64_t out[2]);
bool reference_float(const reference_case *c, uint64_t out[2]);
bool reference_memory(const reference_case *c, uint64_t out[2]);

__extension__ typedef __float128 quad;
quad reference_value(corpus_kind kind, uint64_t word);
/* reference_round: v plus something of the sign of `rest`, smaller than any digit of v, as a word. */
uint64_t reference_round(corpus_kind kind, quad v, int rest, corpus_round how);
/* The integer that a float becomes. */
uint64_t reference_whole(corpus_kind to, quad v, corpus_round how, bool from_f64);
quad reference_rint(quad v, corpus_round how);

static inline uint64_t reference_operand(const reference_case *c, unsigned i)
{
    return c->operands[c->thread * CORPUS_OPERANDS + i];
}

#endif
