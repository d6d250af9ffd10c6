/* record - what a node tells about a task, as JSON: one field table a record
 *
 * SPDX-License-Identifier: MIT */
#include "wire/record.h"

#include "wire/fields.h"

#define AT(type, member) offsetof(type, member)

#define TEXT_OR_NULL(record, member)                                             \
    {                                                                            \
        .key = #member, .type = FIELD_TEXT_OR_NULL, .offset = AT(record, member) \
    }

static const field call_fields[] = {
    {.key = "stage", .type = FIELD_TEXT, .offset = AT(call_record, stage)},
    {.key = "index", .type = FIELD_INT, .offset = AT(call_record, index)},
    {.key = "provider", .type = FIELD_TEXT, .offset = AT(call_record, provider)},
    {.key = "model", .type = FIELD_TEXT, .offset = AT(call_record, model)},
    {.key = "prompt", .type = FIELD_HASH, .offset = AT(call_record, prompt)},
    {.key = "answer", .type = FIELD_HASH, .offset = AT(call_record, answer)},
    {.key = "stop", .type = FIELD_TEXT, .offset = AT(call_record, stop)},
    {.key = "tokens_in", .type = FIELD_INT, .offset = AT(call_record, tokens_in)},
    {.key = "tokens_out", .type = FIELD_INT, .offset = AT(call_record, tokens_out)},
    {.key = "tokens_cache_read", .type = FIELD_INT, .offset = AT(call_record, tokens_cache_read)},
    {.key = "tokens_cache_write", .type = FIELD_INT, .offset = AT(call_record, tokens_cache_write)},
    {.key = "cost_usd", .type = FIELD_REAL, .offset = AT(call_record, cost_usd)},
    {.key = "latency_ms", .type = FIELD_REAL, .offset = AT(call_record, latency_ms)},
    {.key = "reason", .type = FIELD_TEXT_OR_NULL, .offset = AT(call_record, reason)},
    {.key = "usage", .type = FIELD_TEXT_IF_ANY, .offset = AT(call_record, usage)},
    {.key = "key", .type = FIELD_TEXT_IF_ANY, .offset = AT(call_record, key)},
    {.key = "attempts", .type = FIELD_INT_IF_ANY, .offset = AT(call_record, attempts)},
    {.key = "unknown_bills", .type = FIELD_INT_IF_ANY, .offset = AT(call_record, unknown_bills)},
    {.key = NULL},
};

static const field attempt_fields[] = {
    {.key = "stage", .type = FIELD_TEXT, .offset = AT(attempt_record, stage)},
    {.key = "index", .type = FIELD_INT, .offset = AT(attempt_record, index)},
    {.key = "source", .type = FIELD_HASH, .offset = AT(attempt_record, source)},
    {.key = "plan", .type = FIELD_HASH, .offset = AT(attempt_record, plan)},
    {.key = "log", .type = FIELD_HASH, .offset = AT(attempt_record, log)},
    {.key = "outcome", .type = FIELD_OUTCOME, .offset = AT(attempt_record, result)},
    {.key = "detail", .type = FIELD_TEXT_OR_NULL, .offset = AT(attempt_record, detail)},
    {.key = "text", .type = FIELD_TEXT_OR_NULL, .offset = AT(attempt_record, text)},
    {.key = "compile_ms", .type = FIELD_REAL, .offset = AT(attempt_record, compile_ms)},
    {.key = "registers", .type = FIELD_INT, .offset = AT(attempt_record, registers)},
    {.key = "local_bytes", .type = FIELD_INT, .offset = AT(attempt_record, local_bytes)},
    {.key = "report", .type = FIELD_HASH, .offset = AT(attempt_record, report)},
    {.key = NULL},
};

static const field measurement_fields[] = {
    {.key = "side", .type = FIELD_TEXT, .offset = AT(measurement_record, side)},
    {.key = "mode", .type = FIELD_TEXT, .offset = AT(measurement_record, mode)},
    {.key = "shape", .type = FIELD_TEXT, .offset = AT(measurement_record, shape)},
    {.key = "median_ms", .type = FIELD_REAL, .offset = AT(measurement_record, median_ms)},
    {.key = "reason", .type = FIELD_TEXT_OR_NULL, .offset = AT(measurement_record, reason)},
    {.key = "samples", .type = FIELD_HASH, .offset = AT(measurement_record, samples)},
    {.key = "sample_count", .type = FIELD_INT, .offset = AT(measurement_record, sample_count)},
    {.key = "slots", .type = FIELD_INT, .offset = AT(measurement_record, slots)},
    {.key = "l2", .type = FIELD_TEXT_OR_NULL, .offset = AT(measurement_record, l2)},
    {.key = "event_floor_ms", .type = FIELD_REAL, .offset = AT(measurement_record, event_floor_ms)},
    {.key = "winner", .type = FIELD_BOOL, .offset = AT(measurement_record, winner)},
    {.key = NULL},
};

