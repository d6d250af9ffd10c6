/* doctor - what this host has of what a run needs, and what to do about the rest
 *
 * Purpose:   one table of checks. What only a child can know (driver, NVRTC, sandbox, CUPTI) is asked of the
 *            program that will use it: what the doctor finds is what a run will find.
 * Ownership: doctor_examine fills a caller's list; doctor_fini frees its texts.
 * Threads:   one.
 * Errors:    none: a check that could not be made is a finding, "missing", with the reason.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_COORDINATOR_DOCTOR_H
#define CE_COORDINATOR_DOCTOR_H

#include <stdbool.h>
#include <stddef.h>

struct json;

enum { DOCTOR_CHECKS = 11 };

typedef struct doctor_request {
    const char *programs;      /* folder of ce-runner and ce-compiler */
    const char *data;          /* folder that will hold the database; need not be there yet */
    const char *suites;        /* folder of the suites; NULL: the installed ones */
    const char *python;        /* interpreter of the judge; NULL: search */
    const char *driver_params; /* the driver's settings; NULL: /proc/driver/nvidia/params */
    const char *const
        *environment; /* NULL-ended; names of keys are looked for, values are not kept */
} doctor_request;

typedef struct doctor_finding {
    const char *name; /* "driver" */
    bool found;
    bool required; /* no run of any kind without it */
    char *where;   /* file, version, or what is wrong */
    char *advice;  /* what to do; NULL when nothing is */
} doctor_finding;

typedef struct doctor_report {
    doctor_finding findings[DOCTOR_CHECKS];
} doctor_report;

void doctor_examine(const doctor_request *request, doctor_report *out);
void doctor_fini(doctor_report *self);
/* doctor_well: everything that is required was found. */
bool doctor_well(const doctor_report *self);
/* doctor_json is {"well":…,"checks":[{"name","found","required","where","advice"}]}. */
struct json *doctor_json(const doctor_report *self);

#endif
