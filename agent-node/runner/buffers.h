/* buffers - the device memory of one call: inputs, outputs, scratch, between guards and canaries
 *
 * Purpose:   a buffer is [unmapped | canary | data | canary | unmapped]; where a contract has many small
 *            inputs, a network's parameters, these lie in one mapping with canary between them. Data starts
 *            256-byte aligned; every mapped byte that is not data is canary, the slack right after the last
 *            byte too. Outputs and scratch are filled with sentinels before a launch; inputs are copied from
 *            staging, check-summed before and after, and read-only for the candidate when asked. On an
 *            exact device (gpu.h) a buffer is its data only: inputs are copied, nothing is filled.
 * Ownership: buffers_create gives an owned set; it borrows the gpu, which must outlive it.
 * Threads:   one owner, the runner's only thread.
 * Errors:    ERR_GPU when the driver fails, ERR_LIMIT when memory does not suffice. What the candidate
 *            did to the memory is an outcome, told by buffers_verify.
 *
 * Sentinels. The judge looks for them too (agent-node/judge/compare.py): an output element that still
 * holds its sentinel was never written. An element's sentinel depends on its dtype and the salt of the
 * check, not on its place. With p = buffers_mix(salt), all arithmetic unsigned:
 *
 *   f16    0x7E00     | (1 + p % 510)        16 bits
 *   bf16   0x7FC0     | (1 + p % 62)         16 bits
 *   f32    0x7FC00000 | (1 + p % 4194302)    32 bits
 *   f64    w * 0x100000001, w = 0x7FF80000 | (1 + p % 524286)    64 bits: w twice
 *   i8 u8 bool i32 i64    every byte 0xA5, whatever the salt
 *
 * The fp ones are quiet NaNs with sign 0 whose payload is neither all zeros nor all ones, which no
 * arithmetic instruction and no torch function makes (those give the payloads 0 or all ones).
 * buffers_mix is the finaliser of splitmix64 (Steele, Lea, Flood 2014), modulo 2^64:
 *
 *   z = salt + 0x9E3779B97F4A7C15
 *   z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9
 *   z = (z ^ (z >> 27)) * 0x94D049BB133111EB
 *   p = z ^ (z >> 31)
 *
 * Check values: buffers_mix(0) = 0xE220A8397B1DCDAF; for salt 1, p = 0x910A2DEC89025CC1.
 * Scratch has no dtype here: it is filled with the 16-bit word 0x7FF8 | (p & 7), which is a NaN read as
 * f16, bf16, f32 or f64.
 *
 * Scratch buffers that share a place (suites/plan.h) each end where the place ends, up to the alignment:
 * a write past the end of any of them meets the canary.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_AGENT_NODE_RUNNER_BUFFERS_H
#define CE_AGENT_NODE_RUNNER_BUFFERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent-node/runner/gpu.h"
#include "agent-node/runner/verdict.h"
#include "common/err.h"
#include "suites/contract.h"
#include "suites/plan.h"

enum {
    BUFFERS_ALIGN = 256,      /* of the first byte of every tensor and scratch */
    BUFFERS_CANARY_MIN = 4096 /* bytes of canary on each side, at least */
};

struct row_span; /* wire/message.h: offset and bytes inside staging */

uint64_t buffers_mix(uint64_t salt);
/* buffers_sentinel: the sentinel of a dtype as a repeated value of `*width` (1, 2 or 4) bytes. */
uint32_t buffers_sentinel(dtype type, uint64_t salt, uint32_t *width);
/* buffers_scratch_sentinel: the 16-bit word scratch is filled with. */
uint32_t buffers_scratch_sentinel(uint64_t salt);
/* buffers_answer is the same for memory that looks as if a result stood there already: finite numbers
 * from 1 to 2, and ones. Who looks at the output to see whether the work is done is misled by it. */
uint32_t buffers_answer(dtype type, uint64_t salt, uint32_t *width);
/* buffers_canary: the 32-bit word, repeated from the start of the mapping, of buffer number `index`. */
uint32_t buffers_canary(uint64_t salt, size_t index);

/* buffers_need: what to ask the device for; buffers_offset: where data starts once `mapped` is known.
 * Data ends within a few KiB of the unmapped range behind; how far exactly depends on the salt. */
uint64_t buffers_need(uint64_t bytes, uint64_t salt, size_t index);
uint64_t buffers_offset(uint64_t bytes, uint64_t mapped, uint64_t salt, size_t index);

typedef struct buffers buffers;

/* All borrowed for the life of the set. */
typedef struct buffers_spec {
    const contract *terms;
    const contract_shape *shape;
    const plan_steps *steps; /* scratch sizes and places */
    uint64_t salt;
    bool answers; /* fill outputs and scratch with what could be an answer, not with sentinels */
} buffers_spec;

/* buffers_create maps every tensor and scratch, writes canaries and sentinels. */
buffers *buffers_create(gpu *device, const buffers_spec *spec, err *e);
void buffers_destroy(buffers **self);

/* buffers_import copies the inputs (one span each, contract order) from staging and sums them up.
 * A span of the wrong size is ERR_PROTOCOL. */
int buffers_import(buffers *self, uint64_t staging, const struct row_span *inputs, err *e);
/* buffers_protect makes the inputs read-only: from now on a write faults. */
int buffers_protect(buffers *self, err *e);
/* buffers_verify looks at canaries and inputs after a launch. */
int buffers_verify(buffers *self, runner_verdict *out, err *e);
/* buffers_export copies the outputs to staging. */
int buffers_export(const buffers *self, uint64_t staging, const struct row_span *outputs, err *e);

/* buffers_refill puts the sentinels back: the next run starts like the first. */
int buffers_refill(buffers *self, err *e);
/* buffers_fingerprint: equal for sets whose outputs are equal byte by byte. */
int buffers_fingerprint(const buffers *self, uint64_t *out, err *e);

/* Addresses: tensors in contract order (inputs, then outputs), scratch by number. */
uint64_t buffers_tensor(const buffers *self, size_t tensor);
uint64_t buffers_scratch(const buffers *self, size_t scratch, uint64_t *bytes);
/* buffers_shares: do scratch buffers share places? Not on a device that checks accesses: it is told where each
 * buffer lies, and keeps for every byte whether it holds data. */
bool buffers_shares(const buffers *self);
/* buffers_renewal is the fill that makes a scratch buffer as fresh as at the start of a run. */
gpu_fill buffers_renewal(const buffers *self, size_t scratch);
/* buffers_poison lists the fills that put sentinels back into outputs and scratch; out holds at least
 * CONTRACT_TENSORS_MAX + PLAN_SCRATCH_MAX entries; gives their number. */
size_t buffers_poison(const buffers *self, gpu_fill *out);

#endif
