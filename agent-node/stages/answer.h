/* answer - what a model wrote, taken apart
 *
 * Purpose:   one parser for every provider: one ```cuda block and one ```json block (a candidate), or
 *            one ```json block (a KernelSpec). Prose around is fine; content is taken as it stands.
 * Ownership: results are fresh memory.
 * Threads:   safe.
 * Errors:    none: what does not parse is the outcome parse_failed, told in one sentence that a repair
 *            turn can quote.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_AGENT_NODE_STAGES_ANSWER_H
#define CE_AGENT_NODE_STAGES_ANSWER_H

#include <stddef.h>

enum { ANSWER_SOURCE_MAX = 256 * 1024, ANSWER_WHY_MAX = 240 };

typedef struct answer_candidate {
    char *source; /* CUDA C++ */
    char *plan;   /* JSON text */
} answer_candidate;

/* answer_read_candidate: 0, or -1 and why. */
int answer_read_candidate(const char *text, answer_candidate *out, char why[ANSWER_WHY_MAX]);
void answer_candidate_fini(answer_candidate *self);

/* answer_read_json: the only ```json block, or NULL and why. */
char *answer_read_json(const char *text, char why[ANSWER_WHY_MAX]);

#endif
