/* plain_values - inputs for a kernel where no judge can draw them
 *
 * Purpose:   on a host without PyTorch the emulator still needs inputs: floats are multiples of 1/8 in [-1, 1],
 *            integers lie in the contract's range (0 … 7 where there is none), in its order. Exact in every
 *            dtype, no value families, nothing to compare with.
 * Ownership: plain_values_create gives an owned object; its staging is borrowed, and the shared memory goes
 *            with it.
 * Threads:   one owner.
 * Errors:    ERR_CONFIG where a shape does not fit the contract, ERR_SYSTEM, ERR_LIMIT.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_AGENT_NODE_PLAIN_VALUES_H
#define CE_AGENT_NODE_PLAIN_VALUES_H

#include "agent-node/judge.h"

enum { PLAIN_VALUES_MAX = 1 << 30 /* bytes of all tensors together */ };

typedef struct plain_values plain_values;

plain_values *plain_values_create(const contract *terms, const contract_shape *shape, int64_t seed,
                                  err *e);
void plain_values_destroy(plain_values **self);
const judge_staging *plain_values_staging(const plain_values *self);

#endif
