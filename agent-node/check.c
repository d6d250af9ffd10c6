/* check - protocol ce-correct-1: a candidate at every shape that must hold
 *
 * SPDX-License-Identifier: MIT */
#include "agent-node/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent-node/modelled.h"
#include "agent-node/trial.h"
#include "common/json.h"
#include "common/scoped.h"
#include "common/xalloc.h"
#include "suites/cases.h"

enum { CHECK_RETRIES = 1 }; /* of the whole check, after the judge had to be restarted */

static const char grid_part[] = "grid"; /* the same shapes for every candidate of a problem */

/* One shape to check. */
typedef struct check_case {
    const char *part; /* grid, benchmark, large index, hidden */
    cases_shape at;
    int64_t number; /* of its seeds, within the part */
    bool secret;    /* seeds of this attempt alone, and a text that says so */
    bool once;      /* no pair: memory for one set of buffers only */
} check_case;

/* What is being filled. */
typedef struct check_run {
    const pipeline *p;
    trial *trial;
    runner_verdict *verdict;
    char **modelled;    /* of the report */
    modelled_cost cost; /* of the grid */
    json *rows;
    size_t done; /* shapes that passed */
} check_run;

static bool on_emu(const lane_facts *facts)
{
    return strcmp(facts->kind, "emu") == 0;
}

const char *check_protocol(const lane_facts *facts)
{
    return on_emu(facts) ? "ce-correct-1/emu" : "ce-correct-1";
}

/* The fixed part's seeds are those of the problem in this run: the judge answers every candidate from
 * the truths that it has. Hidden ones are of the attempt. */
static int64_t seed_of(const pipeline *p, const check_case *c, const char *purpose)
{
    if (c->secret) {
        return trial_seed(p->spec, purpose, p->attempts * 1000 + c->number);
    }
    return trial_problem_seed(p->spec, purpose, c->number);
}

/* ---- one shape ---- */

/* The runs of one shape. With order_free the two runs of the pair are two requests, each compared by
 * the error bound; else the runner compares them bit by bit. */
static int launch_and_compare(const check_run *r, const runner_check *request,
                              judge_comparison *comparison, err *e)
{
    runner_verdict *verdict = r->verdict;
    if (runner_proc_check(r->trial->runner, request, verdict, e) != 0) {
        return -1;
    }
    bool leftovers =
        verdict->result == OUTCOME_UNINITIALISED && strcmp(verdict->detail, VERDICT_LEFTOVERS) == 0;
    if (!verdict_is_ok(verdict) && !leftovers) {
        return 0;
    }
    judge_comparison_fini(comparison);
    if (judge_compare(r->trial->judge, 0, request->salt, comparison, e) != 0) {
        return -1;
    }
    /* What nobody wrote differs from run to run too: that is the more precise finding. */
    bool says = leftovers ? strcmp(comparison->detail, "unwritten") == 0 : !comparison->equal;
    if (says) {
        verdict_set(verdict, OUTCOME_WRONG, comparison->detail, "%s", comparison->text);
    }
    return 0;
}

static void say_where(const check_run *r, const check_case *c)
{
    trial_say(r->p, &c->at.shape, c->at.family, r->verdict);
    if (c->secret) {
        runner_verdict *v = r->verdict;
        SCOPED(scoped_free) char *text = xasprintf("hidden run: %s", v->text);
        snprintf(v->text, sizeof(v->text), "%s", text);
    }
}

/* Draws, launches, compares. *comparison stays empty when the launch already failed. */
static int check_shape(const check_run *r, const check_case *c, judge_comparison *comparison,
                       err *e)
{
    SCOPED(judge_staging_fini) judge_staging staging = {0};
    judge_draw_request draw = {.shape = &c->at.shape,
                               .seed = seed_of(r->p, c, c->part),
                               .family = c->at.family,
                               .slots = 1};
    if (judge_draw(r->trial->judge, &draw, &staging, e) != 0) {
        return -1;
    }
    /* The emulator sees every read of what nobody wrote, and repeats itself: a pair would add nothing. */
    bool paired = !c->once && !on_emu(r->p->facts);
    bool order_free = r->p->terms->order_free;
    int64_t other = trial_seed(r->p->spec, "pair", r->p->attempts * 1000 + c->number);
    runner_check request = {.terms = r->p->terms,
                            .shape = &c->at.shape,
                            .salt = trial_seed(r->p->spec, "salt", other),
                            .pair_salt = paired && !order_free ? other + 1 : 0,
                            .staging = &staging,
                            .deadline_ms = TRIAL_DEADLINE_MS};
    int rc = launch_and_compare(r, &request, comparison, e);
    if (rc == 0 && paired && order_free && verdict_is_ok(r->verdict)) {
        request.salt = other;
        rc = launch_and_compare(r, &request, comparison, e);
    }
    if (rc == 0 && !verdict_is_ok(r->verdict)) {
        say_where(r, c);
    }
    return rc;
}

