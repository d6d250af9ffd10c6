/* calibration - see calibration.h.
 *
 * SPDX-License-Identifier: MIT */
#include "wire/calibration.h"

#include "wire/fields.h"

#define ROW(member, kind)                                                             \
    {                                                                                 \
        .key = #member, .type = (kind), .offset = offsetof(calibration_check, member) \
    }
#define TOP(member, kind)                                                              \
    {                                                                                  \
        .key = #member, .type = (kind), .offset = offsetof(calibration_record, member) \
    }

static const field check_fields[] = {
    ROW(name, FIELD_TEXT),
    ROW(label, FIELD_TEXT),
    ROW(duration, FIELD_TEXT_OR_NULL),
    ROW(decides, FIELD_BOOL),
    ROW(passed, FIELD_BOOL),
    ROW(verdict, FIELD_TEXT_OR_NULL),
    ROW(reason, FIELD_TEXT_OR_NULL),
    ROW(theta, FIELD_REAL),
    ROW(ci_low, FIELD_REAL),
    ROW(ci_high, FIELD_REAL),
    ROW(candidate_ms, FIELD_REAL),
    ROW(pairs, FIELD_INT),
    ROW(value, FIELD_REAL),
    ROW(limit, FIELD_REAL),
    ROW(text, FIELD_TEXT_OR_NULL),
    ROW(raw, FIELD_HASH),
    {.key = NULL},
};

static const field record_fields[] = {
    TOP(device, FIELD_TEXT),
    TOP(device_kind, FIELD_TEXT),
    TOP(device_uuid, FIELD_TEXT),
    TOP(driver, FIELD_TEXT),
    TOP(torch, FIELD_TEXT),
    TOP(version, FIELD_TEXT),
    TOP(protocol, FIELD_TEXT),
    TOP(quick, FIELD_BOOL),
    TOP(passed, FIELD_BOOL),
    TOP(wall_s, FIELD_REAL),
    {.key = "checks",
     .type = FIELD_LIST,
     .offset = offsetof(calibration_record, checks),
     .inner = check_fields,
     .count_offset = offsetof(calibration_record, check_count),
     .size = sizeof(calibration_check),
     .max = CALIBRATION_CHECKS_MAX},
    {.key = NULL},
};

static const struct {
    const char *name;
    double below_ms;
} classes[CALIBRATION_CLASSES] = {{"short", 0.020}, {"middle", 0.200}, {"long", 0}};

const char *calibration_class(double ms)
{
    int i = 0;
    while (i < CALIBRATION_CLASSES - 1 && ms >= classes[i].below_ms)
        i++;
    return classes[i].name;
}

const char *calibration_class_name(int number)
{
    return classes[number].name;
}

json *calibration_json(const calibration_record *self)
{
    return fields_write(record_fields, self);
}

char *calibration_write(const calibration_record *self)
{
    return fields_dump(record_fields, self);
}

int calibration_read(const char *text, size_t size, calibration_record *out, err *e)
{
    return fields_parse(text, size, "self-test", record_fields, out, sizeof *out, e);
}

void calibration_record_fini(calibration_record *self)
{
    fields_fini(record_fields, self);
}
