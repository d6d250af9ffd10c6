/* stage - what the five stages share: asking a model, trying its candidate, keeping the record
 *
 * SPDX-License-Identifier: MIT */
#include "agent-node/stages/stage.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "agent-node/paid.h"
#include "agent-node/stages/prompt.h"
#include "common/clock.h"
#include "common/json.h"
#include "common/scoped.h"
#include "common/xalloc.h"
#include "suites/cases.h"

const stage_entry stage_table[SPEC_STAGES] = {{STAGE_INTERVIEW, stage_interview},
                                              {STAGE_CODEGEN, stage_codegen},
                                              {STAGE_CORRECTNESS, stage_correctness},
                                              {STAGE_PERFORMANCE, stage_performance},
                                              {STAGE_POLISH, stage_polish}};

/* ---- conversation ---- */

void conversation_init(conversation *self, char *system, answer_form form)
{
    *self = (conversation){.system = system, .form = form, .schema = answer_form_schema(form)};
    self->bound_system =
        xasprintf("%s\n\n# Form of the answer\n%s\n", system, answer_form_note(form));
}

void conversation_fini(conversation *self)
{
    for (size_t i = 0; i < self->count; i++) {
        free((void *)(uintptr_t)self->turns[i].text);
    }
    free(self->turns);
    free(self->schema);
    free(self->bound_system);
    free(self->system);
    *self = (conversation){0};
}

void conversation_add(conversation *self, const char *role, const char *text)
{
    self->turns = xreallocarray(self->turns, self->count + 1, sizeof(*self->turns));
    self->turns[self->count++] = (provider_turn){.role = role, .text = xstrdup(text)};
}

/* The prompt as it is stored: a JSON array of {role, text}. */
static char *conversation_json(const conversation *self, const char *system)
{
    SCOPED(json_destroy) json *array = json_new_array();
    json *first = json_new_object();
    json_set_str(first, "role", "system");
    json_set_str(first, "text", system);
    json_append(array, &first);
    for (size_t i = 0; i < self->count; i++) {
        json *turn = json_new_object();
        json_set_str(turn, "role", self->turns[i].role);
        json_set_str(turn, "text", self->turns[i].text);
        json_append(array, &turn);
    }
    return json_dump(array);
}

/* ---- asking ---- */

/* The escalation has one call in each stage that asks again. */
static bool may_escalate(const pipeline *p, const stage_work *w)
{
    int64_t budget = p->spec->budgets[w->id];
    return p->escalation != NULL && budget > 0 && w->calls == budget && w->id != STAGE_POLISH;
}

bool stage_may_ask(const pipeline *p, const stage_work *w)
{
    return !w->exhausted && (w->calls < p->spec->budgets[w->id] || may_escalate(p, w));
}

static provider *model_of(const pipeline *p, const stage_work *w)
{
    return may_escalate(p, w) ? p->escalation : p->providers[w->id];
}

/* What makes a question what it is, beside stage and number: an answer to another one is not used for it.
 * Times and findings that earlier turns tell are no part of it: they differ when a stage is gone through
 * again, and an answer that was paid for would be paid for twice. */
static hash question_key(const pipeline *p, const stage_work *w, const char *system)
{
    static const char version[] = "ce-call-1";
    const ability_demand *demand = &p->demands[may_escalate(p, w) ? SPEC_STAGES : w->id];
    const char *name = provider_name(model_of(p, w));
    const char *model = provider_model(model_of(p, w));
    SCOPED(scoped_free)
    char *how =
        xasprintf("sample %" PRId64 " api %s effort %s temperature %.17g top_p %.17g",
                  p->spec->sample, demand->api != NULL ? demand->api : "",
                  demand->effort != NULL ? demand->effort : "", demand->temperature, demand->top_p);
    const task_spec *spec = p->spec;
    const hash_part parts[] = {
        {"version", version, strlen(version)},   {"provider", name, strlen(name)},
        {"model", model, strlen(model)},         {"how", how, strlen(how)},
        {"system", system, strlen(system)},      {"contract", spec->contract_hash.bytes, HASH_SIZE},
        {"task", spec->prompt.bytes, HASH_SIZE}, {"reference", spec->reference.bytes, HASH_SIZE}};
    return hash_list(parts, sizeof(parts) / sizeof(parts[0]));
}

