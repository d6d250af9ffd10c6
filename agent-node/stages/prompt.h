/* prompt - what a model is asked at each stage
 *
 * Purpose:   system text and user turns from the problem, the contract, the device and what went wrong.
 * Ownership: fresh text, caller frees.
 * Threads:   safe.
 * Errors:    none.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_AGENT_NODE_STAGES_PROMPT_H
#define CE_AGENT_NODE_STAGES_PROMPT_H

#include "agent-node/pipeline.h"

/* prompt_system is the same for every stage that asks for a candidate: rules, answer format, plan
 * grammar. prompt_interview_system asks for a KernelSpec. */
char *prompt_system(void);
char *prompt_interview_system(void);

/* prompt_problem: task, contract, reference, device; with the KernelSpec when there is one. */
char *prompt_problem(const pipeline *p);
/* prompt_candidate shows the candidate of this task and asks for a better one. `finding` says what is
 * wrong or slow. */
char *prompt_candidate(const pipeline *p, const candidate *c, const char *finding);
/* prompt_polish asks for comments and names, nothing else. */
char *prompt_polish(const pipeline *p, const candidate *c);

#endif
