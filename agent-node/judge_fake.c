/* judge_fake - the judge of device "fake": a script answers
 *
 * The script is read anew at every open, strictly, all problems of it: a mistake is told before it is
 * met. A problem's entry overrides the default member by member.
 *
 * SPDX-License-Identifier: MIT */
#include "agent-node/judge_fake.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent-node/judge_ops.h"
#include "common/json.h"
#include "common/scoped.h"
#include "common/xalloc.h"

enum { SAMPLES_MAX = 4096, PROBLEMS_MAX = 1024, ALIGN = 256 };

static const char *const top_keys[] = {"default", "problems", NULL};
/* The runner's members stand beside ours (agent-node/runner/fake_script.h). */
static const char *const entry_keys[] = {
    "load",     "check", "time", "compare", "candidate_ms", "warm_ms",      "baselines",
    "delay_ms", "crash", "hang", "state",   "profile",      "memory_bytes", NULL};
static const char *const state_keys[] = {"sm_mhz", "reasons", "foreign", "mig", "mps", NULL};
static const char *const compare_keys[] = {"equal", "detail", "text", NULL};

typedef struct fake_answers {
    bool equal;
    char detail[JUDGE_DETAIL_MAX];
    char text[JUDGE_TEXT_MAX];
    json *baselines; /* mode → [ms…]; owned */
    json *profile;   /* its "baseline" is ours; owned, or NULL */
} fake_answers;

typedef struct judge_fake {
    char *script; /* path, or NULL */
    const contract *terms;
    fake_answers answers;
    bool drawn;
    char *armed; /* mode, or NULL */
    size_t next; /* scripted time of the armed mode */
} judge_fake;

/* ---- script ---- */

static json *times(double ms)
{
    json *list = json_new_array(), *one = json_new_real(ms);
    json_append(list, &one);
    return list;
}

static void answers_fini(fake_answers *self)
{
    json_destroy(&self->baselines);
    json_destroy(&self->profile);
}

static void answers_init(fake_answers *self)
{
    json *eager = times(0.020), *compiled = times(0.015);
    *self = (fake_answers){.equal = true, .baselines = json_new_object()};
    json_set(self->baselines, judge_modes[0], &eager);
    json_set(self->baselines, judge_modes[1], &compiled);
}

static int read_compare(const json_cursor *c, fake_answers *out, err *e)
{
    json_cursor equal;
    out->detail[0] = out->text[0] = '\0';
    if (json_only_keys(c, compare_keys, e) < 0 || json_member(c, "equal", &equal, e) < 0 ||
        json_want_bool(&equal, &out->equal, e) < 0)
        return -1;
    if (json_maybe_text(c, "detail", out->detail, sizeof out->detail, e) < 0)
        return -1;
    return json_maybe_text(c, "text", out->text, sizeof out->text, e);
}

static int check_times(const json_cursor *mode, err *e)
{
    size_t count = 0;
    if (json_want_array(mode, SAMPLES_MAX, &count, e) < 0)
        return -1;
    if (count == 0)
        return json_fail(mode, e, "no times");
    for (size_t i = 0; i < count; i++) {
        json_cursor item;
        double ms = 0;
        json_element(mode, i, &item);
        if (json_want_real(&item, &ms, e) < 0)
            return -1;
        if (!isfinite(ms) || ms <= 0)
            return json_fail(&item, e, "a time is a positive number of milliseconds");
    }
    return 0;
}

static int read_baselines(const json_cursor *c, fake_answers *out, err *e)
{
    size_t known = 0, count = 0;
    while (judge_modes[known] != NULL)
        known++;
    if (json_only_keys(c, judge_modes, e) < 0 || json_want_object(c, known, &count, e) < 0)
        return -1;
    for (size_t i = 0; i < count; i++) {
        json_cursor mode;
        json_entry(c, i, &mode);
        if (check_times(&mode, e) < 0)
            return -1;
    }
    json_destroy(&out->baselines);
    out->baselines = json_copy(c->value);
    return 0;
}

/* The watch reads it (agent-node/watch.c); here a mistake in it is told. */
static int check_state(const json_cursor *c, err *e)
{
    if (json_only_keys(c, state_keys, e) < 0)
        return -1;
    for (size_t i = 0; state_keys[i] != NULL; i++) {
        json_cursor member;
        int64_t value = 0;
        if (json_maybe(c, state_keys[i], &member) &&
            json_want_int(&member, 0, INT32_MAX, &value, e) < 0)
            return -1;
    }
    return 0;
}

static int read_entry(const json_cursor *c, fake_answers *out, err *e)
{
    json_cursor member;
    if (json_only_keys(c, entry_keys, e) < 0)
        return -1;
    if (json_maybe(c, "compare", &member) && read_compare(&member, out, e) < 0)
        return -1;
    if (json_maybe(c, "state", &member) && check_state(&member, e) < 0)
        return -1;
    if (json_maybe(c, "profile", &member)) {
        json_destroy(&out->profile);
        out->profile = json_copy(member.value);
    }
    return json_maybe(c, "baselines", &member) ? read_baselines(&member, out, e) : 0;
}

