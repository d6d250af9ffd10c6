/* correctness - stage 3: the hard gate
 *
 * The candidate is checked on the device lane at every shape; a failing report and the failing source
 * go back to the model until a candidate passes or the budget ends.
 *
 * SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "agent-node/check.h"
#include "agent-node/stages/prompt.h"
#include "agent-node/stages/stage.h"
#include "common/scoped.h"
#include "common/xalloc.h"

static int stage_check(pipeline *p, stage_work *w, const candidate *c, check_report *out, err *e)
{
    lane *held = stage_hold(p, w, e);
    if (held == NULL) {
        return -1;
    }
    int rc = check_candidate(p, held, c, out, e);
    stage_let_go(p, w, &held);
    return rc;
}

/* Checks a candidate and records it as an attempt. */
static int check_and_record(pipeline *p, stage_work *w, const candidate *c, check_report *report,
                            err *e)
{
    if (stage_check(p, w, c, report, e) != 0) {
        return -1;
    }
    free(w->record.modelled);
    w->record.modelled = TAKE(report->modelled);
    attempt_record *a =
        stage_attempt(p, w, report->verdict.result, report->verdict.detail, report->verdict.text);
    a->source = c->source_hash;
    a->plan = c->plan_hash;
    return ledger_put_text(p->ledger, report->json, &a->report, e);
}

/* Asks for a corrected candidate; *out stays NULL when the answers did not compile. */
static int repair(pipeline *p, stage_work *w, const candidate *wrong, const char *finding,
                  candidate **out, err *e)
{
    conversation talk SCOPED(conversation_fini);
    SCOPED(scoped_free) char *question = prompt_candidate(p, wrong, finding);
    conversation_init(&talk, prompt_system(), ANSWER_CANDIDATE);
    conversation_add(&talk, "user", question);
    return stage_seek(p, w, &talk, out, e);
}

int stage_correctness(pipeline *p, stage_work *w, err *e)
{
    for (;;) {
        SCOPED(check_report_fini) check_report report = {0};
        if (check_and_record(p, w, p->best, &report, e) != 0) {
            return -1;
        }
        if (report.verdict.result == OUTCOME_OK) {
            stage_decide(w, "passed", OUTCOME_OK, NULL, report.verdict.text);
            return 0;
        }
        candidate *next = NULL;
        if (stage_may_ask(p, w) && repair(p, w, p->best, report.verdict.text, &next, e) != 0) {
            return -1;
        }
        if (next == NULL) {
            stage_decide(w, "failed", report.verdict.result, report.verdict.detail,
                         report.verdict.text);
            p->over = true;
            return 0;
        }
        candidate_destroy(&p->best);
        p->best = next;
    }
}
