/* ingest - from wire/record.h's structs to the store's rows
 *
 * SPDX-License-Identifier: MIT */
#include "coordinator/ingest.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/json.h"
#include "common/scoped.h"
#include "common/xalloc.h"
#include "store/artifact.h"
#include "store/baseline.h"
#include "store/call.h"
#include "store/charge.h"
#include "store/late.h"
#include "store/result.h"
#include "store/stage.h"

static const char *const stages[] = {"contract",    "interview", "codegen", "correctness",
                                     "performance", "polish",    NULL};
static const char *const statuses[] = {"passed", "failed", "skipped", "fallback", NULL};
static const char *const sides[] = {"candidate", "baseline", NULL};

/* ---- checks beyond the schema ---- */
static int want_choice(const char *pointer, const char *value, const char *const *choices, err *e)
{
    for (const char *const *at = choices; *at; at++) {
        if (strcmp(*at, value) == 0)
            return 0;
    }
    return err_set(e, ERR_PROTOCOL, "%s: \"%.64s\" is not one of the known names", pointer, value);
}

static int want_positive(const char *pointer, double value, const char *reason, err *e)
{
    if (isnan(value))
        return reason && *reason
                   ? 0
                   : err_set(e, ERR_PROTOCOL, "%s: a missing number needs a reason", pointer);
    return value > 0 ? 0
                     : err_set(e, ERR_PROTOCOL, "%s: %g is not a positive time", pointer, value);
}

static int want_not_negative(const char *pointer, double value, err *e)
{
    return value >= 0 ? 0 : err_set(e, ERR_PROTOCOL, "%s: %g must be 0 or more", pointer, value);
}

static int check_measurements(const measurement_record *rows, size_t count, err *e)
{
    for (size_t i = 0; i < count; i++) {
        if (want_choice("/measurements/*/side", rows[i].side, sides, e) ||
            want_positive("/measurements/*/median_ms", rows[i].median_ms, rows[i].reason, e))
            return err_wrap(e, "measurement %zu", i);
    }
    return 0;
}

static int check_call(const ingest *in, err *e)
{
    const call_record *r = &in->of.call;
    if (want_choice("/stage", r->stage, stages, e))
        return -1;
    if (r->index < 0)
        return err_set(e, ERR_PROTOCOL, "/index: %lld is negative", (long long)r->index);
    if (!isnan(r->cost_usd) && want_not_negative("/cost_usd", r->cost_usd, e))
        return -1;
    if (r->unknown_bills < 0 || r->unknown_bills > CHARGE_BILLS_MAX || r->attempts < 0)
        return err_set(e, ERR_PROTOCOL, "/unknown_bills: %lld of %lld attempts",
                       (long long)r->unknown_bills, (long long)r->attempts);
    return want_not_negative("/latency_ms", r->latency_ms, e);
}

static int check_stage(const ingest *in, err *e)
{
    const stage_record *r = &in->of.stage;
    if (want_choice("/stage", r->stage, stages, e) ||
        want_choice("/status", r->status, statuses, e) ||
        want_not_negative("/wall_ms", r->wall_ms, e) ||
        want_not_negative("/device_ms", r->device_ms, e))
        return -1;
    return check_measurements(r->measurements, r->measurement_count, e);
}

static int check_result(const ingest *in, err *e)
{
    const result_record *r = &in->of.result;
    if (want_not_negative("/wall_ms", r->wall_ms, e) ||
        want_not_negative("/device_ms", r->device_ms, e))
        return -1;
    if (!isnan(r->speedup) && r->result != OUTCOME_OK)
        return err_set(e, ERR_PROTOCOL, "/speedup: only a correct candidate has a speed");
    return want_positive("/speedup", r->speedup, r->reason, e);
}

static int check_baseline(const ingest *in, err *e)
{
    hash key;
    if (!hash_parse(in->name, &key))
        return err_set(e, ERR_PROTOCOL, "a baseline's key must be 64 hex digits");
    return check_measurements(in->of.baseline.modes, in->of.baseline.mode_count, e);
}

/* ---- rows ---- */
/* What a provider told is JSON text; the name of the model that answered is in it, if it said. */
static char *served_by(const call_record *r)
{
    SCOPED(json_destroy)
    json *told =
        r->usage != NULL ? json_parse_tree(r->usage, strlen(r->usage), "usage", NULL) : NULL;
    const char *name = json_str(json_get(told, "model"), NULL);
    return name != NULL ? xstrdup(name) : NULL;
}

