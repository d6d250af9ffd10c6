/* stage - what the five stages share
 *
 * Purpose:   a stage is one function that reads and moves on the pipeline's state and fills a stage
 *            record; the table `stages` lists them in order.
 * Ownership: the pipeline owns its state; a stage record owns what the stage_* helpers add to it.
 * Threads:   one task thread.
 * Errors:    an err is the harness; what is true of a candidate goes into the record.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_AGENT_NODE_STAGES_STAGE_H
#define CE_AGENT_NODE_STAGES_STAGE_H

#include "agent-node/pipeline.h"
#include "agent-node/stages/answer.h"
#include "providers/provider.h"

/* A conversation with a model: system text and turns that alternate from user to assistant. */
typedef struct conversation {
    char *system;
    provider_turn *turns; /* texts owned */
    size_t count;
    answer_form form;   /* of the answers that are asked for */
    char *bound_system; /* the system text for a model that is bound to the form */
    char *schema;       /* of the form */
} conversation;
void conversation_init(conversation *self, char *system, answer_form form); /* takes the text */
void conversation_fini(conversation *self);
void conversation_add(conversation *self, const char *role, const char *text);

/* What a stage is doing now. */
typedef struct stage_work {
    stage_id id;
    stage_record record; /* filled as the stage goes on */
    int64_t calls;       /* model calls so far */
    int64_t number;      /* under which the next call is recorded */
    int64_t device_us;   /* time on the device lane so far */
    int64_t held_us;     /* when the lane was taken */
    bool exhausted;      /* a recording or script has no further answer for this stage */
} stage_work;

typedef int stage_fn(pipeline *p, stage_work *w, err *e);
typedef struct stage_entry {
    stage_id id;
    stage_fn *run;
} stage_entry;
extern const stage_entry stage_table[SPEC_STAGES];

/* One function a stage. */
stage_fn stage_interview, stage_codegen, stage_correctness, stage_performance, stage_polish;

/* stage_ask puts the conversation to the stage's model, after its budget to the escalation: an answer
 * recorded to the very same question is used again, a new one is committed before this returns. The
 * answer is added to the conversation. */
int stage_ask(pipeline *p, stage_work *w, conversation *talk, provider_answer *out, err *e);
/* stage_may_ask: is a call left, or the escalation's? */
bool stage_may_ask(const pipeline *p, const stage_work *w);

/* stage_try takes an answer to a compiled candidate: parse, plan, compile, gate. *out is NULL when it
 * failed on the way; the attempt is recorded either way, and `complaint` (fresh text) says what to tell
 * the model. */
int stage_try(pipeline *p, stage_work *w, const provider_answer *answer, candidate **out,
              char **complaint, err *e);

/* stage_seek asks until an answer makes a candidate that compiles and passes the gate, and tells each
 * failed one what was wrong with it. *out is NULL when the budget or the recording ended first. */
int stage_seek(pipeline *p, stage_work *w, conversation *talk, candidate **out, err *e);

/* stage_hold takes a device lane for this task, the same one each time, and starts its judge; what it
 * is goes into the record. stage_let_go gives it back and counts the time. */
lane *stage_hold(pipeline *p, stage_work *w, err *e);
void stage_let_go(pipeline *p, stage_work *w, lane **held);

/* performance_modelled is stage 4 where nothing can be timed, on the emulator: one call, guided by what was
 * counted in the check. The answer is kept when it is correct and its modelled cost (modelled.h) is lower:
 * fewer bytes of global memory over the checked shapes, or as many and fewer instructions. */
stage_fn performance_modelled;
/* performance_result moves what the performance stage measured into the task's result. */
void performance_result(pipeline *p, const stage_record *record);

/* stage_attempt adds an attempt to the record; text arguments are copied. */
attempt_record *stage_attempt(pipeline *p, stage_work *w, outcome result, const char *detail,
                              const char *text);

/* stage_decide sets the record's status and outcome. */
void stage_decide(stage_work *w, const char *status, outcome result, const char *detail,
                  const char *text);
void stage_note(stage_work *w, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
