/* codegen - stage 2: a candidate that compiles and passes the gate
 *
 * Each failed answer is told back to the model (plan pointer, compiler log, gate rule) until one stands
 * or the budget ends.
 *
 * SPDX-License-Identifier: MIT */
#include "agent-node/stages/prompt.h"
#include "agent-node/stages/stage.h"
#include "common/scoped.h"
#include "common/xalloc.h"

/* The outcome of the last attempt stands for the stage. */
static void decide_failure(pipeline *p, stage_work *w)
{
    if (w->record.attempt_count == 0) {
        stage_decide(w, "failed", OUTCOME_NO_ANSWER, "budget", "no model call was allowed");
    } else {
        const attempt_record *last = &w->record.attempts[w->record.attempt_count - 1];
        stage_decide(w, "failed", last->result, last->detail, last->text);
    }
    p->over = true;
}

int stage_codegen(pipeline *p, stage_work *w, err *e)
{
    conversation talk SCOPED(conversation_fini);
    conversation_init(&talk, prompt_system(), ANSWER_CANDIDATE);
    SCOPED(scoped_free) char *question = prompt_problem(p);
    conversation_add(&talk, "user", question);
    while (p->best == NULL && stage_may_ask(p, w)) {
        SCOPED(provider_answer_fini) provider_answer answer = {0};
        SCOPED(scoped_free) char *complaint = NULL;
        if (stage_ask(p, w, &talk, &answer, e) != 0 ||
            stage_try(p, w, &answer, &p->best, &complaint, e) != 0) {
            return -1;
        }
        if (complaint != NULL) {
            conversation_add(&talk, "user", complaint);
        }
    }
    if (p->best == NULL) {
        decide_failure(p, w);
        return 0;
    }
    stage_decide(w, "passed", OUTCOME_OK, NULL, NULL);
    return 0;
}