static json *case_row(const check_run *r, const check_case *c)
{
    json *row = json_new_object();
    json *dims = contract_shape_json(r->p->terms, &c->at.shape);
    json_set_str(row, "part", c->part);
    json_set(row, "shape", &dims);
    json_set_str(row, "family", c->at.family);
    return row;
}

static void add_row(const check_run *r, const check_case *c, const judge_comparison *comparison)
{
    json *row = case_row(r, c);
    json_set_str(row, "outcome", outcome_name(r->verdict->result));
    if (!verdict_is_ok(r->verdict)) {
        json_set_str(row, "detail", r->verdict->detail);
        json_set_str(row, "text", r->verdict->text);
    }
    if (comparison->report_json != NULL) {
        const char *text = comparison->report_json;
        SCOPED(json_doc_destroy) json_doc *doc = json_parse(text, strlen(text), "judge", NULL);
        json *report = doc != NULL ? json_doc_take(doc) : json_new_null();
        json_set(row, "comparison", &report);
    }
    modelled_set(row, runner_proc_modelled(r->trial->runner));
    json_append(r->rows, &row);
}

static int check_case_once(check_run *r, const check_case *c, err *e)
{
    SCOPED(judge_comparison_fini) judge_comparison comparison = {0};
    if (ledger_check(r->p->ledger, e) != 0 || check_shape(r, c, &comparison, e) != 0) {
        return -1;
    }
    add_row(r, c, &comparison);
    const char *counters = runner_proc_modelled(r->trial->runner);
    modelled_keep(r->modelled, counters, r->p->terms, &c->at.shape);
    if (strcmp(c->part, grid_part) == 0) {
        modelled_add(&r->cost, counters, r->p->terms, &c->at.shape);
    }
    r->done += verdict_is_ok(r->verdict);
    return 0;
}

/* ---- the parts ---- */

static int check_grid(check_run *r, err *e)
{
    SCOPED(cases_fini) cases all = {0};
    cases_build(r->p->terms, on_emu(r->p->facts), &all);
    for (size_t i = 0; i < all.count && verdict_is_ok(r->verdict); i++) {
        check_case c = {.part = grid_part, .at = all.shapes[i], .number = (int64_t)i};
        if (check_case_once(r, &c, e) != 0) {
            return -1;
        }
    }
    return 0;
}

/* A contract without dims has one shape, which the grid has checked under every family. */
static bool is_fixed(const pipeline *p)
{
    return p->terms->dim_count == 0;
}

static int check_benchmark(check_run *r, err *e)
{
    check_case c = {.part = "benchmark", .at = cases_benchmark(r->p->terms)};
    return on_emu(r->p->facts) || is_fixed(r->p) ? 0 : check_case_once(r, &c, e);
}

/* Both sides' copies of every tensor, what the reference holds in fp64 of each, and some more. */
static bool large_fits(const pipeline *p, const cases_shape *at)
{
    enum { BYTES_PER_ELEMENT = 48 };
    int64_t budget = p->facts->limits.memory_bytes / 10 * 9, elements = 0;
    for (size_t i = 0; i < p->terms->input_count + p->terms->output_count; i++) {
        if (contract_elements(p->terms, i, &at->shape, &elements, NULL) != 0) {
            return false;
        }
        budget -=
            elements * ((int64_t)dtype_size(p->terms->tensors[i].type) * 2 + BYTES_PER_ELEMENT);
        if (budget < 0) {
            return false;
        }
    }
    return true;
}

static int check_large(check_run *r, err *e)
{
    check_case c = {.part = "large index", .at = cases_benchmark(r->p->terms), .once = true};
    const char *why = NULL;
    if (on_emu(r->p->facts) || is_fixed(r->p)) {
        return 0;
    }
    if (!cases_large(r->p->terms, &c.at)) {
        why = "not run (range): the declared ranges end before 2^31 elements";
    } else if (!large_fits(r->p, &c.at)) {
        why = "not run (memory)";
    }
    if (why == NULL) {
        return check_case_once(r, &c, e);
    }
    json *row = case_row(r, &c);
    json_set_str(row, "outcome", outcome_name(OUTCOME_NOT_RUN));
    json_set_str(row, "text", why);
    json_append(r->rows, &row);
    return 0;
}

