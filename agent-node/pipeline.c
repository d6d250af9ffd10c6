/* pipeline - one task through the five stages, as straight-line code
 *
 * For each stage in order: restore it when an earlier lease finished it, else run it and commit its
 * record before the next begins. A stage that decides the outcome sets `over`; what then follows is
 * only the result.
 *
 * SPDX-License-Identifier: MIT */
#include "agent-node/pipeline.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "agent-node/check.h"
#include "agent-node/stages/stage.h"
#include "common/clock.h"
#include "common/paired.h"
#include "common/scoped.h"
#include "common/xalloc.h"
#include "wire/calibration.h"

static const char timing_protocol[] = "ce-timing-1";

/* ---- preparing ---- */

static int maybe_blob(const ledger *account, const hash *name, char **out, err *e)
{
    if (hash_is_zero(name)) {
        return 0;
    }
    *out = ledger_get_text(account, name, e);
    return *out != NULL ? 0 : -1;
}

static int load_recorded(pipeline *p, err *e)
{
    const task_spec *spec = p->spec;
    p->recorded = xcalloc(spec->replay_count + 1, sizeof(*p->recorded));
    for (size_t i = 0; i < spec->replay_count; i++) {
        const spec_replay *from = &spec->replay[i];
        char *text = NULL;
        if (maybe_blob(p->ledger, &from->answer, &text, e) != 0) {
            return -1;
        }
        p->recorded[i] = (provider_recorded){.stage = from->stage,
                                             .index = from->index,
                                             .stop = from->stop,
                                             .text = text != NULL ? text : xstrdup("")};
        p->material.recorded_count = i + 1;
    }
    return 0;
}

static int load_texts(pipeline *p, err *e)
{
    const task_spec *spec = p->spec;
    p->terms = contract_parse(spec->contract, strlen(spec->contract), "contract", e);
    if (p->terms == NULL || maybe_blob(p->ledger, &spec->prompt, &p->prompt, e) != 0 ||
        maybe_blob(p->ledger, &spec->reference, &p->reference, e) != 0 ||
        maybe_blob(p->ledger, &spec->gold_source, &p->gold_source, e) != 0 ||
        maybe_blob(p->ledger, &spec->gold_plan, &p->gold_plan, e) != 0 ||
        load_recorded(p, e) != 0) {
        return -1;
    }
    p->material.contract = spec->contract;
    p->material.gold_source = p->gold_source;
    p->material.gold_plan = p->gold_plan;
    p->material.recorded = p->recorded;
    return 0;
}

static const ability_demand *fill_demand(pipeline *p, size_t slot, const char *stage)
{
    const spec_demand *said = spec_demand_of(p->spec->demands, p->spec->demand_count, stage);
    p->demands[slot] = ability_no_demand;
    if (said != NULL) {
        p->demands[slot] = (ability_demand){.api = said->api,
                                            .effort = said->effort,
                                            .temperature = said->temperature,
                                            .top_p = said->top_p,
                                            .key = said->key};
    }
    return &p->demands[slot];
}

int pipeline_open(pipeline *p, err *e)
{
    for (size_t i = 0; i < SPEC_STAGES; i++) {
        if (p->spec->models[i] == NULL) {
            return err_set(e, ERR_PROTOCOL, "the task spec names no model for stage %s",
                           stage_name((stage_id)i));
        }
        const ability_demand *demand = fill_demand(p, i, stage_name((stage_id)i));
        p->providers[i] = provider_create(p->spec->models[i], demand, e);
        if (p->providers[i] == NULL) {
            return -1;
        }
    }
    if (p->spec->escalation == NULL) {
        return 0;
    }
    const ability_demand *demand = fill_demand(p, SPEC_STAGES, SPEC_ESCALATION);
    p->escalation = provider_create(p->spec->escalation, demand, e);
    return p->escalation != NULL ? 0 : -1;
}

static void pipeline_fini(pipeline *p)
{
    for (int i = 0; i < SPEC_STAGES; i++) {
        provider_destroy(&p->providers[i]);
    }
    provider_destroy(&p->escalation);
    for (size_t i = 0; i < p->material.recorded_count; i++) {
        free((void *)(uintptr_t)p->recorded[i].text);
    }
    free(p->recorded);
    free(p->prompt);
    free(p->reference);
    free(p->gold_source);
    free(p->gold_plan);
    free(p->kernel_spec);
    candidate_destroy(&p->best);
    result_record_fini(&p->result);
    contract_destroy(&p->terms);
}

