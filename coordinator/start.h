/* start - what every command takes that starts a run, or goes on with one
 *
 * Purpose:   the options that eval and suite validate share: their rows in a table of options, their way into
 *            settings, what a resumed run refuses, and the request that begins it.
 * Ownership: options borrow argv; settings are filled with owned text.
 * Threads:   one.
 * Errors:    ERR_USAGE names the option.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_COORDINATOR_START_H
#define CE_COORDINATOR_START_H

#include <stdbool.h>
#include <stdint.h>

#include "coordinator/cmd.h"
#include "coordinator/eval.h"
#include "coordinator/settings.h"

typedef struct start_options {
    const char *suites, *device, *resume, *out, *db, *python, *fake;
    int64_t seed, slots;
    bool json;
} start_options;

/* START_OPTIONS: the rows, for a command whose options hold a start_options as `in`. */
#define START_AT(owner, in, field) (offsetof(owner, in) + offsetof(start_options, field))
#define START_STR(owner, in, field, what, text)                                                 \
    {                                                                                           \
        .name = #field, .type = CLI_STR, .offset = START_AT(owner, in, field), .value = (what), \
        .help = (text)                                                                          \
    }
#define START_OPTIONS(owner, in)                                                                   \
    START_STR(owner, in, device, "KIND",                                                           \
              "auto (default: cuda, else emu), cuda, emu (PTX on the CPU: checks, no speed), "     \
              "fake (for tests)"),                                                                 \
        {.name = "seed",                                                                           \
         .type = CLI_INT,                                                                          \
         .offset = START_AT(owner, in, seed),                                                      \
         .value = "S",                                                                             \
         .help = "seed of the run's hidden inputs (default: random, recorded)",                    \
         .min = 0,                                                                                 \
         .max = 281474976710655.0},                                                                \
        START_STR(owner, in, resume, "RUN", "go on with a run; everything else is taken from it"), \
        START_STR(owner, in, out, "DIR", "folder of the reports (default ce-runs/RUN)"),           \
        START_STR(owner, in, db, "FILE",                                                           \
                  "database (default $CE_HOME/ce.db, else the XDG data folder)"),                  \
        {.name = "json",                                                                           \
         .type = CLI_FLAG,                                                                         \
         .offset = START_AT(owner, in, json),                                                      \
         .help = "print the results to stdout as JSON"},                                           \
        {.name = "slots",                                                                          \
         .type = CLI_INT,                                                                          \
         .offset = START_AT(owner, in, slots),                                                     \
         .value = "N",                                                                             \
         .help = "tasks at once on the local node",                                                \
         .min = 1,                                                                                 \
         .max = 1024},                                                                             \
        START_STR(owner, in, suites, "DIR",                                                        \
                  "folder that holds the suites (default: the installed ones)"),                   \
        START_STR(owner, in, python, "FILE", "interpreter with PyTorch for the judge"),            \
        START_STR(owner, in, fake, "FILE", "script of the fake device")

void start_defaults(start_options *self);
/* start_fill takes what a new and a resumed run may both say. */
int start_fill(const start_options *self, settings *out, err *e);
/* start_fill_new takes the rest. */
int start_fill_new(const start_options *self, settings *out, err *e);

/* What is given and belongs to the run. */
typedef struct start_fixed {
    const char *name; /* "--suite", "a PROBLEM" */
    bool given;
} start_fixed;
/* start_check_resume: a resumed run is what it was: options that would make it another one are refused,
 * these and the command's own. */
int start_check_resume(const start_options *self, const start_fixed *own, size_t count, err *e);

/* start_request is the request of a call; `typed` is its command line. */
eval_request start_request(const cmd_call *call, const start_options *self, settings *wanted,
                           const char *typed);

#endif