/* The hidden run: other shapes and values, in a process that has seen nothing. */
static int check_hidden(check_run *r, lane *held, err *e)
{
    const pipeline *p = r->p;
    rng source;
    rng_init(&source, (uint64_t)trial_seed(p->spec, "hidden shapes", p->attempts));
    const candidate *c = r->trial->c;
    trial_fini(r->trial);
    if (trial_open(r->trial, p, held, c, r->verdict, e) != 0) {
        return -1;
    }
    const int64_t runs = is_fixed(p) ? 1 : CASES_HIDDEN;
    for (int64_t i = 0; i < runs && verdict_is_ok(r->verdict); i++) {
        check_case hidden = {.part = "hidden", .number = i, .secret = true};
        if (cases_draw(p->terms, on_emu(p->facts), &source, &hidden.at) &&
            check_case_once(r, &hidden, e) != 0) {
            return -1;
        }
    }
    return 0;
}

/* What this device cannot hold is not run, which says nothing about the candidate. */
static bool runs_here(const check_run *r)
{
    const pipeline *p = r->p;
    const need_set *needs = &p->terms->needs;
    const need_device here = lanes_device(p->facts);
    SCOPED(cases_fini) cases all = {0};
    if (is_fixed(p)) {
        cases_build(p->terms, on_emu(p->facts), &all);
    }
    if (is_fixed(p) && all.count == 0) {
        verdict_set(r->verdict, OUTCOME_UNSUPPORTED_ON_EMU, "size",
                    "its fixed shape has a tensor of more than %d elements", CASES_EMU_ELEMENTS);
    } else if (!need_met(needs, &here)) {
        char why[NEED_TEXT];
        need_why(needs, here.kind, &here, 1, why);
        verdict_set(r->verdict, OUTCOME_NOT_RUN,
                    here.memory > 0 && here.memory < needs->memory ? "memory" : "capability",
                    "not runnable here: %s", why);
    }
    return verdict_is_ok(r->verdict);
}

static int check_parts(check_run *r, lane *held, err *e)
{
    if (!runs_here(r)) {
        return 0;
    }
    if (check_grid(r, e) != 0 || (verdict_is_ok(r->verdict) && check_benchmark(r, e) != 0) ||
        (verdict_is_ok(r->verdict) && check_large(r, e) != 0) ||
        (verdict_is_ok(r->verdict) && check_hidden(r, held, e) != 0)) {
        return -1;
    }
    modelled_set_cost(r->modelled, &r->cost);
    if (verdict_is_ok(r->verdict)) {
        snprintf(r->verdict->text, sizeof(r->verdict->text), "correct at %zu shapes", r->done);
    }
    return 0;
}

static int check_once(const pipeline *p, lane *held, const candidate *c, check_report *out, err *e)
{
    trial t SCOPED(trial_fini);
    json *rows = json_new_array();
    SCOPED(json_destroy) json *report = json_new_object();
    check_run r = {
        .p = p, .trial = &t, .verdict = &out->verdict, .modelled = &out->modelled, .rows = rows};
    verdict_ok(&out->verdict);
    int rc = trial_open(&t, p, held, c, &out->verdict, e);
    if (rc == 0) {
        rc = check_parts(&r, held, e);
    }
    json_set_str(report, "protocol", check_protocol(p->facts));
    if (rc == 0) {
        json_set_bool(report, "simulated", judge_get_facts(t.judge)->simulated);
    }
    json_set(report, "shapes", &rows);
    if (rc == 0) {
        out->json = json_dump(report);
    }
    return rc;
}

int check_candidate(const pipeline *p, lane *held, const candidate *c, check_report *out, err *e)
{
    for (int tries = 0;; tries++) {
        err why = {0};
        if (check_once(p, held, c, out, &why) == 0) {
            return 0;
        }
        if (!why.retry || tries == CHECK_RETRIES) {
            if (e != NULL) {
                *e = why;
            }
            return -1;
        }
    }
}

void check_report_fini(check_report *self)
{
    free(self->json);
    free(self->modelled);
    self->json = self->modelled = NULL;
}
