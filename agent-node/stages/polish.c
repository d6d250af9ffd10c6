/* polish - stage 5: comments and names, and not one instruction
 *
 * The polished source is accepted when its machine code, compiled without line information, is that of
 * the verified kernel, and its plan is the same; then no device time is needed. Otherwise the verified
 * kernel is kept and the fallback is recorded.
 *
 * SPDX-License-Identifier: MIT */
#include "agent-node/stages/prompt.h"
#include "agent-node/stages/stage.h"
#include "common/scoped.h"
#include "common/xalloc.h"
#include "suites/plan_grammar.h"

static int machine_code(pipeline *p, candidate *c, hash *out, bool *compiled, err *e)
{
    SCOPED(compile_result_fini) compile_result plain = {0};
    if (candidate_compile(p, c, false, &plain, e) != 0) {
        return -1;
    }
    *compiled = plain.result == OUTCOME_OK;
    *out = plain.code;
    return 0;
}

/* *verdict is NULL when the polished source may stand for the verified one. */
static int compare(pipeline *p, candidate *polished, const char **verdict, err *e)
{
    hash before;
    hash after;
    bool compiled = false;
    if (!plan_grammar_same(polished->plan_text, p->best->plan_text)) {
        *verdict = "the launch plan was changed";
        return 0;
    }
    if (machine_code(p, p->best, &before, &compiled, e) != 0 ||
        machine_code(p, polished, &after, &compiled, e) != 0) {
        return -1;
    }
    if (!compiled) {
        *verdict = "the polished source does not compile";
    } else if (!hash_equal(&before, &after)) {
        *verdict = "the machine code was changed";
    } else {
        *verdict = NULL;
    }
    return 0;
}

static int try_polish(pipeline *p, stage_work *w, const provider_answer *answer,
                      const char **verdict, err *e)
{
    SCOPED(candidate_destroy) candidate *polished = NULL;
    SCOPED(scoped_free) char *complaint = NULL;
    if (stage_try(p, w, answer, &polished, &complaint, e) != 0) {
        return -1;
    }
    if (polished == NULL) {
        *verdict = "there was no candidate that compiles";
        return 0;
    }
    if (compare(p, polished, verdict, e) != 0) {
        return -1;
    }
    if (*verdict == NULL) {
        candidate_destroy(&p->best);
        p->best = TAKE(polished);
    }
    return 0;
}

int stage_polish(pipeline *p, stage_work *w, err *e)
{
    if (!stage_may_ask(p, w)) {
        stage_decide(w, "skipped", OUTCOME_OK, NULL, "no model call left");
        return 0;
    }
    conversation talk SCOPED(conversation_fini);
    SCOPED(provider_answer_fini) provider_answer answer = {0};
    SCOPED(scoped_free) char *question = prompt_polish(p, p->best);
    const char *verdict = NULL;
    conversation_init(&talk, prompt_system(), ANSWER_CANDIDATE);
    conversation_add(&talk, "user", question);
    if (stage_ask(p, w, &talk, &answer, e) != 0 || try_polish(p, w, &answer, &verdict, e) != 0) {
        return -1;
    }
    stage_decide(w, verdict == NULL ? "passed" : "fallback", OUTCOME_OK, NULL, verdict);
    return 0;
}
