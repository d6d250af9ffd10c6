/* body - the statements of a PTX function
 *
 * Purpose:   reads "{ … }": scopes, declarations, labels, instructions with their operands.
 * Ownership: what is read lives in the module's arena.
 * Threads:   one owner.
 * Errors:    as parser.h.
 *
 * Private to agent-node/ptx.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_PTX_BODY_H
#define CE_PTX_BODY_H

#include "agent-node/ptx/parser.h"

/* A label used before its place is known. */
typedef struct label_use {
    ptx_operand *operand; /* in the arena */
    uint32_t scope;
    uint32_t line;
} label_use;

typedef struct body {
    parser *p;
    list registers; /* ptx_register */
    list variables; /* ptx_variable * */
    list code;      /* ptx_instruction */
    list tables;    /* ptx_table */
    list uses;      /* label_use */
    list stack;     /* ptx_operand: operands being read */
    ptx_where where;
    bool wants_label; /* operands of bra name labels even where a variable has the same name */
} body;

void body_init(body *self, parser *p);
void body_fini(body *self);
/* body_read reads from '{' to its '}' and fills the function. */
int body_read(body *self, ptx_function *function);

/* ---- operand.c ---- */

/* operand_read pushes one operand on the stack. in_call: "(a, b)" is a list, not an expression. */
int operand_read(body *self, bool in_call, int depth);
/* operand_seal moves the operands from `from` on off the stack into the arena. */
int operand_seal(body *self, size_t from, ptx_operand **items, size_t *count);

#endif