static const struct row_call_ref *find_recorded(const pipeline *p, const stage_work *w)
{
    for (size_t i = 0; i < p->done->call_count; i++) {
        const struct row_call_ref *call = &p->done->calls[i];
        if (call->index == w->number && strcmp(call->stage, stage_name(w->id)) == 0) {
            return call;
        }
    }
    return NULL;
}

/* Uses an answer that an earlier lease committed. 1: used, 0: it answers another question, -1: e. */
static int recall(pipeline *p, const struct row_call_ref *call, const char *key,
                  provider_answer *out, err *e)
{
    SCOPED(call_record_fini) call_record record = {0};
    SCOPED(scoped_free) char *text = ledger_get_text(p->ledger, &call->record, e);
    if (text == NULL || call_record_read(text, strlen(text), &record, e) != 0) {
        return -1;
    }
    if (record.key != NULL && strcmp(record.key, key) != 0) {
        return 0;
    }
    if (!provider_stop_parse(record.stop, &out->stop)) {
        return err_set(e, ERR_PROTOCOL, "recorded call: unknown stop '%s'", record.stop);
    }
    out->text =
        hash_is_zero(&record.answer) ? xstrdup("") : ledger_get_text(p->ledger, &record.answer, e);
    return out->text != NULL ? 1 : -1;
}

/* A question as it is put and recorded. */
typedef struct question {
    const char *system;     /* borrowed from the conversation */
    provider_format format; /* likewise */
    char *prompt;           /* JSON array of {role, text} */
    char key[HASH_HEX];
} question;

static void question_fini(question *self)
{
    free(self->prompt);
}

static int commit_call(pipeline *p, const stage_work *w, const question *q,
                       const provider_answer *answer, err *e)
{
    const provider *model = model_of(p, w);
    call_record record = {.index = w->number,
                          .tokens_in = answer->tokens_in,
                          .tokens_out = answer->tokens_out,
                          .tokens_cache_read = answer->tokens_cache_read,
                          .tokens_cache_write = answer->tokens_cache_write,
                          .cost_usd = answer->cost_usd,
                          .latency_ms = answer->latency_ms};
    record.stage = xstrdup(stage_name(w->id));
    record.provider = xstrdup(provider_name(model));
    record.model = xstrdup(provider_model(model));
    record.stop = xstrdup(provider_stop_name(answer->stop));
    record.usage = answer->usage != NULL ? xstrdup(answer->usage) : NULL;
    record.attempts = answer->trouble.attempts;
    record.unknown_bills = answer->trouble.unknown_bills;
    record.key = xstrdup(q->key);
    int rc = ledger_put_text(p->ledger, q->prompt, &record.prompt, e);
    if (rc == 0 && answer->text[0] != '\0') {
        rc = ledger_put_text(p->ledger, answer->text, &record.answer, e);
    }
    if (rc == 0) {
        rc = ledger_call(p->ledger, &record, e);
    }
    call_record_fini(&record);
    return rc;
}

static int ask_model(pipeline *p, const stage_work *w, const conversation *talk, const question *q,
                     provider_answer *out, err *e)
{
    provider_request request = {.stage = stage_name(w->id),
                                .index = w->calls,
                                .problem = p->spec->problem,
                                .sample = p->spec->sample,
                                .system = q->system,
                                .format = &q->format,
                                .turns = talk->turns,
                                .turn_count = talk->count,
                                .material = &p->material,
                                .cancelled = p->ledger->cancelled};
    bool paid = false;
    err why = {0};
    const paid_call call = {model_of(p, w), &request, w->number};
    if (paid_begin(p->ledger, &call, &request.impatient, &paid, e) != 0) {
        return -1;
    }
    int64_t start = clock_mono_us();
    if (provider_ask(call.model, &request, out, &why) != 0) {
        if (paid) {
            paid_failed(p->ledger, &call, &out->trouble, &why);
        }
        if (e != NULL) {
            *e = why;
        }
        return -1;
    }
    if (out->latency_ms <= 0.0) {
        out->latency_ms = (double)(clock_mono_us() - start) / 1000.0;
    }
    return commit_call(p, w, q, out, e);
}

