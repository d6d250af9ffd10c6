/* declare - variables, parameters and registers of PTX
 *
 * Purpose:   the declarations of module, function header and body.
 * Ownership: what is declared lives in the module's arena.
 * Threads:   one owner.
 * Errors:    as parser.h.
 *
 * Private to agent-node/ptx.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_PTX_DECLARE_H
#define CE_PTX_DECLARE_H

#include "agent-node/ptx/parser.h"

/* declare_space says which state space a dotted word names (PTX_SPACE_NONE: none). */
ptx_space declare_space(const token *word);

/* declare_variables reads from the state space to ';' and appends to `into` (ptx_variable *). */
int declare_variables(parser *self, ptx_linkage linkage, list *into);

/* declare_parameters reads "( .param …, … )" and appends to `into`. Names are added to the scope;
 * `_` declares nothing to look up. A .reg parameter also gets a register of `registers` (may be
 * NULL: then it is refused). */
int declare_parameters(parser *self, bool kernel, list *registers, list *into);

/* declare_registers reads ".reg .type names ;" and appends to `registers` (ptx_register). */
int declare_registers(parser *self, list *registers);

#endif
