/* answer - what a model wrote, taken apart
 *
 * Purpose:   one parser for every provider. A candidate is one ```cuda block and one ```json block, or one
 *            JSON object {source, plan}; a KernelSpec is one ```json block, or the object itself. Prose
 *            around is fine; content is taken as it stands. The forms are tables: they give the schemas
 *            that providers bind answers to.
 * Ownership: results are fresh memory.
 * Threads:   safe.
 * Errors:    none: what does not parse is the outcome parse_failed, told in one sentence that a repair
 *            turn can quote.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_AGENT_NODE_STAGES_ANSWER_H
#define CE_AGENT_NODE_STAGES_ANSWER_H

#include <stddef.h>

#include "common/grammar.h"

enum { ANSWER_SOURCE_MAX = 256 * 1024, ANSWER_WHY_MAX = 240 };

typedef struct answer_candidate {
    char *source; /* CUDA C++ */
    char *plan;   /* JSON text */
} answer_candidate;

/* answer_read_candidate: 0, or -1 and why. */
int answer_read_candidate(const char *text, answer_candidate *out, char why[ANSWER_WHY_MAX]);
void answer_candidate_fini(answer_candidate *self);

/* answer_read_spec: the KernelSpec, of the right form, or NULL and why. */
json *answer_read_spec(const char *text, char why[ANSWER_WHY_MAX]);

/* What is asked for: how an answer that is bound to a schema looks. */
typedef enum answer_form { ANSWER_CANDIDATE, ANSWER_SPEC } answer_form;
/* answer_form_name names the schema; answer_form_schema is its text, fresh; answer_form_note tells a model
 * that is bound to it what is different from the fenced blocks that the prompts ask for. */
const char *answer_form_name(answer_form form);
char *answer_form_schema(answer_form form);
const char *answer_form_note(answer_form form);

#endif