/* A recorded answer to this question, else the model's. */
static int find_answer(pipeline *p, stage_work *w, const conversation *talk, const question *q,
                       provider_answer *out, err *e)
{
    const struct row_call_ref *recorded = NULL;
    int used = 0;
    while (used == 0 && (recorded = find_recorded(p, w)) != NULL) {
        used = recall(p, recorded, q->key, out, e);
        if (used == 0) {
            stage_note(w, "recorded call %" PRId64 " answers another question and is not used",
                       w->number++);
        }
    }
    return used == 0 ? ask_model(p, w, talk, q, out, e) : used < 0 ? -1 : 0;
}

/* What was demanded and is left out, and who is asked beyond the budget: once a stage. */
static void note_model(const pipeline *p, stage_work *w)
{
    const char *degraded = provider_degraded(model_of(p, w));
    if (may_escalate(p, w)) {
        stage_note(w, "the escalation %s is asked", p->spec->escalation);
    }
    if (degraded[0] != '\0' && (w->calls == 0 || may_escalate(p, w))) {
        stage_note(w, "degraded: %s", degraded);
    }
}

int stage_ask(pipeline *p, stage_work *w, conversation *talk, provider_answer *out, err *e)
{
    bool bound = provider_binds(model_of(p, w));
    SCOPED(question_fini)
    question q = {.system = bound ? talk->bound_system : talk->system,
                  .format = {.name = answer_form_name(talk->form), .schema = talk->schema}};
    q.prompt = conversation_json(talk, q.system);
    hash key = question_key(p, w, q.system);
    hash_hex(&key, q.key);
    *out = (provider_answer){0};
    if (ledger_check(p->ledger, e) != 0) {
        return -1;
    }
    note_model(p, w);
    if (find_answer(p, w, talk, &q, out, e) != 0) {
        provider_answer_fini(out);
        return -1;
    }
    w->calls++;
    w->number++;
    w->exhausted = out->stop == PROVIDER_STOP_EXHAUSTED;
    p->exhausted = p->exhausted || w->exhausted;
    conversation_add(talk, "assistant", out->text);
    return 0;
}

/* ---- the record ---- */

void stage_decide(stage_work *w, const char *status, outcome result, const char *detail,
                  const char *text)
{
    stage_record *r = &w->record;
    free(r->status);
    free(r->detail);
    free(r->text);
    r->status = xstrdup(status);
    r->result = result;
    r->detail = detail != NULL && detail[0] != '\0' ? xstrdup(detail) : NULL;
    r->text = text != NULL && text[0] != '\0' ? xstrdup(text) : NULL;
}

void stage_note(stage_work *w, const char *format, ...)
{
    SCOPED(buf_fini) buf line;
    va_list args;
    buf_init(&line, 4096);
    if (w->record.notes != NULL) {
        buf_printf(&line, "%s; ", w->record.notes);
    }
    va_start(args, format);
    buf_vprintf(&line, format, args);
    va_end(args);
    free(w->record.notes);
    w->record.notes = buf_take(&line);
}

attempt_record *stage_attempt(pipeline *p, stage_work *w, outcome result, const char *detail,
                              const char *text)
{
    stage_record *r = &w->record;
    r->attempts = xreallocarray(r->attempts, r->attempt_count + 1, sizeof(*r->attempts));
    attempt_record *a = &r->attempts[r->attempt_count++];
    *a = (attempt_record){.index = p->attempts++,
                          .result = result,
                          .compile_ms = (double)NAN,
                          .registers = -1,
                          .local_bytes = -1};
    a->stage = xstrdup(stage_name(w->id));
    a->detail = detail != NULL && detail[0] != '\0' ? xstrdup(detail) : NULL;
    a->text = text != NULL && text[0] != '\0' ? xstrdup(text) : NULL;
    return a;
}

/* ---- the device ---- */

static void keep_text(char **target, const char *text)
{
    free(*target);
    *target = text[0] != '\0' ? xstrdup(text) : NULL;
}

static void keep_device(stage_record *record, const lane_facts *facts, const judge_facts *judged)
{
    keep_text(&record->device, facts->name);
    keep_text(&record->device_kind, facts->kind);
    keep_text(&record->device_uuid, facts->uuid);
    keep_text(&record->driver, facts->driver);
    keep_text(&record->torch, judged->torch);
}

