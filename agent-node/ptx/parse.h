/* parse - PTX text to a module
 *
 * Purpose:   reads the PTX that NVRTC emits, inline asm included, into agent-node/ptx/module.h.
 * Ownership: the caller owns the module (ptx_module_destroy); it keeps nothing of the text.
 * Threads:   safe.
 * Errors:    ERR_PROTOCOL "PTX line N: …" on text that is no PTX, ERR_LIMIT past a limit of module.h.
 *            The text may be hostile.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_PTX_PARSE_H
#define CE_PTX_PARSE_H

#include "agent-node/ptx/module.h"
#include "common/err.h"

/* ptx_parse reads size bytes (a final NUL, as NVRTC writes it, is not needed but allowed). */
ptx_module *ptx_parse(const char *text, size_t size, err *e);

#endif