static int write_call(store_tx *tx, const ingest *in, err *e)
{
    const call_record *r = &in->of.call;
    SCOPED(scoped_free) char *served = served_by(r);
    call_row row = {.stage = r->stage,
                    .number = r->index,
                    .provider = r->provider,
                    .model = r->model,
                    .served = served,
                    .prompt = r->prompt,
                    .answer = r->answer,
                    .stop = r->stop,
                    .tokens_in = r->tokens_in,
                    .tokens_out = r->tokens_out,
                    .tokens_cache_read = r->tokens_cache_read,
                    .tokens_cache_write = r->tokens_cache_write,
                    .cost_usd = r->cost_usd,
                    .latency_ms = r->latency_ms,
                    .reason = r->reason,
                    .unknown_bills = r->unknown_bills,
                    .record = in->record};
    return call_put(tx, in->name, in->token, &row, in->now_ms, e);
}

static attempt_row *attempt_rows(const stage_record *r)
{
    attempt_row *rows = xcalloc(r->attempt_count + 1, sizeof *rows);
    for (size_t i = 0; i < r->attempt_count; i++) {
        const attempt_record *a = &r->attempts[i];
        rows[i] = (attempt_row){.number = a->index,
                                .stage = a->stage,
                                .source = a->source,
                                .plan = a->plan,
                                .log = a->log,
                                .report = a->report,
                                .result = a->result,
                                .detail = a->detail,
                                .text = a->text,
                                .compile_ms = a->compile_ms,
                                .registers = a->registers,
                                .local_bytes = a->local_bytes};
    }
    return rows;
}

static measurement_row *measurement_rows(const stage_record *r)
{
    measurement_row *rows = xcalloc(r->measurement_count + 1, sizeof *rows);
    for (size_t i = 0; i < r->measurement_count; i++) {
        const measurement_record *m = &r->measurements[i];
        rows[i] = (measurement_row){.side = m->side,
                                    .mode = m->mode,
                                    .shape = m->shape,
                                    .median_ms = m->median_ms,
                                    .reason = m->reason,
                                    .samples = m->samples,
                                    .sample_count = m->sample_count,
                                    .slots = m->slots,
                                    .l2 = m->l2,
                                    .event_floor_ms = m->event_floor_ms,
                                    .winner = m->winner};
    }
    return rows;
}

static comparison_row *comparison_rows(const stage_record *r)
{
    comparison_row *rows = xcalloc(r->comparison_count + 1, sizeof *rows);
    for (size_t i = 0; i < r->comparison_count; i++) {
        const comparison_record *c = &r->comparisons[i];
        rows[i] = (comparison_row){.source = c->source,
                                   .plan = c->plan,
                                   .purpose = c->purpose,
                                   .verdict = c->verdict,
                                   .reason = c->reason,
                                   .baseline_mode = c->baseline_mode,
                                   .timing_mode = c->timing_mode,
                                   .slots = c->slots,
                                   .pairs = c->pairs,
                                   .processes = c->processes,
                                   .voids = c->voids,
                                   .speedup = c->speedup,
                                   .ci_low = c->ci_low,
                                   .ci_high = c->ci_high,
                                   .serial = c->serial,
                                   .between = c->between,
                                   .margin = c->margin,
                                   .calibrated = c->calibrated,
                                   .candidate_ms = c->candidate_ms,
                                   .baseline_ms = c->baseline_ms,
                                   .floor_ms = c->floor_ms,
                                   .raw = c->raw,
                                   .gain = c->gain > 0 ? c->gain : (double)NAN,
                                   .kept = c->kept,
                                   .profile = c->profile};
    }
    return rows;
}

static int write_stage(store_tx *tx, const ingest *in, err *e)
{
    const stage_record *r = &in->of.stage;
    SCOPED(scoped_free) attempt_row *attempts = attempt_rows(r);
    SCOPED(scoped_free) measurement_row *measurements = measurement_rows(r);
    SCOPED(scoped_free) comparison_row *comparisons = comparison_rows(r);
    stage_row row = {.stage = r->stage,
                     .status = r->status,
                     .result = r->result,
                     .detail = r->detail,
                     .text = r->text,
                     .notes = r->notes,
                     .record = in->record,
                     .wall_ms = r->wall_ms,
                     .device_ms = r->device_ms,
                     .calls = r->calls,
                     .attempts = attempts,
                     .attempt_count = r->attempt_count,
                     .measurements = measurements,
                     .measurement_count = r->measurement_count,
                     .comparisons = comparisons,
                     .comparison_count = r->comparison_count};
    return stage_put(tx, in->name, in->token, &row, in->now_ms, e);
}

