/* check - protocol ce-correct-0: a candidate at every shape of its contract
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

enum { CHECK_RETRIES = 1 }; /* of the whole check, after the judge had to be restarted */

const char *check_family(const contract *terms, size_t i)
{
    const family_list *families = &terms->families;
    if (i == terms->shape_count && family_list_has(families, "normal")) {
        return "normal";
    }
    return families->names[i % families->count];
}

static bool on_emu(const lane_facts *facts)
{
    return strcmp(facts->kind, "emu") == 0;
}

const char *check_protocol(const lane_facts *facts)
{
    return on_emu(facts) ? "ce-correct-0/emu" : "ce-correct-0";
}

/* Whether shape number i is one that this kind of device checks. */
static bool takes_shape(const pipeline *p, size_t i, size_t taken)
{
    const contract *terms = p->terms;
    if (!on_emu(p->facts)) {
        return true;
    }
    if (i == terms->shape_count || taken == CHECK_EMU_SHAPES) {
        return false;
    }
    for (size_t t = 0; t < terms->input_count + terms->output_count; t++) {
        int64_t elements = 0;
        if (contract_elements(terms, t, &terms->shapes[i], &elements, NULL) != 0 ||
            elements > CHECK_EMU_ELEMENTS) {
            return false;
        }
    }
    return true;
}

/* Draws, launches, compares. *comparison stays empty when the launch already failed. */
static int check_shape(const trial *t, size_t i, runner_verdict *verdict,
                       judge_comparison *comparison, err *e)
{
    const contract *terms = t->p->terms;
    const contract_shape *shape = i < terms->shape_count ? &terms->shapes[i] : &terms->benchmark;
    SCOPED(judge_staging_fini) judge_staging staging = {0};
    int64_t number = t->p->attempts * 1000 + (int64_t)i;
    judge_draw_request draw = {.shape = shape,
                               .seed = trial_seed(t->p->spec, "check", number),
                               .family = check_family(terms, i),
                               .slots = 1};
    if (judge_draw(t->judge, &draw, &staging, e) != 0) {
        return -1;
    }
    runner_check request = {.terms = terms,
                            .shape = shape,
                            .salt = trial_seed(t->p->spec, "salt", number),
                            .staging = &staging,
                            .deadline_ms = TRIAL_DEADLINE_MS};
    if (runner_proc_check(t->runner, &request, verdict, e) != 0) {
        return -1;
    }
    if (verdict_is_ok(verdict)) {
        if (judge_compare(t->judge, 0, request.salt, comparison, e) != 0) {
            return -1;
        }
        if (!comparison->equal) {
            verdict_set(verdict, OUTCOME_WRONG, comparison->detail, "%s", comparison->text);
        }
    }
    if (!verdict_is_ok(verdict)) {
        trial_say(t->p, shape, draw.family, verdict);
    }
    return 0;
}

static json *shape_row(const trial *t, size_t i, const runner_verdict *verdict,
                       const judge_comparison *comparison)
{
    const contract *terms = t->p->terms;
    const contract_shape *shape = i < terms->shape_count ? &terms->shapes[i] : &terms->benchmark;
    json *row = json_new_object();
    json *dims = contract_shape_json(terms, shape);
    json_set(row, "shape", &dims);
    json_set_str(row, "family", check_family(terms, i));
    json_set_str(row, "outcome", outcome_name(verdict->result));
    if (!verdict_is_ok(verdict)) {
        json_set_str(row, "detail", verdict->detail);
        json_set_str(row, "text", verdict->text);
    }
    if (comparison->report_json != NULL) {
        const char *text = comparison->report_json;
        SCOPED(json_doc_destroy) json_doc *doc = json_parse(text, strlen(text), "judge", NULL);
        json *report = doc != NULL ? json_doc_take(doc) : json_new_null();
        json_set(row, "comparison", &report);
    }
    modelled_set(row, runner_proc_modelled(t->runner));
    return row;
}

static int check_shapes(const trial *t, check_report *out, json *rows, err *e)
{
    const contract *terms = t->p->terms;
    runner_verdict *verdict = &out->verdict;
    size_t count = terms->shape_count + 1;
    size_t taken = 0;
    for (size_t i = 0; i < count && verdict_is_ok(verdict); i++) {
        SCOPED(judge_comparison_fini) judge_comparison comparison = {0};
        if (!takes_shape(t->p, i, taken)) {
            continue;
        }
        taken++;
        if (ledger_check(t->p->ledger, e) != 0 || check_shape(t, i, verdict, &comparison, e) != 0) {
            return -1;
        }
        json *row = shape_row(t, i, verdict, &comparison);
        json_append(rows, &row);
        modelled_keep(&out->modelled, runner_proc_modelled(t->runner), terms,
                      i < terms->shape_count ? &terms->shapes[i] : &terms->benchmark);
    }
    if (verdict_is_ok(verdict)) {
        snprintf(verdict->text, sizeof(verdict->text), "correct at %zu shapes", taken);
    }
    return 0;
}

static int check_once(const pipeline *p, lane *held, const candidate *c, check_report *out, err *e)
{
    trial t SCOPED(trial_fini);
    json *rows = json_new_array();
    SCOPED(json_destroy) json *report = json_new_object();
    verdict_ok(&out->verdict);
    int rc = trial_open(&t, p, held, c, &out->verdict, e);
    if (rc == 0) {
        rc = check_shapes(&t, out, rows, e);
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
