/* fake_script - see fake_script.h.
 *
 * SPDX-License-Identifier: MIT */
#include "agent-node/runner/fake_script.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/json.h"
#include "common/scoped.h"

enum { PROBLEMS_MAX = 1024, BASELINES_MAX = 64 };

static const char *const top_keys[] = {"default", "problems", NULL};
static const char *const entry_keys[] = {
    "load",     "check", "time", "compare", "candidate_ms", "warm_ms",      "baselines",
    "delay_ms", "crash", "hang", "state",   "profile",      "memory_bytes", NULL};
static const char *const phase_keys[] = {"outcome", "detail", "text", "elapsed_us",
                                         "crash",   "hang",   NULL};

void fake_script_init(fake_script *self)
{
    memset(self, 0, sizeof *self);
    self->check.verdict.elapsed_us = 10;
    self->candidate_ms[0] = 0.010;
    self->warm_ms = 0.005;
    self->candidate_count = 1;
    self->memory_bytes = (int64_t)80 << 30;
}

static int read_bool(const json_cursor *c, const char *key, bool *out, err *e)
{
    json_cursor member;
    return json_maybe(c, key, &member) ? json_want_bool(&member, out, e) : 0;
}

static int read_outcome(const json_cursor *c, outcome *out, err *e)
{
    json_cursor member;
    const char *name = NULL;
    if (!json_maybe(c, "outcome", &member))
        return 0;
    if (json_want_str(&member, &name, e) < 0)
        return -1;
    if (!outcome_parse(name, out))
        return json_fail(&member, e, "\"%s\" is no outcome (ok, crashed, hung, wrong, …)", name);
    return 0;
}

static int read_phase(const json_cursor *entry, const char *key, fake_phase *out, err *e)
{
    json_cursor c;
    json_cursor member;
    if (!json_maybe(entry, key, &c))
        return 0;
    if (json_only_keys(&c, phase_keys, e) < 0 || read_outcome(&c, &out->verdict.result, e) < 0 ||
        json_maybe_text(&c, "detail", out->verdict.detail, sizeof out->verdict.detail, e) < 0 ||
        json_maybe_text(&c, "text", out->verdict.text, sizeof out->verdict.text, e) < 0 ||
        read_bool(&c, "crash", &out->crash, e) < 0 || read_bool(&c, "hang", &out->hang, e) < 0)
        return -1;
    if (!json_maybe(&c, "elapsed_us", &member))
        return 0;
    return json_want_int(&member, 0, INT64_MAX, &out->verdict.elapsed_us, e);
}

/* read_times: a list of positive milliseconds; out holds FAKE_SAMPLES_MAX. */
static int read_times(const json_cursor *c, double *out, size_t *count, err *e)
{
    size_t n = 0;
    if (json_want_array(c, FAKE_SAMPLES_MAX, &n, e) < 0)
        return -1;
    if (n == 0)
        return json_fail(c, e, "no times");
    for (size_t i = 0; i < n; i++) {
        json_cursor item;
        json_element(c, i, &item);
        if (json_want_real(&item, &out[i], e) < 0)
            return -1;
        if (!isfinite(out[i]) || out[i] <= 0)
            return json_fail(&item, e, "a time is a positive number of milliseconds");
    }
    *count = n;
    return 0;
}

/* read_baselines only looks whether the judge's part is well-formed. */
static int read_baselines(const json_cursor *entry, err *e)
{
    json_cursor c;
    size_t n = 0;
    if (!json_maybe(entry, "baselines", &c))
        return 0;
    if (json_want_object(&c, BASELINES_MAX, &n, e) < 0)
        return -1;
    double times[FAKE_SAMPLES_MAX];
    for (size_t i = 0; i < n; i++) {
        json_cursor mode;
        size_t count = 0;
        json_entry(&c, i, &mode);
        if (read_times(&mode, times, &count, e) < 0)
            return -1;
    }
    return 0;
}

static int read_compare(const json_cursor *entry, err *e)
{
    json_cursor c;
    size_t n = 0;
    return json_maybe(entry, "compare", &c) ? json_want_object(&c, 64, &n, e) : 0;
}

static int read_profile(const json_cursor *entry, char out[FAKE_PROFILE_MAX], err *e)
{
    json_cursor c;
    size_t n = 0;
    if (!json_maybe(entry, "profile", &c))
        return 0;
    if (json_want_object(&c, 64, &n, e) < 0)
        return -1;
    SCOPED(scoped_free) char *text = json_dump(c.value);
    if (strlen(text) >= FAKE_PROFILE_MAX)
        return json_fail(&c, e, "more than %d bytes", FAKE_PROFILE_MAX - 1);
    snprintf(out, FAKE_PROFILE_MAX, "%s", text);
    return 0;
}

static int read_entry(const json_cursor *c, fake_script *out, err *e)
{
    json_cursor member;
    if (json_only_keys(c, entry_keys, e) < 0 || read_phase(c, "load", &out->load, e) < 0 ||
        read_phase(c, "check", &out->check, e) < 0 || read_phase(c, "time", &out->time, e) < 0 ||
        read_compare(c, e) < 0 || read_baselines(c, e) < 0 ||
        read_bool(c, "crash", &out->check.crash, e) < 0 ||
        read_bool(c, "hang", &out->check.hang, e) < 0 || read_profile(c, out->profile, e) < 0)
        return -1;
    if (json_maybe(c, "delay_ms", &member) &&
        json_want_int(&member, 0, FAKE_DELAY_MAX_MS, &out->delay_ms, e) < 0)
        return -1;
    if (json_maybe(c, "memory_bytes", &member) &&
        json_want_int(&member, 1, INT64_MAX, &out->memory_bytes, e) < 0)
        return -1;
    if (json_maybe(c, "warm_ms", &member) && json_want_real(&member, &out->warm_ms, e) < 0)
        return -1;
    if (json_maybe(c, "candidate_ms", &member))
        return read_times(&member, out->candidate_ms, &out->candidate_count, e);
    return 0;
}

/* read_problems reads every entry, so that a mistake in any of them is told, and keeps one. */
static int read_problems(const json_cursor *c, const char *problem, fake_script *out, err *e)
{
    size_t n = 0;
    if (json_want_object(c, PROBLEMS_MAX, &n, e) < 0)
        return -1;
    const fake_script base = *out;
    for (size_t i = 0; i < n; i++) {
        json_cursor entry;
        json_entry(c, i, &entry);
        fake_script one = base;
        if (read_entry(&entry, &one, e) < 0)
            return -1;
        if (problem != NULL && strcmp(entry.key, problem) == 0)
            *out = one;
    }
    return 0;
}

static int read_document(const json_doc *doc, const char *problem, fake_script *out, err *e)
{
    json_cursor root = json_root(doc);
    json_cursor c;
    fake_script_init(out);
    if (json_only_keys(&root, top_keys, e) < 0)
        return -1;
    if (json_maybe(&root, "default", &c) && read_entry(&c, out, e) < 0)
        return -1;
    return json_maybe(&root, "problems", &c) ? read_problems(&c, problem, out, e) : 0;
}

int fake_script_read(fake_script *self, const char *text, size_t size, const char *origin,
                     const char *problem, err *e)
{
    SCOPED(json_doc_destroy) json_doc *doc = json_parse(text, size, origin, e);
    return doc == NULL ? -1 : read_document(doc, problem, self, e);
}

int fake_script_load(fake_script *self, const char *path, const char *problem, err *e)
{
    SCOPED(json_doc_destroy) json_doc *doc = json_load(path, e);
    return doc == NULL ? -1 : read_document(doc, problem, self, e);
}
