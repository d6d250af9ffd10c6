/* interview - stage 1: the model says what the kernel must do
 *
 * The KernelSpec is compared with the contract and recorded; a wrong one is noted and the task goes on:
 * the contract judges, never the spec.
 *
 * SPDX-License-Identifier: MIT */
#include <stdio.h>

#include "agent-node/stages/answer.h"
#include "agent-node/stages/prompt.h"
#include "agent-node/stages/stage.h"
#include "common/json.h"
#include "common/scoped.h"
#include "common/xalloc.h"

/* Where the spec's tensors differ from the contract's, in one line; false when they agree. */
static bool differs(const json *spec, const json *terms, const char *list, char *out, size_t size)
{
    const json *said = json_get(spec, list);
    const json *true_ones = json_get(terms, list);
    if (json_size(said) != json_size(true_ones)) {
        snprintf(out, size, "%s: %zu named, the contract has %zu", list, json_size(said),
                 json_size(true_ones));
        return true;
    }
    for (size_t i = 0; i < json_size(said); i++) {
        static const char *const keys[] = {"name", "dtype", "shape"};
        for (size_t k = 0; k < sizeof(keys) / sizeof(keys[0]); k++) {
            if (!json_equal(json_get(json_at(said, i), keys[k]),
                            json_get(json_at(true_ones, i), keys[k]))) {
                snprintf(out, size, "%s/%zu/%s is not the contract's", list, i, keys[k]);
                return true;
            }
        }
    }
    return false;
}

/* Keeps the spec when it is well-formed; -1 with the complaint in `why` when it is not. */
static int take_spec(pipeline *p, stage_work *w, const char *text, char why[ANSWER_WHY_MAX])
{
    SCOPED(json_destroy) json *spec = answer_read_spec(text, why);
    if (spec == NULL) {
        return -1;
    }
    SCOPED(json_destroy) json *terms = contract_to_json(p->terms);
    char line[160];
    if (differs(spec, terms, "inputs", line, sizeof(line)) ||
        differs(spec, terms, "outputs", line, sizeof(line))) {
        stage_note(w, "KernelSpec differs from the contract: %s", line);
    }
    p->kernel_spec = json_dump(spec);
    return 0;
}

int stage_interview(pipeline *p, stage_work *w, err *e)
{
    conversation talk SCOPED(conversation_fini);
    char why[ANSWER_WHY_MAX] = "";
    conversation_init(&talk, prompt_interview_system(), ANSWER_SPEC);
    SCOPED(scoped_free) char *question = prompt_problem(p);
    conversation_add(&talk, "user", question);
    while (p->kernel_spec == NULL && stage_may_ask(p, w)) {
        SCOPED(provider_answer_fini) provider_answer answer = {0};
        if (stage_ask(p, w, &talk, &answer, e) != 0) {
            return -1;
        }
        if (take_spec(p, w, answer.text, why) != 0) {
            SCOPED(scoped_free)
            char *repair = xasprintf("The specification could not be read: %s. Answer again.", why);
            conversation_add(&talk, "user", repair);
        }
    }
    if (p->kernel_spec == NULL) {
        stage_decide(w, "failed", OUTCOME_OK, NULL, why);
        stage_note(w, "no KernelSpec; the task goes on without");
        return 0;
    }
    stage_decide(w, "passed", OUTCOME_OK, NULL, NULL);
    return ledger_put_text(p->ledger, p->kernel_spec, &w->record.spec, e);
}