static const field comparison_fields[] = {
    {.key = "source", .type = FIELD_HASH, .offset = AT(comparison_record, source)},
    {.key = "plan", .type = FIELD_HASH, .offset = AT(comparison_record, plan)},
    {.key = "purpose", .type = FIELD_TEXT, .offset = AT(comparison_record, purpose)},
    {.key = "verdict", .type = FIELD_TEXT, .offset = AT(comparison_record, verdict)},
    TEXT_OR_NULL(comparison_record, reason),
    {.key = "baseline_mode", .type = FIELD_TEXT, .offset = AT(comparison_record, baseline_mode)},
    {.key = "timing_mode", .type = FIELD_TEXT, .offset = AT(comparison_record, timing_mode)},
    {.key = "slots", .type = FIELD_INT, .offset = AT(comparison_record, slots)},
    {.key = "pairs", .type = FIELD_INT, .offset = AT(comparison_record, pairs)},
    {.key = "processes", .type = FIELD_INT, .offset = AT(comparison_record, processes)},
    {.key = "voids", .type = FIELD_INT, .offset = AT(comparison_record, voids)},
    {.key = "speedup", .type = FIELD_REAL, .offset = AT(comparison_record, speedup)},
    {.key = "ci_low", .type = FIELD_REAL, .offset = AT(comparison_record, ci_low)},
    {.key = "ci_high", .type = FIELD_REAL, .offset = AT(comparison_record, ci_high)},
    {.key = "serial", .type = FIELD_REAL, .offset = AT(comparison_record, serial)},
    {.key = "between", .type = FIELD_REAL, .offset = AT(comparison_record, between)},
    {.key = "margin", .type = FIELD_REAL, .offset = AT(comparison_record, margin)},
    {.key = "calibrated", .type = FIELD_BOOL, .offset = AT(comparison_record, calibrated)},
    {.key = "candidate_ms", .type = FIELD_REAL, .offset = AT(comparison_record, candidate_ms)},
    {.key = "baseline_ms", .type = FIELD_REAL, .offset = AT(comparison_record, baseline_ms)},
    {.key = "floor_ms", .type = FIELD_REAL, .offset = AT(comparison_record, floor_ms)},
    {.key = "raw", .type = FIELD_HASH, .offset = AT(comparison_record, raw)},
    {.key = "gain", .type = FIELD_REAL_IF_ANY, .offset = AT(comparison_record, gain)},
    {.key = "kept", .type = FIELD_BOOL_SINCE, .offset = AT(comparison_record, kept)},
    {.key = "profile", .type = FIELD_TEXT_IF_ANY, .offset = AT(comparison_record, profile)},
    {.key = NULL},
};

static const field stage_fields[] = {
    {.key = "stage", .type = FIELD_TEXT, .offset = AT(stage_record, stage)},
    {.key = "status", .type = FIELD_TEXT, .offset = AT(stage_record, status)},
    {.key = "outcome", .type = FIELD_OUTCOME, .offset = AT(stage_record, result)},
    {.key = "detail", .type = FIELD_TEXT_OR_NULL, .offset = AT(stage_record, detail)},
    {.key = "text", .type = FIELD_TEXT_OR_NULL, .offset = AT(stage_record, text)},
    {.key = "source", .type = FIELD_HASH, .offset = AT(stage_record, source)},
    {.key = "plan", .type = FIELD_HASH, .offset = AT(stage_record, plan)},
    {.key = "spec", .type = FIELD_HASH, .offset = AT(stage_record, spec)},
    {.key = "attempts",
     .type = FIELD_LIST,
     .offset = AT(stage_record, attempts),
     .inner = attempt_fields,
     .count_offset = AT(stage_record, attempt_count),
     .size = sizeof(attempt_record),
     .max = RECORD_ATTEMPTS_MAX},
    {.key = "measurements",
     .type = FIELD_LIST,
     .offset = AT(stage_record, measurements),
     .inner = measurement_fields,
     .count_offset = AT(stage_record, measurement_count),
     .size = sizeof(measurement_record),
     .max = RECORD_MEASUREMENTS_MAX},
    {.key = "comparisons",
     .type = FIELD_LIST_IF_ANY,
     .offset = AT(stage_record, comparisons),
     .inner = comparison_fields,
     .count_offset = AT(stage_record, comparison_count),
     .size = sizeof(comparison_record),
     .max = RECORD_COMPARISONS_MAX},
    {.key = "wall_ms", .type = FIELD_REAL, .offset = AT(stage_record, wall_ms)},
    {.key = "device_ms", .type = FIELD_REAL, .offset = AT(stage_record, device_ms)},
    {.key = "calls", .type = FIELD_INT, .offset = AT(stage_record, calls)},
    TEXT_OR_NULL(stage_record, device),
    TEXT_OR_NULL(stage_record, device_kind),
    TEXT_OR_NULL(stage_record, device_uuid),
    TEXT_OR_NULL(stage_record, driver),
    TEXT_OR_NULL(stage_record, torch),
    TEXT_OR_NULL(stage_record, notes),
    TEXT_OR_NULL(stage_record, modelled),
    {.key = "lineage", .type = FIELD_TEXT_IF_ANY, .offset = AT(stage_record, lineage)},
    {.key = "sanitizer", .type = FIELD_TEXT_IF_ANY, .offset = AT(stage_record, sanitizer)},
    {.key = NULL},
};