/* ---- checkpoints ---- */

static const struct row_stage_ref *find_done(const pipeline *p, stage_id id)
{
    for (size_t i = 0; i < p->done->stage_count; i++) {
        if (strcmp(p->done->stages[i].stage, stage_name(id)) == 0) {
            return &p->done->stages[i];
        }
    }
    return NULL;
}

/* The candidate a stage passed on becomes the best again, unless it already is. */
static int restore_candidate(pipeline *p, const stage_record *record, err *e)
{
    if (hash_is_zero(&record->source) || p->over) {
        return 0;
    }
    if (p->best != NULL && hash_equal(&p->best->source_hash, &record->source) &&
        hash_equal(&p->best->plan_hash, &record->plan)) {
        return 0;
    }
    return candidate_restore(p, &record->source, &record->plan, e);
}

static bool is_replay(const pipeline *p, stage_id id)
{
    return strcmp(provider_name(p->providers[id]), "replay") == 0;
}

/* Did a finished stage ask a recording for more than it has? */
static bool ran_out(const pipeline *p, stage_id id, int64_t calls)
{
    for (size_t i = 0; i < p->material.recorded_count; i++) {
        calls -= strcmp(p->recorded[i].stage, stage_name(id)) == 0;
    }
    return is_replay(p, id) && calls > 0;
}

static void take_result(pipeline *p, stage_id id, const stage_record *record);

static int restore_stage(pipeline *p, stage_id id, const struct row_stage_ref *done, err *e)
{
    SCOPED(stage_record_fini) stage_record record = {0};
    SCOPED(scoped_free) char *text = ledger_get_text(p->ledger, &done->record, e);
    if (text == NULL || stage_record_read(text, strlen(text), &record, e) != 0) {
        return err_wrap(e, "checkpoint of stage %s", stage_name(id));
    }
    p->attempts += (int64_t)record.attempt_count;
    p->exhausted = p->exhausted || ran_out(p, id, record.calls);
    take_result(p, id, &record);
    if (!hash_is_zero(&record.spec)) {
        p->kernel_spec = ledger_get_text(p->ledger, &record.spec, e);
        if (p->kernel_spec == NULL) {
            return -1;
        }
    }
    return restore_candidate(p, &record, e);
}

/* ---- running ---- */

static char *copy_or_null(const char *text)
{
    return text != NULL && text[0] != '\0' ? xstrdup(text) : NULL;
}

static void replace(char **target, const char *text)
{
    free(*target);
    *target = copy_or_null(text);
}

/* The device of the last stage that had one; an earlier lease may have run elsewhere. */
static void take_device(result_record *r, const stage_record *record)
{
    if (record->device_kind != NULL) {
        replace(&r->device, record->device);
        replace(&r->device_kind, record->device_kind);
        replace(&r->device_uuid, record->device_uuid);
        replace(&r->driver, record->driver);
        replace(&r->torch, record->torch);
    }
}

/* What a finished stage means for the result. */
static void take_result(pipeline *p, stage_id id, const stage_record *record)
{
    result_record *r = &p->result;
    take_device(r, record);
    if (record->modelled != NULL) {
        replace(&r->modelled, record->modelled);
    }
    if (record->sanitizer != NULL) {
        replace(&r->sanitizer, record->sanitizer);
    }
    r->wall_ms += record->wall_ms;
    r->device_ms += record->device_ms;
    r->calls += record->calls;
    if (id == STAGE_PERFORMANCE) {
        performance_result(p, record);
    }
    if (record->result == OUTCOME_OK) {
        return;
    }
    p->over = true;
    r->result = record->result;
    r->stage = xstrdup(stage_name(id));
    r->detail = record->detail != NULL ? xstrdup(record->detail) : NULL;
    r->text = record->text != NULL ? xstrdup(record->text) : NULL;
}

static void close_record(const pipeline *p, stage_work *w, int64_t start_us)
{
    stage_record *r = &w->record;
    r->stage = xstrdup(stage_name(w->id));
    r->calls = w->calls;
    r->wall_ms = (double)(clock_mono_us() - start_us) / 1000.0;
    r->device_ms = (double)w->device_us / 1000.0;
    if (p->best != NULL) {
        r->source = p->best->source_hash;
        r->plan = p->best->plan_hash;
    }
}