lane *stage_hold(pipeline *p, stage_work *w, err *e)
{
    const atomic_bool *cancelled = p->ledger->cancelled;
    lanes *all = p->node->lanes;
    lane *held = p->placed ? lanes_acquire_again(all, p->facts, cancelled, e)
                           : lanes_acquire(all, p->facts->arch, &p->terms->needs, cancelled, e);
    if (held == NULL) {
        return NULL;
    }
    p->facts = lane_get_facts(held);
    p->placed = true;
    w->held_us = clock_mono_us();
    judge *j = lane_judge(held, e);
    if (j == NULL) {
        stage_let_go(p, w, &held);
        return NULL;
    }
    keep_device(&w->record, p->facts, judge_get_facts(j));
    return held;
}

void stage_let_go(pipeline *p, stage_work *w, lane **held)
{
    w->device_us += clock_mono_us() - w->held_us;
    lanes_release(p->node->lanes, held);
}

/* ---- trying a candidate ---- */

void candidate_destroy(candidate **self)
{
    candidate *c = *self;
    if (c == NULL) {
        return;
    }
    free(c->source);
    free(c->plan_text);
    plan_destroy(&c->plan);
    compile_result_fini(&c->compiled);
    free(c);
    *self = NULL;
}

/* Evaluates the plan at every shape that will be checked, on the limits of the device asked for. */
static int check_plan(const pipeline *p, const plan *parsed, plan_fault *fault)
{
    const contract *terms = p->terms;
    SCOPED(cases_fini) cases all = {0};
    cases_build(terms, strcmp(p->facts->kind, "emu") == 0, &all);
    for (size_t i = 0; i <= all.count; i++) {
        const contract_shape *shape = i < all.count ? &all.shapes[i].shape : &terms->benchmark;
        plan_steps steps = {0};
        int rc = plan_expand(parsed, terms, shape, &p->facts->limits, &steps, fault);
        plan_steps_fini(&steps);
        if (rc != 0) {
            return -1;
        }
    }
    return 0;
}

static plan *read_plan(const pipeline *p, const char *text, plan_fault *fault)
{
    plan *parsed = plan_parse(text, strlen(text), p->terms, fault);
    if (parsed != NULL && check_plan(p, parsed, fault) != 0) {
        plan_destroy(&parsed);
    }
    return parsed;
}

int candidate_compile(const pipeline *p, candidate *c, bool line_info, compile_result *out, err *e)
{
    size_t count = 0;
    const char *const *entries = plan_entries(c->plan, &count);
    const char *arch = p->facts->arch[0] != '\0' ? p->facts->arch : "sm_90a";
    compile_request request = {.arch = arch,
                               .source = c->source,
                               .entries = entries,
                               .entry_count = count,
                               .line_info = line_info};
    return compile_pool_run(p->node->compiler, &request, out, e);
}

/* What the compiler said goes into the attempt. */
static int fill_attempt(pipeline *p, const candidate *c, attempt_record *a, err *e)
{
    const compile_result *r = &c->compiled;
    a->compile_ms = r->compile_ms > 0.0 ? r->compile_ms : (double)NAN;
    for (size_t i = 0; i < r->kernel_count; i++) {
        if (r->kernels[i].registers > a->registers) {
            a->registers = r->kernels[i].registers;
        }
        if (r->kernels[i].local_bytes > a->local_bytes) {
            a->local_bytes = r->kernels[i].local_bytes;
        }
    }
    return r->log != NULL && r->log[0] != '\0' ? ledger_put_text(p->ledger, r->log, &a->log, e) : 0;
}

static char *compiler_complaint(const compile_result *r)
{
    if (r->result == OUTCOME_REJECTED) {
        return xasprintf("The candidate was refused by the eligibility gate (%s): %s", r->detail,
                         r->text);
    }
    return xasprintf("The source does not compile. The compiler says:\n\n```\n%.16000s\n```\n",
                     r->log != NULL && r->log[0] != '\0' ? r->log : r->text);
}

