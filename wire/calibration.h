/* calibration - what a node's self-test found out about one card, as JSON
 *
 * Purpose:   the record that `ce-node selftest` prints and a coordinator stores: one row a check. A/A rows
 *            are what the margin of later verdicts on that card comes from.
 * Ownership: reading gives owned text; calibration_record_fini frees. Writing borrows.
 * Threads:   plain values.
 * Errors:    ERR_CONFIG with the JSON pointer.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_WIRE_CALIBRATION_H
#define CE_WIRE_CALIBRATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/err.h"
#include "common/hash.h"
#include "common/json.h"

enum { CALIBRATION_CHECKS_MAX = 256, CALIBRATION_CLASSES = 3 };

/* Names of checks that others look for. */
#define CALIBRATION_AA   "aa"   /* one kernel against itself */
#define CALIBRATION_COPY "copy" /* the known kernel, against what is stored of it */

typedef struct calibration_check {
    char *name;     /* what was asked: aa, slower_3, refused, … */
    char *label;    /* of what */
    char *duration; /* class of its time (calibration_class), or NULL */
    bool decides;   /* a no here fails the self-test */
    bool passed;
    char *verdict, *reason;        /* of a comparison, or NULL */
    double theta, ci_low, ci_high; /* ln of the ratio, and of its interval; or NaN */
    double candidate_ms;           /* or NaN */
    int64_t pairs;                 /* 0: no comparison */
    double value, limit;           /* what was found and what is asked; or NaN */
    char *text;                    /* one sentence, or NULL */
    hash raw;                      /* blob with every sample; zero: none */
} calibration_check;

typedef struct calibration_record {
    char *device, *device_kind, *device_uuid, *driver, *torch, *version, *protocol;
    bool quick, passed;
    double wall_s;
    calibration_check *checks;
    size_t check_count;
} calibration_record;

/* calibration_class: "short" below 20 µs, "middle" below 200 µs, else "long". */
const char *calibration_class(double ms);
/* calibration_class_name: of class 0 … CALIBRATION_CLASSES - 1. */
const char *calibration_class_name(int number);

json *calibration_json(const calibration_record *self);
char *calibration_write(const calibration_record *self); /* canonical JSON, caller frees */
int calibration_read(const char *text, size_t size, calibration_record *out, err *e);
void calibration_record_fini(calibration_record *self);

#endif