static int run_stage(pipeline *p, const stage_entry *entry, err *e)
{
    SCOPED(stage_record_fini) stage_record keep = {0};
    stage_work w = {.id = entry->id};
    int64_t start = clock_mono_us();
    ledger_progress(p->ledger, stage_name(entry->id));
    int rc = ledger_begin(p->ledger, e) == 0 ? entry->run(p, &w, e) : -1;
    keep = w.record;
    if (rc != 0) {
        return err_wrap(e, "stage %s", stage_name(entry->id));
    }
    close_record(p, &w, start);
    keep = w.record;
    if (ledger_stage(p->ledger, &keep, e) != 0) {
        return -1;
    }
    take_result(p, entry->id, &keep);
    return 0;
}

/* Without a device a compiled candidate is as far as it goes. */
static void no_device(pipeline *p)
{
    result_record *r = &p->result;
    p->over = true;
    r->result = OUTCOME_NOT_RUN;
    r->stage = xstrdup(stage_name(STAGE_CORRECTNESS));
    r->detail = xstrdup("no device");
    r->text = xasprintf("compiled for %s, not run: %s", p->facts->arch, p->facts->reason);
}

static int run_stages(pipeline *p, err *e)
{
    for (size_t i = 0; i < SPEC_STAGES && !p->over; i++) {
        const stage_entry *entry = &stage_table[i];
        const struct row_stage_ref *done = find_done(p, entry->id);
        if (entry->id == STAGE_CORRECTNESS && strcmp(p->facts->kind, "none") == 0) {
            no_device(p);
        } else if (done != NULL ? restore_stage(p, entry->id, done, e) != 0
                                : run_stage(p, entry, e) != 0) {
            return -1;
        }
    }
    return 0;
}

/* ---- the result ---- */

static void sum_up(pipeline *p)
{
    result_record *r = &p->result;
    const lane_facts *facts = p->facts;
    if (r->device_kind == NULL) {
        r->device = copy_or_null(facts->name);
        r->device_kind = copy_or_null(facts->kind);
        r->device_uuid = copy_or_null(facts->uuid);
        r->driver = copy_or_null(facts->driver);
    }
    r->correct_protocol = xstrdup(check_protocol(facts));
    r->timing_protocol = strcmp(facts->kind, "emu") != 0 ? xstrdup(timing_protocol) : NULL;
    if (p->best != NULL) {
        r->source = p->best->source_hash;
        r->plan = p->best->plan_hash;
        r->nvrtc = copy_or_null(p->best->compiled.nvrtc);
    }
    if (isnan(r->speedup) && r->reason == NULL) {
        r->reason = xasprintf("%s in stage %s", outcome_name(r->result),
                              r->stage != NULL ? r->stage : "polish");
    }
    SCOPED(scoped_free) char *marks = r->marks;
    r->marks = NULL;
    SCOPED(buf_fini) buf line;
    buf_init(&line, 256);
    buf_puts(&line, !isnan(r->speedup) && r->verdict == NULL ? "uncertified" : "");
    if (marks != NULL) {
        buf_printf(&line, "%s%s", line.size > 0 ? "," : "", marks);
    }
    if (is_replay(p, STAGE_CODEGEN) && p->exhausted) {
        buf_printf(&line, "%sreplay_exhausted", line.size > 0 ? "," : "");
    }
    r->marks = copy_or_null(buf_text(&line));
}

static const lane_facts *facts_for(const lanes *all, const need_set *needs)
{
    const lane_facts *usable = lanes_usable(all, needs);
    return usable != NULL ? usable : lanes_facts(all, 0);
}

int pipeline_run(const node_parts *node, ledger *account, const task_spec *spec,
                 const checkpoint *done, err *e)
{
    pipeline p SCOPED(pipeline_fini) = {
        .node = node, .ledger = account, .spec = spec, .done = done};
    p.result.speedup = (double)NAN;
    p.result.candidate_ms = (double)NAN;
    p.result.baseline_ms = (double)NAN;
    p.result.ci_low = (double)NAN;
    p.result.ci_high = (double)NAN;
    p.result.floor_ms = (double)NAN;
    if (load_texts(&p, e) != 0) {
        return -1;
    }
    p.facts = facts_for(node->lanes, &p.terms->needs);
    if (pipeline_open(&p, e) != 0 || run_stages(&p, e) != 0) {
        return -1;
    }
    sum_up(&p);
    return ledger_result(account, &p.result, e);
}

/* ---- the card ---- */

