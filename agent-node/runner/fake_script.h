/* fake_script - what the fake device answers, read from a JSON file
 *
 * Purpose:   {"default": entry, "problems": {"<problem id>": entry}}, where an entry is
 *            {"load": phase, "check": phase, "time": phase, "compare": {…}, "candidate_ms": [ms…], "warm_ms": ms,
 *             "baselines": {"<mode>": [ms…]}, "delay_ms": n, "crash": bool, "hang": bool,
 *             "state": {…}, "profile": {…}, "memory_bytes": n} and a phase
 *            {"outcome": name, "detail": text, "text": text, "elapsed_us": n, "crash": bool,
 *             "hang": bool}; every member is optional. A problem's entry overrides the default member by
 *            member. delay_ms, crash and hang of an entry happen in its check. compare and baselines
 *            belong to the judge, state to the watch (agent-node/watch.h). profile is
 *            the record of runner/profiler.h; its member "baseline" belongs to the judge. memory_bytes is
 *            what the device says it has; a node asks before there is a problem, so only the default's
 *            counts there.
 * Ownership: a value; fake_script_fini frees.
 * Threads:   one owner.
 * Errors:    ERR_CONFIG with file and JSON pointer for an unknown member, outcome or type.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_AGENT_NODE_RUNNER_FAKE_SCRIPT_H
#define CE_AGENT_NODE_RUNNER_FAKE_SCRIPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent-node/runner/verdict.h"
#include "common/err.h"

enum { FAKE_SAMPLES_MAX = 4096, FAKE_DELAY_MAX_MS = 3600000, FAKE_PROFILE_MAX = 8192 };

typedef struct fake_phase {
    runner_verdict verdict;
    bool crash; /* abort */
    bool hang;  /* never answer */
} fake_phase;

typedef struct fake_script {
    fake_phase load, check, time;
    double candidate_ms[FAKE_SAMPLES_MAX];
    size_t candidate_count;
    double warm_ms; /* with a warm L2 */
    int64_t delay_ms;
    int64_t memory_bytes;           /* of the device */
    char profile[FAKE_PROFILE_MAX]; /* JSON; "": none */
} fake_script;

/* fake_script_init gives the defaults: everything ok, 0.010 ms, 80 GiB. */
void fake_script_init(fake_script *self);
/* fake_script_load reads the file for a problem (NULL: only the default entry). */
int fake_script_load(fake_script *self, const char *path, const char *problem, err *e);
/* fake_script_read is fake_script_load of a text. */
int fake_script_read(fake_script *self, const char *text, size_t size, const char *origin,
                     const char *problem, err *e);

#endif