static int read_problems(const json_cursor *c, const char *problem, fake_answers *out, err *e)
{
    size_t count = 0;
    if (json_want_object(c, PROBLEMS_MAX, &count, e) < 0)
        return -1;
    for (size_t i = 0; i < count; i++) {
        json_cursor entry;
        json_entry(c, i, &entry);
        bool ours = strcmp(entry.key, problem) == 0;
        SCOPED(answers_fini) fake_answers other = {0};
        if (read_entry(&entry, ours ? out : &other, e) < 0)
            return -1;
    }
    return 0;
}

static int read_script(const char *path, const char *problem, fake_answers *out, err *e)
{
    if (path == NULL)
        return 0;
    SCOPED(json_doc_destroy) json_doc *doc = json_load(path, e);
    if (doc == NULL)
        return -1;
    json_cursor root = json_root(doc), c;
    if (json_only_keys(&root, top_keys, e) < 0)
        return -1;
    if (json_maybe(&root, "default", &c) && read_entry(&c, out, e) < 0)
        return -1;
    return json_maybe(&root, "problems", &c) ? read_problems(&c, problem, out, e) : 0;
}

/* ---- operations ---- */

static int fake_open(void *impl, const contract *terms, const char *reference, const char *file,
                     err *e)
{
    (void)reference;
    (void)file;
    judge_fake *self = impl;
    SCOPED(answers_fini) fake_answers fresh;
    answers_init(&fresh);
    if (read_script(self->script, terms->problem, &fresh, e) < 0)
        return -1;
    answers_fini(&self->answers);
    self->answers = fresh;
    fresh.baselines = fresh.profile = NULL;
    self->terms = terms;
    self->drawn = false;
    return 0;
}

static void append_shape(const judge_fake *self, const contract_shape *shape, json *shapes)
{
    SCOPED(scoped_free) char *label = contract_shape_label(self->terms, shape);
    json *row = json_new_object();
    json_set_str(row, "shape", label);
    json_set_str(row, "status", "ok");
    json_append(shapes, &row);
}

static int fake_contract(void *impl, judge_contract_report *out, err *e)
{
    (void)e;
    judge_fake *self = impl;
    SCOPED(json_destroy) json *report = json_new_object();
    json *shapes = json_new_array();
    for (size_t i = 0; i < self->terms->shape_count; i++)
        append_shape(self, &self->terms->shapes[i], shapes);
    append_shape(self, &self->terms->benchmark, shapes);
    json_set(report, "shapes", &shapes);
    self->drawn = false;
    *out = (judge_contract_report){.shapes_run = (int64_t)self->terms->shape_count + 1,
                                   .json = json_dump(report)};
    return 0;
}

static int fake_validate(void *impl, judge_validation *out, err *e)
{
    (void)e;
    judge_fake *self = impl;
    self->drawn = false;
    *out = (judge_validation){.passed = true, .json = xstrdup("{\"checks\":[]}")};
    return 0;
}

/* add_span appends tensor i to a layout, as staging.py does. */
static int add_span(const contract *terms, const contract_shape *shape, size_t i, int64_t *end,
                    judge_span *out, err *e)
{
    int64_t elements = 0;
    if (contract_elements(terms, i, shape, &elements, e) < 0)
        return -1;
    *out = (judge_span){*end, elements * (int64_t)dtype_size(terms->tensors[i].type)};
    *end += (out->bytes + ALIGN - 1) / ALIGN * ALIGN;
    return 0;
}

static int fake_draw(void *impl, const judge_draw_request *request, judge_staging *out, err *e)
{
    judge_fake *self = impl;
    const contract *terms = self->terms;
    SCOPED(judge_staging_fini) judge_staging s = {.slots = request->slots};
    s.input_count = terms->input_count * (size_t)request->slots;
    s.output_count = terms->output_count;
    s.inputs = xcalloc(s.input_count + 1, sizeof *s.inputs);
    s.outputs = xcalloc(s.output_count + 1, sizeof *s.outputs);
    for (size_t i = 0; i < s.input_count; i++)
        if (add_span(terms, request->shape, i % terms->input_count, &s.total_bytes, &s.inputs[i],
                     e) < 0)
            return -1;
    for (size_t i = 0; i < s.output_count; i++)
        if (add_span(terms, request->shape, terms->input_count + i, &s.total_bytes, &s.outputs[i],
                     e) < 0)
            return -1;
    *out = s;
    s = (judge_staging){0};
    self->drawn = true;
    return 0;
}