static const struct row_card *find_card(const pipeline *p, const char *uuid)
{
    for (size_t i = 0; p->done != NULL && i < p->done->card_count; i++) {
        if (strcmp(p->done->cards[i].uuid, uuid) == 0) {
            return &p->done->cards[i];
        }
    }
    return NULL;
}

double pipeline_margin(const pipeline *p, const char *uuid, double ms, bool *calibrated)
{
    const struct row_card *card = find_card(p, uuid);
    *calibrated = false;
    if (card == NULL) {
        return PAIRED_MARGIN_MIN;
    }
    const double margins[] = {card->margin_short, card->margin_middle, card->margin_long};
    const int64_t runs[] = {card->runs_short, card->runs_middle, card->runs_long};
    const char *class = calibration_class(ms);
    int i = 0;
    while (strcmp(calibration_class_name(i), class) != 0) {
        i++;
    }
    *calibrated = runs[i] >= PAIRED_MARGIN_RUNS_MIN;
    return fmax(PAIRED_MARGIN_MIN, margins[i]);
}

const char *pipeline_distrust(const pipeline *p, const char *uuid)
{
    const struct row_card *card = find_card(p, uuid);
    return card != NULL && card->failure[0] != '\0' ? card->failure : NULL;
}

/* ---- contract and validate tasks ---- */

/* What either asks of the judge; the answer goes into the task's result. */
typedef int question_fn(judge *j, result_record *out, err *e);

static int ask_contract(judge *j, result_record *out, err *e)
{
    judge_contract_report report = {0};
    if (judge_contract(j, &report, e) != 0) {
        return -1;
    }
    out->text = TAKE(report.json);
    judge_contract_report_fini(&report);
    return 0;
}

static int ask_validation(judge *j, result_record *out, err *e)
{
    SCOPED(judge_validation_fini) judge_validation report = {0};
    if (judge_validate(j, &report, e) != 0) {
        return -1;
    }
    out->text = TAKE(report.json);
    out->result = report.passed ? OUTCOME_OK : OUTCOME_WRONG;
    out->detail = report.passed ? NULL : xstrdup(report.failed);
    return 0;
}

static int ask_judge(const pipeline *p, question_fn *question, result_record *out, err *e)
{
    lane *held = lanes_acquire_host(p->node->lanes, &p->terms->needs, p->ledger->cancelled, e);
    if (held == NULL) {
        return -1;
    }
    judge *j = lane_judge(held, e);
    bool opened =
        j != NULL && judge_open(j, p->terms, p->reference, p->spec->reference_file, e) == 0;
    const judge_facts *facts = opened ? judge_get_facts(j) : NULL;
    int rc = opened ? question(j, out, e) : -1;
    if (rc == 0) {
        out->device_kind = xstrdup(facts->device);
        out->device = copy_or_null(facts->name);
        out->torch = copy_or_null(facts->torch);
    }
    lanes_release(p->node->lanes, &held);
    return rc;
}

static int run_question(const node_parts *node, ledger *account, const task_spec *spec,
                        question_fn *question, result_record *out, err *e)
{
    pipeline p SCOPED(pipeline_fini) = {.node = node, .ledger = account, .spec = spec};
    int64_t start = clock_mono_us();
    *out = (result_record){.speedup = (double)NAN,
                           .candidate_ms = (double)NAN,
                           .baseline_ms = (double)NAN,
                           .ci_low = (double)NAN,
                           .ci_high = (double)NAN,
                           .floor_ms = (double)NAN};
    out->reason = xstrdup("a problem is checked, not timed");
    int rc = load_texts(&p, e) != 0 ? -1 : ask_judge(&p, question, out, e);
    out->wall_ms = (double)(clock_mono_us() - start) / 1000.0;
    return rc;
}

int pipeline_contract(const node_parts *node, ledger *account, const task_spec *spec, err *e)
{
    SCOPED(result_record_fini) result_record result = {0};
    return run_question(node, account, spec, ask_contract, &result, e) != 0
               ? -1
               : ledger_result(account, &result, e);
}

int pipeline_validate(const node_parts *node, ledger *account, const task_spec *spec, err *e)
{
    SCOPED(result_record_fini) result_record result = {0};
    err why = {0};
    if (run_question(node, account, spec, ask_validation, &result, &why) != 0) {
        if (why.code != ERR_CONFIG) {
            *e = why;
            return -1;
        }
        result.result = OUTCOME_WRONG;
        result.detail = xstrdup("reference");
        result.text = xstrdup(why.text);
    }
    return ledger_result(account, &result, e);
}
