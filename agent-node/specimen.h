/* specimen - the kernels of the self-tests, and a problem for them
 *
 * Purpose:   a copy of n floats is the problem; the specimens are an honest copy, copies that move some
 *            percent more bytes, one that asks L2 to keep its data, and kernels that cheat, and right ones with a hidden defect. Everything is
 *            in the program: a node has no checkout.
 * Ownership: a bench owns texts and contract and borrows the node's parts; what specimen_build gives is
 *            the caller's.
 * Threads:   one owner.
 * Errors:    an err is the harness. What the compiler says of a specimen is in the candidate.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_AGENT_NODE_SPECIMEN_H
#define CE_AGENT_NODE_SPECIMEN_H

#include "agent-node/pipeline.h"

enum { SPECIMEN_OUTCOMES = 4 };

typedef struct specimen {
    const char *name;                /* also its entry in the script of the fake device */
    const char *why;                 /* what it does */
    const char *source;              /* CUDA C++ */
    const char *plan;                /* JSON */
    outcome must[SPECIMEN_OUTCOMES]; /* of a cheat: one of these; zero ends the list */
    size_t must_count;               /* 0: an honest kernel */
} specimen;

extern const specimen specimen_copy;
extern const specimen specimen_twice;     /* copies twice: a long time in less memory */
extern const specimen specimen_slower_3;  /* moves 3 % more bytes */
extern const specimen specimen_slower_10; /* 10 % */
extern const specimen specimen_keeps_l2;  /* asks that its inputs stay in L2 */
extern const specimen specimen_cheats[];  /* name NULL ends it */
/* Right kernels with a defect that no output shows: one for each tool of compute-sanitizer, named
 * "planted_TOOL"; `must` is what the tool finds. */
extern const specimen specimen_planted[]; /* name NULL ends it */

typedef struct specimen_bench {
    pipeline p;
    task_spec spec; /* texts are borrowed from here */
    ledger account; /* keeps blobs in the node, unless the node has a session */
    atomic_bool never;
    char *contract, *reference;
} specimen_bench;

/* specimen_open makes the problem for n floats; `ignored` is the size of an input that a copy does not
 * read (at least n / 8). `reference` NULL: PyTorch's own copy. `self` must not move. */
int specimen_open(specimen_bench *self, const node_parts *node, const lane_facts *facts, int64_t n,
                  int64_t ignored, const char *reference, err *e);
void specimen_close(specimen_bench *self);

/* specimen_build compiles; (*out)->compiled.result tells whether it may run. */
int specimen_build(const specimen_bench *self, const specimen *what, candidate **out, err *e);
/* specimen_reference is a reference that launches the candidate's own machine code from PyTorch, in fresh
 * memory: the same kernel on the judge's side. */
char *specimen_reference(const candidate *copy);

#endif