static int fake_compare(void *impl, int64_t slot, int64_t salt, judge_comparison *out, err *e)
{
    (void)slot;
    (void)salt;
    judge_fake *self = impl;
    if (!self->drawn)
        return err_set(e, ERR_INTERNAL, "judge: nothing is drawn");
    const fake_answers *a = &self->answers;
    *out = (judge_comparison){.equal = a->equal};
    snprintf(out->detail, sizeof out->detail, "%s", a->detail);
    snprintf(out->text, sizeof out->text, "%s", a->text);
    SCOPED(json_destroy) json *report = json_new_object();
    json_set_str(report, "protocol", "fake");
    json_set_bool(report, "equal", a->equal);
    json_set_str(report, "detail", a->detail);
    out->report_json = json_dump(report);
    return 0;
}

static bool is_wanted(const judge_baseline_request *request, const char *mode)
{
    return request->winner == NULL || strcmp(mode, judge_modes[0]) == 0 ||
           strcmp(mode, request->winner) == 0;
}

static int fake_baseline(void *impl, const judge_baseline_request *request, judge_baseline *out,
                         err *e)
{
    (void)e;
    judge_fake *self = impl;
    SCOPED(scoped_free) char *shape = contract_shape_label(self->terms, request->shape);
    judge_baseline b = {.cache_hit = request->winner != NULL};
    b.modes = xcalloc(json_size(self->answers.baselines) + 1, sizeof *b.modes);
    for (size_t i = 0; judge_modes[i] != NULL; i++) {
        const json *samples = json_get(self->answers.baselines, judge_modes[i]);
        if (samples == NULL || !is_wanted(request, judge_modes[i]))
            continue;
        judge_mode *mode = &b.modes[b.mode_count++];
        judge_mode_fill(mode, judge_modes[i], shape, request->slots);
        judge_mode_samples(mode, samples);
        mode->row.event_floor_ms = 0.001;
    }
    judge_baseline_choose(&b);
    *out = b;
    self->drawn = false;
    return 0;
}

static int fake_arm(void *impl, const judge_arm_request *request, judge_timing *out, err *e)
{
    judge_fake *self = impl;
    if (!self->drawn)
        return err_set(e, ERR_INTERNAL, "judge: nothing is drawn");
    if (json_get(self->answers.baselines, request->mode) == NULL)
        return err_set(e, ERR_CONFIG, "judge: the script has no times of %s", request->mode);
    free(self->armed);
    self->armed = xstrdup(request->mode);
    self->next = 0;
    *out = (judge_timing){.event_floor_ms = 0.001, .warmup_calls = 1};
    return 0;
}

/* The scripted times again and again, block after block. */
static int fake_block(void *impl, int64_t samples, int64_t untimed, judge_timing *out, err *e)
{
    judge_fake *self = impl;
    (void)untimed;
    if (self->armed == NULL)
        return err_set(e, ERR_INTERNAL, "judge: nothing is armed");
    const json *times_of = json_get(self->answers.baselines, self->armed);
    *out = (judge_timing){.event_floor_ms = 0.001, .sample_count = (size_t)samples};
    out->samples = xcalloc(out->sample_count, sizeof *out->samples);
    for (size_t i = 0; i < out->sample_count; i++) {
        out->samples[i] =
            json_real(json_at(times_of, self->next++ % json_size(times_of)), (double)NAN);
        out->event_ms += out->samples[i];
    }
    out->host_ms = out->event_ms;
    return 0;
}

static int fake_disarm(void *impl, judge_comparison *out, err *e)
{
    judge_fake *self = impl;
    (void)e;
    free(self->armed);
    self->armed = NULL;
    *out = (judge_comparison){.equal = true};
    return 0;
}

static char *fake_profile(void *impl, int64_t samples, const char *library, err *e)
{
    const judge_fake *self = impl;
    const json *spans = json_get(self->answers.profile, "baseline");
    (void)samples;
    (void)library;
    (void)e;
    return spans != NULL ? json_dump(spans) : xstrdup("{\"unavailable\":\"not scripted\"}");
}

static void fake_destroy(void *impl)
{
    judge_fake *self = impl;
    if (self == NULL)
        return;
    free(self->armed);
    answers_fini(&self->answers);
    free(self->script);
    free(self);
}

static const judge_ops fake_ops = {fake_destroy, fake_open,    fake_contract, fake_validate,
                                   fake_draw,    fake_compare, fake_baseline, fake_arm,
                                   fake_block,   fake_disarm,  fake_profile};

int judge_fake_start(const judge_options *options, judge *out, err *e)
{
    judge_fake *self = xcalloc(1, sizeof *self);
    out->ops = &fake_ops;
    out->impl = self;
    out->facts = (judge_facts){.device = "fake",
                               .name = "fake",
                               .uuid = "",
                               .driver = "",
                               .torch = "",
                               .triton = "",
                               .python = "",
                               .cupti = "",
                               .sm_count = 132,
                               .l2_bytes = 62914560,
                               .memory_bytes = INT64_C(1) << 37};
    if (options->fake_script != NULL)
        self->script = xstrdup(options->fake_script);
    SCOPED(answers_fini) fake_answers probe;
    answers_init(&probe);
    return read_script(self->script, "", &probe, e); /* a wrong script is told at the start */
}
