/* build - one compile of one candidate
 *
 * Purpose:   source in, PTX and machine code and the gate's verdict out: the COMPILE and COMPILED
 *            messages of wire/messages.def.
 * Ownership: a builder borrows NVRTC and the include set.
 * Threads:   one owner.
 * Errors:    an err means that the harness failed (unknown target, broken library). What is true of
 *            the source is COMPILED.outcome: ok, compile_failed (detail "" or "limit") or rejected
 *            (detail: the gate's rule).
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_COMPILER_BUILD_H
#define CE_COMPILER_BUILD_H

#include "agent-node/compiler/include.h"
#include "agent-node/compiler/nvrtc.h"
#include "wire/message.h"

enum {
    BUILD_LOG_MAX = 256 * 1024, /* a longer log is compile_failed(limit) */
    BUILD_PTX_MAX = 16 * 1024 * 1024,
    BUILD_CUBIN_MAX = 32 * 1024 * 1024
};

typedef struct builder {
    nvrtc *compiler;
    const include_set *headers;
} builder;

/* build_run compiles with -std=c++17, the target, the include folders and, when asked, -lineinfo: no
 * other option. The headers of standard.h are there too. Fills the COMPILED message `out` (initialised by the caller). */
int build_run(const builder *self, const struct msg_compile *job, struct msg_compiled *out, err *e);

/* build_warm_up compiles a small kernel, so that the library has opened what it needs. */
int build_warm_up(const builder *self, err *e);

/* build_key is the part of the measurement key that the compiler decides: NVRTC's version, the options
 * and the content of the include folders. */
int build_key(const builder *self, hash *out, err *e);

#endif