/* Parsed source and plan → compiled candidate, or a recorded failure. */
static int build(pipeline *p, stage_work *w, candidate **c, char **complaint, err *e)
{
    plan_fault fault = {0};
    candidate *self = *c;
    if (ledger_put_text(p->ledger, self->source, &self->source_hash, e) != 0 ||
        ledger_put_text(p->ledger, self->plan_text, &self->plan_hash, e) != 0) {
        return -1;
    }
    self->plan = read_plan(p, self->plan_text, &fault);
    if (self->plan == NULL) {
        attempt_record *a = stage_attempt(p, w, OUTCOME_PLAN_INVALID, fault.pointer, fault.text);
        a->source = self->source_hash;
        a->plan = self->plan_hash;
        *complaint =
            xasprintf("The launch plan is invalid at %s: %s",
                      fault.pointer[0] != '\0' ? fault.pointer : "its top level", fault.text);
        candidate_destroy(c);
        return 0;
    }
    if (candidate_compile(p, self, true, &self->compiled, e) != 0) {
        return -1;
    }
    const compile_result *r = &self->compiled;
    attempt_record *a = stage_attempt(p, w, r->result, r->detail, r->text);
    a->source = self->source_hash;
    a->plan = self->plan_hash;
    self->attempt = a->index;
    if (fill_attempt(p, self, a, e) != 0) {
        return -1;
    }
    if (r->result != OUTCOME_OK) {
        *complaint = compiler_complaint(r);
        candidate_destroy(c);
    }
    return 0;
}

/* An answer that is none: refused, cut, filtered, or the end of a recording. */
static void no_answer(pipeline *p, stage_work *w, const provider_answer *answer, char **complaint)
{
    const char *stop = provider_stop_name(answer->stop);
    stage_attempt(p, w, OUTCOME_NO_ANSWER, stop, "the model gave no whole answer");
    *complaint = answer->stop == PROVIDER_STOP_LENGTH
                     ? xstrdup("Your answer was cut at the length limit. Answer again, shorter.")
                     : xstrdup("There was no usable answer. Answer again in the format asked for.");
}

int stage_try(pipeline *p, stage_work *w, const provider_answer *answer, candidate **out,
              char **complaint, err *e)
{
    answer_candidate parts = {0};
    char why[ANSWER_WHY_MAX];
    *out = NULL;
    *complaint = NULL;
    if (answer->stop != PROVIDER_STOP_OK) {
        no_answer(p, w, answer, complaint);
        return 0;
    }
    if (answer_read_candidate(answer->text, &parts, why) != 0) {
        stage_attempt(p, w, OUTCOME_PARSE_FAILED, NULL, why);
        *complaint = xasprintf("The answer could not be read: %s.", why);
        return 0;
    }
    SCOPED(candidate_destroy) candidate *c = xcalloc(1, sizeof(*c));
    c->source = TAKE(parts.source);
    c->plan_text = TAKE(parts.plan);
    if (build(p, w, &c, complaint, e) != 0) {
        return -1;
    }
    *out = TAKE(c);
    return 0;
}

int stage_seek(pipeline *p, stage_work *w, conversation *talk, candidate **out, err *e)
{
    *out = NULL;
    while (*out == NULL && stage_may_ask(p, w)) {
        SCOPED(provider_answer_fini) provider_answer answer = {0};
        SCOPED(scoped_free) char *complaint = NULL;
        if (stage_ask(p, w, talk, &answer, e) != 0) {
            return -1;
        }
        if (answer.stop == PROVIDER_STOP_EXHAUSTED) {
            return 0;
        }
        if (stage_try(p, w, &answer, out, &complaint, e) != 0) {
            return -1;
        }
        if (complaint != NULL) {
            conversation_add(talk, "user", complaint);
        }
    }
    return 0;
}

int candidate_restore(pipeline *p, const hash *source, const hash *plan_hash, err *e)
{
    SCOPED(candidate_destroy) candidate *c = xcalloc(1, sizeof(*c));
    c->attempt = -1;
    plan_fault fault = {0};
    c->source_hash = *source;
    c->plan_hash = *plan_hash;
    c->source = ledger_get_text(p->ledger, source, e);
    c->plan_text = c->source != NULL ? ledger_get_text(p->ledger, plan_hash, e) : NULL;
    if (c->plan_text == NULL) {
        return -1;
    }
    c->plan = plan_parse(c->plan_text, strlen(c->plan_text), p->terms, &fault);
    if (c->plan == NULL) {
        return err_set(e, ERR_INTERNAL, "a stored plan does not parse any more: %s: %s",
                       fault.pointer, fault.text);
    }
    if (candidate_compile(p, c, true, &c->compiled, e) != 0) {
        return -1;
    }
    if (c->compiled.result != OUTCOME_OK) {
        return err_set(e, ERR_INTERNAL, "a stored candidate does not compile any more: %s",
                       c->compiled.text != NULL ? c->compiled.text : "");
    }
    candidate_destroy(&p->best);
    p->best = TAKE(c);
    return 0;
}