static const field result_fields[] = {
    {.key = "outcome", .type = FIELD_OUTCOME, .offset = AT(result_record, result)},
    TEXT_OR_NULL(result_record, stage),
    TEXT_OR_NULL(result_record, detail),
    TEXT_OR_NULL(result_record, text),
    {.key = "speedup", .type = FIELD_REAL, .offset = AT(result_record, speedup)},
    TEXT_OR_NULL(result_record, reason),
    TEXT_OR_NULL(result_record, verdict),
    TEXT_OR_NULL(result_record, verdict_reason),
    {.key = "ci_low", .type = FIELD_REAL, .offset = AT(result_record, ci_low)},
    {.key = "ci_high", .type = FIELD_REAL, .offset = AT(result_record, ci_high)},
    {.key = "floor_ms", .type = FIELD_REAL, .offset = AT(result_record, floor_ms)},
    {.key = "candidate_ms", .type = FIELD_REAL, .offset = AT(result_record, candidate_ms)},
    {.key = "baseline_ms", .type = FIELD_REAL, .offset = AT(result_record, baseline_ms)},
    TEXT_OR_NULL(result_record, baseline_mode),
    TEXT_OR_NULL(result_record, marks),
    TEXT_OR_NULL(result_record, device),
    TEXT_OR_NULL(result_record, device_kind),
    TEXT_OR_NULL(result_record, device_uuid),
    TEXT_OR_NULL(result_record, driver),
    TEXT_OR_NULL(result_record, torch),
    TEXT_OR_NULL(result_record, nvrtc),
    TEXT_OR_NULL(result_record, correct_protocol),
    TEXT_OR_NULL(result_record, timing_protocol),
    TEXT_OR_NULL(result_record, modelled),
    {.key = "profile", .type = FIELD_TEXT_IF_ANY, .offset = AT(result_record, profile)},
    {.key = "lineage", .type = FIELD_TEXT_IF_ANY, .offset = AT(result_record, lineage)},
    {.key = "sanitizer", .type = FIELD_TEXT_IF_ANY, .offset = AT(result_record, sanitizer)},
    {.key = "source", .type = FIELD_HASH, .offset = AT(result_record, source)},
    {.key = "plan", .type = FIELD_HASH, .offset = AT(result_record, plan)},
    {.key = "wall_ms", .type = FIELD_REAL, .offset = AT(result_record, wall_ms)},
    {.key = "device_ms", .type = FIELD_REAL, .offset = AT(result_record, device_ms)},
    {.key = "calls", .type = FIELD_INT, .offset = AT(result_record, calls)},
    {.key = NULL},
};

static const field baseline_fields[] = {
    {.key = "problem", .type = FIELD_TEXT, .offset = AT(baseline_record, problem)},
    {.key = "shape", .type = FIELD_TEXT, .offset = AT(baseline_record, shape)},
    TEXT_OR_NULL(baseline_record, device),
    TEXT_OR_NULL(baseline_record, driver),
    TEXT_OR_NULL(baseline_record, torch),
    {.key = "modes",
     .type = FIELD_LIST,
     .offset = AT(baseline_record, modes),
     .inner = measurement_fields,
     .count_offset = AT(baseline_record, mode_count),
     .size = sizeof(measurement_record),
     .max = RECORD_MEASUREMENTS_MAX},
    TEXT_OR_NULL(baseline_record, winner),
    {.key = "cache", .type = FIELD_HASH, .offset = AT(baseline_record, cache)},
    {.key = NULL},
};

void measurement_record_fini(measurement_record *self)
{
    fields_fini(measurement_fields, self);
}

void comparison_record_fini(comparison_record *self)
{
    fields_fini(comparison_fields, self);
}

#define RECORD(name)                                                                           \
    char *name##_record_write(const name##_record *self)                                       \
    {                                                                                          \
        return fields_dump(name##_fields, self);                                               \
    }                                                                                          \
    int name##_record_read(const char *text, size_t size, name##_record *out, err *e)          \
    {                                                                                          \
        return fields_parse(text, size, #name " record", name##_fields, out, sizeof(*out), e); \
    }                                                                                          \
    void name##_record_fini(name##_record *self)                                               \
    {                                                                                          \
        fields_fini(name##_fields, self);                                                      \
    }

RECORD(call)
RECORD(stage)
RECORD(result)
RECORD(baseline)