static int write_result(store_tx *tx, const ingest *in, err *e)
{
    const result_record *r = &in->of.result;
    result_row row = {.result = r->result,
                      .stage = r->stage,
                      .detail = r->detail,
                      .text = r->text,
                      .speedup = r->speedup,
                      .reason = r->reason,
                      .verdict = r->verdict,
                      .verdict_reason = r->verdict_reason,
                      .ci_low = r->ci_low,
                      .ci_high = r->ci_high,
                      .floor_ms = r->floor_ms,
                      .candidate_ms = r->candidate_ms,
                      .baseline_ms = r->baseline_ms,
                      .baseline_mode = r->baseline_mode,
                      .marks = r->marks,
                      .device = r->device,
                      .device_kind = r->device_kind,
                      .device_uuid = r->device_uuid,
                      .driver = r->driver,
                      .torch = r->torch,
                      .nvrtc = r->nvrtc,
                      .correct_protocol = r->correct_protocol,
                      .timing_protocol = r->timing_protocol,
                      .modelled = r->modelled,
                      .profile = r->profile,
                      .lineage = r->lineage,
                      .sanitizer = r->sanitizer,
                      .source = r->source,
                      .plan = r->plan,
                      .wall_ms = r->wall_ms,
                      .device_ms = r->device_ms,
                      .calls = r->calls};
    return result_put(tx, in->name, in->token, &row, in->now_ms, e);
}

static int write_baseline(store_tx *tx, const ingest *in, err *e)
{
    baseline_row row = {.key = in->name,
                        .record = in->text,
                        .cache = in->of.baseline.cache,
                        .created_ms = in->now_ms};
    return baseline_put(tx, &row, e);
}

/* ---- one row a kind ---- */
typedef struct ingest_ops {
    const char *name;
    int (*read)(ingest *in, err *e);
    int (*check)(const ingest *in, err *e);
    int (*write)(store_tx *tx, const ingest *in, err *e);
    void (*fini)(ingest *in);
    bool keep_text; /* the record is an artifact of its own */
} ingest_ops;

#define READ_AND_FINI(kind)                                                     \
    static int read_##kind(ingest *in, err *e)                                  \
    {                                                                           \
        return kind##_record_read(in->text, strlen(in->text), &in->of.kind, e); \
    }                                                                           \
    static void fini_##kind(ingest *in)                                         \
    {                                                                           \
        kind##_record_fini(&in->of.kind);                                       \
    }

READ_AND_FINI(call)
READ_AND_FINI(stage)
READ_AND_FINI(result)
READ_AND_FINI(baseline)

static const ingest_ops table[] = {
    [INGEST_CALL] = {"call record", read_call, check_call, write_call, fini_call, true},
    [INGEST_STAGE] = {"stage record", read_stage, check_stage, write_stage, fini_stage, true},
    [INGEST_RESULT] = {"result record", read_result, check_result, write_result, fini_result,
                       false},
    [INGEST_BASELINE] = {"baseline record", read_baseline, check_baseline, write_baseline,
                         fini_baseline, false},
};

/* What a node sent is no file of a person: the same sentence, but the peer broke the protocol. */
static void blame_peer(const ingest *in, err *e)
{
    if (!strstr(e->text, table[in->kind].name))
        err_wrap(e, "%s", table[in->kind].name);
    if (e->code == ERR_CONFIG)
        e->code = ERR_PROTOCOL;
}

ingest *ingest_read(ingest_kind kind, const char *name, int64_t token, const char *text,
                    int64_t now_ms, err *e)
{
    SCOPED(ingest_destroy) ingest *self = xcalloc(1, sizeof *self);
    self->kind = kind;
    self->name = xstrdup(name);
    self->token = token;
    self->now_ms = now_ms;
    self->text = xstrdup(text);
    self->record = hash_of_text(text);
    err why = {0};
    if (table[kind].read(self, &why) == 0 && table[kind].check(self, &why) == 0)
        return TAKE(self);
    blame_peer(self, &why);
    if (e)
        *e = why;
    return NULL;
}

void ingest_destroy(ingest **self)
{
    if (!*self)
        return;
    table[(*self)->kind].fini(*self);
    free((*self)->name);
    free((*self)->text);
    free(*self);
    *self = NULL;
}

int ingest_write(store_tx *tx, void *arg, err *e)
{
    const ingest *in = arg;
    const ingest_ops *ops = &table[in->kind];
    if (ops->keep_text && artifact_put_text(tx, in->text, NULL, e))
        return -1;
    return ops->write(tx, in, e);
}

static const char *outcome_of(const ingest *in)
{
    return in->kind == INGEST_STAGE    ? outcome_name(in->of.stage.result)
           : in->kind == INGEST_RESULT ? outcome_name(in->of.result.result)
                                       : NULL;
}

int ingest_write_late(store_tx *tx, void *arg, err *e)
{
    static const late_kind kinds[] = {
        [INGEST_CALL] = LATE_CALL, [INGEST_STAGE] = LATE_STAGE, [INGEST_RESULT] = LATE_RESULT};
    const ingest_late *late = arg;
    const ingest *in = late->record;
    const late_row row = {.at_ms = in->now_ms,
                          .task = in->name,
                          .kind = kinds[in->kind],
                          .node = late->node,
                          .token = in->token,
                          .outcome = outcome_of(in),
                          .reason = late->reason,
                          .record = in->text};
    return late_put(tx, &row, e);
}
