/* performance_emu - stage 4 on the emulator
 *
 * There is no time to look at, but there are counters: bytes that requests touch against the least that
 * any kernel must move, bank conflicts, divergence, instructions. The model is asked once for a candidate
 * that costs less. What it gives must be correct at every shape again, and stays only when its modelled
 * cost is lower than that of the candidate before it. The result is "not measured on emu" either way.
 *
 * SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "agent-node/check.h"
#include "agent-node/modelled.h"
#include "agent-node/stages/prompt.h"
#include "agent-node/stages/stage.h"
#include "common/json.h"
#include "common/scoped.h"
#include "common/xalloc.h"

enum { FINDING_MAX = 16 * 1024 };

static const char not_measured[] = "not measured on emu";

/* Is there anybody to ask? The suite's own kernel has no second form, and a recording may hold none. */
static bool has_answer(const pipeline *p)
{
    const char *name = provider_name(p->providers[STAGE_PERFORMANCE]);
    bool recorded = false;
    for (size_t i = 0; i < p->material.recorded_count; i++) {
        recorded = recorded || strcmp(p->recorded[i].stage, stage_name(STAGE_PERFORMANCE)) == 0;
    }
    return strcmp(name, "gold") != 0 && (strcmp(name, "replay") != 0 || recorded);
}

static char *finding(const char *counters, const modelled_cost *cost)
{
    SCOPED(json_destroy)
    json *tree = json_parse_tree(counters, strlen(counters), "counters", NULL);
    SCOPED(buf_fini) buf text;
    buf_init(&text, FINDING_MAX);
    buf_printf(
        &text,
        "The kernel is correct. No card times it here; an emulator counted what it does. Over "
        "%" PRId64 " shapes its requests to global memory touch %" PRId64
        " bytes (in sectors of 32); to read and write every tensor once takes %" PRId64
        ". It executes %" PRId64 " instructions of threads. At the shape that does most:\n\n",
        cost->shapes, cost->bytes, cost->bytes_min, cost->thread_instructions);
    modelled_text(tree, &text);
    buf_puts(&text,
             "\nMake it touch fewer bytes, then execute fewer instructions, and keep it exact.");
    return buf_take(&text);
}

/* One answer; *out stays NULL when it is none or does not compile. */
static int ask_once(pipeline *p, stage_work *w, const modelled_cost *cost, candidate **out, err *e)
{
    conversation talk SCOPED(conversation_fini);
    SCOPED(scoped_free) char *dear = finding(p->result.modelled, cost);
    SCOPED(scoped_free) char *question = prompt_candidate(p, p->best, dear);
    SCOPED(scoped_free) char *complaint = NULL;
    SCOPED(provider_answer_fini) provider_answer answer = {0};
    conversation_init(&talk, prompt_system(), ANSWER_CANDIDATE);
    conversation_add(&talk, "user", question);
    if (stage_ask(p, w, &talk, &answer, e) != 0) {
        return -1;
    }
    return answer.stop == PROVIDER_STOP_EXHAUSTED ? 0
                                                  : stage_try(p, w, &answer, out, &complaint, e);
}

static int check_it(pipeline *p, stage_work *w, const candidate *c, check_report *report, err *e)
{
    lane *held = stage_hold(p, w, e);
    if (held == NULL) {
        return -1;
    }
    int rc = check_candidate(p, held, c, report, e);
    stage_let_go(p, w, &held);
    if (rc != 0) {
        return -1;
    }
    attempt_record *a =
        stage_attempt(p, w, report->verdict.result, report->verdict.detail, report->verdict.text);
    a->source = c->source_hash;
    a->plan = c->plan_hash;
    return ledger_put_text(p->ledger, report->json, &a->report, e);
}

/* A correct candidate that costs less becomes the best. */
static int weigh(pipeline *p, stage_work *w, const modelled_cost *before, candidate **next, err *e)
{
    SCOPED(check_report_fini) check_report report = {0};
    modelled_cost after;
    if (check_it(p, w, *next, &report, e) != 0) {
        return -1;
    }
    if (!verdict_is_ok(&report.verdict)) {
        stage_note(w, "the cheaper candidate is not correct: the one before it stands");
        return 0;
    }
    bool less = modelled_get_cost(report.modelled, &after) && modelled_is_less(&after, before);
    stage_note(w,
               "modelled: %" PRId64 " bytes and %" PRId64 " instructions before, %" PRId64
               " and %" PRId64 " after: %s",
               before->bytes, before->thread_instructions, after.bytes, after.thread_instructions,
               less ? "kept" : "the one before stands");
    if (less) {
        candidate_destroy(&p->best);
        p->best = TAKE(*next);
        w->record.modelled = TAKE(report.modelled);
    }
    return 0;
}

int performance_modelled(pipeline *p, stage_work *w, err *e)
{
    SCOPED(candidate_destroy) candidate *next = NULL;
    modelled_cost cost;
    w->record.sanitizer = xstrdup("not run (emulator)");
    bool known = modelled_get_cost(p->result.modelled, &cost);
    if (!known || modelled_near(&cost) || !has_answer(p) || !stage_may_ask(p, w)) {
        stage_decide(w, "skipped", OUTCOME_OK, NULL, not_measured);
        return 0;
    }
    if (ask_once(p, w, &cost, &next, e) != 0 ||
        (next != NULL && weigh(p, w, &cost, &next, e) != 0)) {
        return -1;
    }
    stage_decide(w, "passed", OUTCOME_OK, NULL, not_measured);
    return 0;
}
