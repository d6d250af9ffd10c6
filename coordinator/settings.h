/* settings - the effective options of a run
 *
 * Purpose:   what was asked, after defaults: written into the run's row, so that --resume needs only the
 *            run's id.
 * Ownership: settings_read gives owned text; settings_fini frees. Whoever fills the struct by hand owns
 *            nothing in it afterwards but by settings_fini.
 * Threads:   plain values.
 * Errors:    ERR_CONFIG with the JSON pointer.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_COORDINATOR_SETTINGS_H
#define CE_COORDINATOR_SETTINGS_H

#include <stddef.h>
#include <stdint.h>

#include "common/err.h"
#include "coordinator/door.h"
#include "wire/spec.h"

enum { SETTINGS_NAMES_MAX = 1024, SETTINGS_ENTRANTS_MAX = 64, SETTINGS_NODE_TIMEOUT_MS = 15000 };

typedef struct settings_name {
    char *name;
} settings_name;

typedef struct settings_entrant {
    char *name;                   /* on the board: the model id as given */
    char *models[SPEC_STAGES];    /* per stage */
    int64_t budgets[SPEC_STAGES]; /* model calls per stage */
    char *escalation;     /* model of one more call where a stage's budget has ended; NULL: none */
    spec_demand *demands; /* what is asked of the models beyond their names */
    size_t demand_count;
} settings_entrant;

typedef struct settings {
    settings_name *suites;
    size_t suite_count;
    char *root, *level; /* of a KernelBench checkout: folder, "1,2,3" or NULL */
    char *shots;        /* its prompts' condition; NULL: zero */
    char *found;        /* folder of what its admission found */
    char *suites_dir;   /* NULL: the default place */
    settings_entrant *entrants;
    size_t entrant_count;
    settings_name *only; /* problems; none: all */
    size_t only_count;
    int64_t limit; /* first N problems; 0: all */
    int64_t samples;
    int64_t seed;
    char *device; /* auto, cuda, emu, fake */
    char *arch;   /* NULL: the default target */
    double target;
    char *out;     /* NULL: ./ce-runs/RUN */
    char *bind;    /* NULL: only local nodes */
    char *python;  /* NULL: the node searches */
    char *fake;    /* script of the fake device; NULL: its defaults */
    int64_t slots; /* of the local node; 0: its default */
    int64_t node_timeout_ms;
    int64_t selftest;       /* 1: every node tests its cards before its first task */
    char *on_rate_limit;    /* "fail"; NULL: wait */
    door_ceiling *ceilings; /* calls and tokens a minute, all nodes together */
    size_t ceiling_count;
    double budget_usd; /* 0: none; in the run's row, not in its settings */
} settings;

char *settings_write(const settings *self); /* canonical JSON, caller frees */
int settings_read(const char *text, size_t size, settings *out, err *e);
void settings_fini(settings *self);

/* settings_calls is how many model calls a stage of an entrant may make: its budget, and one more to the
 * escalation of a stage that asks again. */
int64_t settings_calls(const settings_entrant *entrant, stage_id stage);

/* settings_check_device: what --device may say. settings_random_seed: a seed that every reader of JSON
 * keeps exactly. */
int settings_check_device(const char *device, err *e);
int64_t settings_random_seed(void);

/* settings_models is the JSON object stage → model, and what is demanded of it, for people; escalation
 * included; caller frees. */
char *settings_models(const settings_entrant *entrant);

#endif
