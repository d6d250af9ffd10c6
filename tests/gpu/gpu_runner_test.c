/* gpu_runner_test - the runner on a real GPU: right and wrong candidates, timing
 *
 * One program without a framework, so that it runs from a bundle on a GPU host: it prints a table and
 * writes a Markdown file. Every case starts a fresh ce-runner, so a case that breaks its context also
 * shows that the next one runs normally. Exit 77 without a device, 1 when a case fails.
 *
 *   gpu_runner_test [--binary ce-runner] [--device cuda:0] [--out results.md]
 *
 * SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent-node/runner/buffers.h"
#include "agent-node/runner/timing/ce_timing.h"
#include "agent-node/runner/timing/cuda_api.h"
#include "agent-node/runner_proc.h"
#include "common/buf.h"
#include "common/cli.h"
#include "common/clock.h"
#include "common/file.h"
#include "common/scoped.h"
#include "common/stats.h"
#include "common/xalloc.h"
#include "kernels_image.h"

enum {
    SKIPPED = 77,
    SMALL = 1000003,          /* elements: an odd tail */
    LARGE = 16 * 1024 * 1024, /* elements: 64 MiB a tensor */
    SALT = 4711,
    DEADLINE_MS = 5000,
    SAMPLES = 200,
    REPORT_MAX = 256 * 1024
};

static const char contract_text_add[] =
    "{\"problem\":\"add\",\"dims\":[{\"name\":\"n\",\"min\":0,\"max\":16777216}],"
    "\"inputs\":[{\"name\":\"a\",\"dtype\":\"f32\",\"shape\":[\"n\"]},"
    "{\"name\":\"b\",\"dtype\":\"f32\",\"shape\":[\"n\"]}],\"scalars\":[],"
    "\"outputs\":[{\"name\":\"y\",\"dtype\":\"f32\",\"shape\":[\"n\"]}],\"reduction\":\"1\","
    "\"values\":[\"normal\"],\"order_free\":false,\"shapes\":[{\"n\":1}],"
    "\"benchmark\":{\"n\":16777216}}";

typedef struct settings {
    const char *binary, *device, *out;
} settings;

/* Everything the cases share. */
typedef struct bench {
    settings options;
    char *binary;
    cuda_api api;
    CUcontext context;
    CUstream stream;
    contract *terms;
    const void *image;
    size_t image_size;
    bool mock; /* the mock driver: no claim about time is checked */
    int64_t l2_bytes, memory_bytes;
    buf report;
    int failed, passed;
} bench;

/* What a case saw: one line of the table. */
typedef struct sight {
    bool good;
    char text[1024];
} sight;

/* ---- staging: what the judge does in production ---- */

typedef struct stage {
    const bench *owner;
    CUdeviceptr base;
    judge_staging spans;
    size_t elements;
    int64_t slots;
    float *a, *b; /* host copies of slot 0 */
} stage;

static bool say(CUresult code, const bench *b, const char *what)
{
    char text[200];
    if (code == CUDA_SUCCESS)
        return true;
    cuda_api_explain(&b->api, code, text, sizeof text);
    fprintf(stderr, "gpu_runner_test: %s: %s\n", what, text);
    return false;
}

static size_t round_up(size_t value, size_t to)
{
    return (value + to - 1) / to * to;
}

static void stage_fini(stage *s)
{
    if (s->base != 0)
        s->owner->api.mem_free(s->base);
    judge_staging *j = &s->spans;
    free(j->inputs);
    free(j->outputs);
    free(s->a);
    free(s->b);
    *s = (stage){0};
}

static bool stage_fill(stage *s)
{
    const bench *b = s->owner;
    size_t bytes = s->elements * sizeof(float);
    for (int64_t k = 0; k < s->slots; k++) {
        CUdeviceptr a = s->base + (CUdeviceptr)s->spans.inputs[2 * k].offset;
        CUdeviceptr c = s->base + (CUdeviceptr)s->spans.inputs[2 * k + 1].offset;
        if (!say(b->api.copy_htod(a, s->a, bytes, b->stream), b, "fill staging") ||
            !say(b->api.copy_htod(c, s->b, bytes, b->stream), b, "fill staging"))
            return false;
    }
    return say(b->api.stream_wait(b->stream), b, "fill staging");
}

static bool stage_init(stage *s, const bench *b, size_t elements, int64_t slots)
{
    size_t each = round_up(elements * sizeof(float), 256);
    size_t inputs = 2 * (size_t)slots;
    *s = (stage){.owner = b, .elements = elements, .slots = slots};
    s->spans = (judge_staging){.has_handle = true, .input_count = inputs, .output_count = 1};
    s->spans.inputs = xcalloc(inputs, sizeof *s->spans.inputs);
    s->spans.outputs = xcalloc(1, sizeof *s->spans.outputs);
    for (size_t i = 0; i < inputs; i++)
        s->spans.inputs[i] = (judge_span){(int64_t)(i * each), (int64_t)(elements * sizeof(float))};
    s->spans.outputs[0] =
        (judge_span){(int64_t)(inputs * each), (int64_t)(elements * sizeof(float))};
    s->spans.total_bytes = (int64_t)round_up((inputs + 1) * each, 2 * 1024 * 1024);
    s->spans.slots = slots;
    s->a = xcalloc(elements, sizeof(float));
    s->b = xcalloc(elements, sizeof(float));
    for (size_t i = 0; i < elements; i++) {
        s->a[i] = (float)(i % 8191) * 0.5f;
        s->b[i] = (float)(i % 127) - 63.0f;
    }
    CUipcMemHandle handle;
    if (!say(b->api.mem_alloc(&s->base, (size_t)s->spans.total_bytes), b, "allocate staging") ||
        !say(b->api.ipc_get(&handle, s->base), b, "export staging"))
        return false;
    memcpy(s->spans.handle, &handle, sizeof handle);
    return stage_fill(s);
}

/* count_wrong compares y with a + b (or a alone) in the first `count` elements. */
static size_t count_wrong(const stage *s, bool copy, size_t count, uint32_t *last_bits)
{
    const bench *b = s->owner;
    SCOPED(scoped_free) float *y = xcalloc(s->elements, sizeof *y);
    CUdeviceptr at = s->base + (CUdeviceptr)s->spans.outputs[0].offset;
    if (!say(b->api.copy_dtoh(y, at, s->elements * sizeof *y, b->stream), b, "read outputs") ||
        !say(b->api.stream_wait(b->stream), b, "read outputs"))
        return s->elements;
    size_t wrong = 0;
    for (size_t i = 0; i < count; i++) {
        float want = copy ? s->a[i] : s->a[i] + s->b[i];
        wrong += memcmp(&y[i], &want, sizeof want) != 0;
    }
    memcpy(last_bits, &y[s->elements - 1], sizeof *last_bits);
    return wrong;
}

/* ---- the runner ---- */

static runner_proc *start(const bench *b, sight *out)
{
    err e = {0};
    runner_options o = {.binary = b->binary, .device = b->options.device};
    runner_proc *p = runner_proc_start(&o, &e);
    if (p == NULL)
        snprintf(out->text, sizeof out->text, "start: error: %s", e.text);
    return p;
}

static bool error(const char *what, const err *e, sight *out)
{
    out->good = false;
    snprintf(out->text, sizeof out->text, "%s: error: %s", what, e->text);
    return false;
}

/* load gives false and says why unless the verdict is ok. */
static bool load(const bench *b, runner_proc *p, const char *text, runner_verdict *v, sight *out)
{
    err e = {0};
    runner_candidate c = {.cubin = b->image,
                          .cubin_size = b->image_size,
                          .contract = contract_text_add,
                          .plan = text};
    if (runner_proc_load(p, &c, v, &e) < 0)
        return error("load", &e, out);
    return true;
}

/* copy_f32 moves four elements a thread. */
static char *plan_for(const char *entry)
{
    return xasprintf("{\"kernels\":[{\"entry\":\"%s\",\"grid\":[\"ceil_div(n, %d)\"],"
                     "\"block\":[256],\"args\":[\"a\",\"b\",\"y\",{\"i32\":\"n\"}]}]}",
                     entry, strcmp(entry, "copy_f32") == 0 ? 1024 : 256);
}

/* One run, or (deadline below 0) the three of a pair. */
static bool check(const bench *b, runner_proc *p, const stage *s, int64_t deadline_ms,
                  runner_verdict *v, sight *out)
{
    err e = {0};
    contract_shape shape = {{(int64_t)s->elements}};
    bool pair = deadline_ms < 0;
    runner_check c = {.terms = b->terms,
                      .shape = &shape,
                      .staging = &s->spans,
                      .salt = SALT,
                      .pair_salt = pair ? SALT + 12345 : 0,
                      .deadline_ms = pair ? -deadline_ms : deadline_ms};
    return runner_proc_check(p, &c, v, &e) == 0 ? true : error("check", &e, out);
}

static void describe(const runner_verdict *v, sight *out)
{
    snprintf(out->text, sizeof out->text, "%s%s%s%s, %lld us: %.300s", outcome_name(v->result),
             *v->detail != '\0' ? "(" : "", v->detail, *v->detail != '\0' ? ")" : "",
             (long long)v->elapsed_us, *v->text != '\0' ? v->text : "-");
}

/* ---- cases ---- */

typedef struct check_case {
    const char *name;
    const char *entry;
    const char *plan; /* NULL: the usual plan for `entry` */
    outcome want;
    const char *detail;  /* NULL: any */
    int64_t deadline_ms; /* below 0: three runs */
    bool unwritten;      /* ok, but the last element holds its sentinel */
} check_case;

static const char few_args[] =
    "{\"kernels\":[{\"entry\":\"add\",\"grid\":[\"ceil_div(n, 256)\"],\"block\":[256],"
    "\"args\":[\"a\",\"b\",\"y\"]}]}";
static const char big_block[] = "{\"kernels\":[{\"entry\":\"add\",\"grid\":[1],\"block\":[2048],"
                                "\"args\":[\"a\",\"b\",\"y\",{\"i32\":\"n\"}]}]}";
static const char no_entry[] = "{\"kernels\":[{\"entry\":\"absent\",\"grid\":[1],\"block\":[32],"
                               "\"args\":[\"a\",\"b\",\"y\",{\"i32\":\"n\"}]}]}";

/* Plans that do the same sum in other ways. */
#define SUM(a, b, y)                                                                              \
    "{\"entry\":\"add\",\"grid\":[\"ceil_div(n, 256)\"],\"block\":[256],\"args\":[" a "," b "," y \
    ",{\"i32\":\"n\"}]}"
#define FLOATS(name, init) \
    "{\"name\":\"" name "\",\"dtype\":\"f32\",\"count\":\"n\",\"init\":\"" init "\"}"
#define VIEW(name, size) "{\"view\":\"" name "\",\"offset\":\"t * " #size "\"}"
#define PIECES(size)                                                                     \
    "{\"kernels\":[{\"repeat\":\"ceil_div(n, " #size                                     \
    ")\",\"index\":\"t\",\"kernels\":[{\"entry\":\"add\",\"grid\":[\"ceil_div(" #size    \
    ", 256)\"],\"block\":[256],\"args\":[" VIEW("a", size) "," VIEW("b", size) "," VIEW( \
        "y", size) ",{\"i32\":\"min(" #size ", n - t * " #size ")\"}]}]}]}"
#define ONE(entry, grid, rest)                                 \
    "{\"kernels\":[{\"entry\":\"" entry "\",\"grid\":[\"" grid \
    "\"],\"block\":[256],\"args\":[\"a\",\"b\",\"y\",{\"i32\":\"n\"}]," rest "}]}"

static const char in_pieces[] = PIECES(4096);
static const char in_most_pieces[] = PIECES(64); /* 15,626 launches; 16,384 are allowed */
static const char view_past_end[] =
    "{\"kernels\":[{\"entry\":\"add\",\"grid\":[1],\"block\":[256],\"args\":[\"a\",\"b\","
    "{\"view\":\"y\",\"offset\":\"n\"},{\"i32\":0}]}]}";
static const char too_many[] = "{\"kernels\":[{\"repeat\":\"n\",\"index\":\"t\",\"kernels\":[" SUM(
    "\"a\"", "\"b\"", "\"y\"") "]}]}";
/* s and v share a place, u has its own; zero + the sum is the sum. */
static const char shared_places[] =
    "{\"scratch\":[" FLOATS("s", "none") "," FLOATS("u", "none") "," FLOATS("v", "none") "," FLOATS(
        "zero",
        "zero") "],\"kernels\":[" SUM("\"a\"", "\"b\"",
                                      "\"s\"") "," SUM("\"s\"", "\"zero\"",
                                                       "\"u\"") "," SUM("\"u\"", "\"zero\"",
                                                                        "\"v\"") "," SUM("\"v\"",
                                                                                         "\"zero\"",
                                                                                         "\"y\"") "]}";
/* v was never written: what lies in its place is the sum that s held. */
static const char left_in_place[] =
    "{\"scratch\":[" FLOATS("s", "none") "," FLOATS("v", "none") "," FLOATS(
        "zero", "zero") "],\"kernels\":[" SUM("\"a\"", "\"b\"",
                                              "\"s\"") "," SUM("\"s\"", "\"zero\"",
                                                               "\"y\"") "," SUM("\"v\"", "\"zero\"",
                                                                                "\"y\"") "]}";
static const char together[] = ONE("add_in_turns", "sm_count", "\"cooperative\":true");
static const char too_many_together[] =
    ONE("add_in_turns", "sm_count * 64", "\"cooperative\":true");
static const char tile_of_100_kib[] = ONE("add_shared", "ceil_div(n, 256)", "\"shared\":102400");
static const char all_shared[] =
    ONE("add_shared", "ceil_div(n, 256)", "\"shared\":\"(cc >= 90 ? 232448 : 166912) - 1024\"");
static const char too_much_shared[] =
    ONE("add_shared", "ceil_div(n, 256)", "\"shared\":\"(cc >= 90 ? 232448 : 166912) - 1023\"");
static const char above_the_device[] = ONE("add", "ceil_div(n, 256)", "\"shared\":232449");

static const check_case cases[] = {
    {"a right candidate is ok", "add", NULL, OUTCOME_OK, "", DEADLINE_MS, false},
    {"an unwritten last element keeps its sentinel", "add_all_but_last", NULL, OUTCOME_OK, "",
     DEADLINE_MS, true},
    {"three runs of a right candidate agree", "add", NULL, OUTCOME_OK, "", -DEADLINE_MS, false},
    {"junk in shared memory shows in the pair", "add_junk", NULL, OUTCOME_UNINITIALISED,
     VERDICT_LEFTOVERS, -DEADLINE_MS, false},
    {"an unwritten last element shows in the pair", "add_all_but_last", NULL, OUTCOME_UNINITIALISED,
     VERDICT_LEFTOVERS, -DEADLINE_MS, false},
    {"an output that changes from run to run shows", "add_calls", NULL, OUTCOME_NONDETERMINISTIC,
     "", -DEADLINE_MS, false},
    {"one element past the end changes canary", "add_one_past", NULL, OUTCOME_OUT_OF_BOUNDS,
     "write", DEADLINE_MS, false},
    {"one element before the start changes canary", "add_one_before", NULL, OUTCOME_OUT_OF_BOUNDS,
     "write", DEADLINE_MS, false},
    {"4 MiB past the end faults", "add_far_past", NULL, OUTCOME_OUT_OF_BOUNDS, "access",
     DEADLINE_MS, false},
    {"after the fault the next candidate runs", "add", NULL, OUTCOME_OK, "", DEADLINE_MS, false},
    {"an endless loop is hung at its deadline", "never_ends", NULL, OUTCOME_HUNG, NULL, 1000,
     false},
    {"after the hang the next candidate runs", "add", NULL, OUTCOME_OK, "", DEADLINE_MS, false},
    {"a trap is crashed", "traps", NULL, OUTCOME_CRASHED, NULL, DEADLINE_MS, false},
    {"after the trap the next candidate runs", "add", NULL, OUTCOME_OK, "", DEADLINE_MS, false},
    {"a write to an input is named", "add_to_input", NULL, OUTCOME_OUT_OF_BOUNDS, "input",
     DEADLINE_MS, false},
    {"a misaligned store is out of bounds", "misaligned", NULL, OUTCOME_OUT_OF_BOUNDS, "misaligned",
     DEADLINE_MS, false},
    {"too few arguments are plan_invalid", NULL, few_args, OUTCOME_PLAN_INVALID, "/kernels/0/args",
     DEADLINE_MS, false},
    {"a block of 2048 is plan_invalid", NULL, big_block, OUTCOME_PLAN_INVALID, "/kernels/0/block/0",
     DEADLINE_MS, false},
    {"a repeat over views gives the sum", NULL, in_pieces, OUTCOME_OK, "", -DEADLINE_MS, false},
    {"15,626 launches give the sum", NULL, in_most_pieces, OUTCOME_OK, "", 30000, false},
    {"a view past the end is plan_invalid", NULL, view_past_end, OUTCOME_PLAN_INVALID,
     "/kernels/0/args/2/offset", DEADLINE_MS, false},
    {"a million launches are plan_invalid", NULL, too_many, OUTCOME_PLAN_INVALID,
     "/kernels/0/repeat", DEADLINE_MS, false},
    {"scratch buffers in one place give the sum", NULL, shared_places, OUTCOME_OK, "", -DEADLINE_MS,
     false},
    {"what another buffer left in the place shows", NULL, left_in_place, OUTCOME_UNINITIALISED,
     VERDICT_LEFTOVERS, -DEADLINE_MS, false},
    {"blocks wait for each other in a cooperative launch", NULL, together, OUTCOME_OK, "",
     -DEADLINE_MS, false},
    {"a cooperative grid too large is plan_invalid", NULL, too_many_together, OUTCOME_PLAN_INVALID,
     "/kernels/0/grid", DEADLINE_MS, false},
    {"a tile of 100 KiB of shared memory works", NULL, tile_of_100_kib, OUTCOME_OK, "",
     -DEADLINE_MS, false},
    {"all shared memory of the device works", NULL, all_shared, OUTCOME_OK, "", DEADLINE_MS, false},
    {"one byte more than beside the static is plan_invalid", NULL, too_much_shared,
     OUTCOME_PLAN_INVALID, "/kernels/0/shared", DEADLINE_MS, false},
    {"more shared memory than the device has is plan_invalid", NULL, above_the_device,
     OUTCOME_PLAN_INVALID, "/kernels/0/shared", DEADLINE_MS, false},
    {"an absent entry is launch_failed", NULL, no_entry, OUTCOME_LAUNCH_FAILED, "entry",
     DEADLINE_MS, false},
};

static void judge_outputs(const check_case *c, const stage *s, sight *out)
{
    uint32_t last = 0;
    uint32_t width = 0;
    size_t wrong = count_wrong(s, false, s->elements - c->unwritten, &last);
    size_t used = strlen(out->text);
    bool left = last == buffers_sentinel(DTYPE_F32, SALT, &width);
    snprintf(out->text + used, sizeof out->text - used, "; %zu wrong, sentinel %s", wrong,
             left ? "left" : "gone");
    out->good = out->good && wrong == 0 && left == c->unwritten;
}

static void run_case(const bench *b, const check_case *c, const stage *s, sight *out)
{
    runner_verdict v;
    SCOPED(scoped_free) char *usual = c->plan == NULL ? plan_for(c->entry) : NULL;
    SCOPED(runner_proc_destroy) runner_proc *p = start(b, out);
    if (p == NULL || !load(b, p, c->plan != NULL ? c->plan : usual, &v, out))
        return;
    if (verdict_is_ok(&v) && !check(b, p, s, c->deadline_ms, &v, out))
        return;
    describe(&v, out);
    out->good = v.result == c->want && (c->detail == NULL || strcmp(c->detail, v.detail) == 0);
    if (out->good && c->want == OUTCOME_OK)
        judge_outputs(c, s, out);
}

/* The second check of a process maps inputs read-only. */
static void check_twice(const bench *b, const stage *s, sight *out)
{
    runner_verdict v;
    SCOPED(scoped_free) char *text = plan_for("add");
    SCOPED(runner_proc_destroy) runner_proc *p = start(b, out);
    if (p == NULL || !load(b, p, text, &v, out))
        return;
    for (int i = 0; i < 2 && verdict_is_ok(&v); i++)
        if (!check(b, p, s, DEADLINE_MS, &v, out))
            return;
    uint32_t last = 0;
    describe(&v, out);
    out->good = verdict_is_ok(&v) && count_wrong(s, false, s->elements, &last) == 0;
}

/* A candidate meets dozens of shapes: what one check costs, the process and its context aside. */
static void checks_are_quick(const bench *b, const stage *s, sight *out)
{
    enum { TIMES = 20 };
    runner_verdict v;
    SCOPED(scoped_free) char *text = plan_for("add");
    SCOPED(runner_proc_destroy) runner_proc *p = start(b, out);
    if (p == NULL || !load(b, p, text, &v, out) || !check(b, p, s, DEADLINE_MS, &v, out))
        return;
    int64_t begin_us = clock_mono_us();
    for (int i = 0; i < TIMES && verdict_is_ok(&v); i++)
        if (!check(b, p, s, -DEADLINE_MS, &v, out))
            return;
    double each_ms = (double)(clock_mono_us() - begin_us) / 1e3 / TIMES;
    snprintf(out->text, sizeof out->text, "%s, %.2f ms a check of 3 × 4 MB, three runs",
             outcome_name(v.result), each_ms);
    out->good = verdict_is_ok(&v) && (b->mock || each_ms < 50);
}

static void bad_image(const bench *b, sight *out)
{
    err e = {0};
    runner_verdict v;
    static const char garbage[] = "BAD image";
    SCOPED(scoped_free) char *text = plan_for("add");
    SCOPED(runner_proc_destroy) runner_proc *p = start(b, out);
    runner_candidate c = {.cubin = garbage,
                          .cubin_size = sizeof garbage,
                          .contract = contract_text_add,
                          .plan = text};
    if (p == NULL)
        return;
    if (runner_proc_load(p, &c, &v, &e) < 0) {
        error("load", &e, out);
        return;
    }
    describe(&v, out);
    out->good = v.result == OUTCOME_LAUNCH_FAILED && strcmp(v.detail, "load") == 0;
}

/* ---- timing ---- */

/* time_armed arms, takes a block, moves what its last sample left in the last slot to staging and disarms;
 * the first verdict that is not ok stands. */
static int time_armed(const bench *b, const stage *s, runner_proc *p, int64_t deadline_ms,
                      runner_timing *t, err *e)
{
    contract_shape shape = {{(int64_t)s->elements}};
    runner_arm request = {.terms = b->terms,
                          .shape = &shape,
                          .staging = &s->spans,
                          .slots = s->slots,
                          .settle = true,
                          .keeps = 1,
                          .salt = SALT,
                          .deadline_ms = deadline_ms};
    runner_block block = {
        .samples = SAMPLES, .untimed = 3, .keep = SAMPLES - 1, .deadline_ms = deadline_ms};
    if (runner_proc_arm(p, &request, t, e) < 0)
        return -1;
    if (!verdict_is_ok(&t->verdict))
        return 0;
    runner_timing armed = *t;
    *t = (runner_timing){0};
    int rc = runner_proc_block(p, &block, t, e);
    t->event_floor_ms = armed.event_floor_ms;
    t->warmup_calls = armed.warmup_calls;
    runner_timing_fini(&armed);
    if (rc < 0 || !verdict_is_ok(&t->verdict))
        return rc;
    if (runner_proc_kept(p, &s->spans, 0, &t->verdict, e) < 0)
        return -1;
    return verdict_is_ok(&t->verdict) ? runner_proc_disarm(p, &t->verdict, e) : 0;
}

static bool time_plan(const bench *b, const stage *s, const char *text, runner_timing *t,
                      sight *out)
{
    err e = {0};
    runner_verdict v;
    SCOPED(runner_proc_destroy) runner_proc *p = start(b, out);
    if (p == NULL || !load(b, p, text, &v, out))
        return false;
    if (!verdict_is_ok(&v)) {
        describe(&v, out);
        return false;
    }
    return time_armed(b, s, p, 60000, t, &e) == 0 ? true : error("time", &e, out);
}

static bool time_once(const bench *b, const stage *s, const char *entry, runner_timing *t,
                      sight *out)
{
    SCOPED(scoped_free) char *text = plan_for(entry);
    return time_plan(b, s, text, t, out);
}

static void input_protected_while_timed(const bench *b, const stage *s, sight *out)
{
    SCOPED(runner_timing_fini) runner_timing t = {0};
    if (!time_once(b, s, "add_to_input", &t, out))
        return;
    describe(&t.verdict, out);
    out->good =
        t.verdict.result == OUTCOME_OUT_OF_BOUNDS && strcmp(t.verdict.detail, "access") == 0;
}

static void hung_while_timed(const bench *b, const stage *s, sight *out)
{
    err e = {0};
    runner_verdict v;
    SCOPED(scoped_free) char *text = plan_for("never_ends");
    SCOPED(runner_timing_fini) runner_timing t = {0};
    SCOPED(runner_proc_destroy) runner_proc *p = start(b, out);
    if (p == NULL || !load(b, p, text, &v, out))
        return;
    if (time_armed(b, s, p, 1500, &t, &e) < 0) {
        error("time", &e, out);
        return;
    }
    describe(&t.verdict, out);
    out->good = t.verdict.result == OUTCOME_HUNG;
}

static double median_of(const runner_timing *t)
{
    return t->samples == NULL ? (double)NAN : stats_median(t->samples, t->sample_count);
}

static void tell_timing(const runner_timing *t, double bytes, sight *out)
{
    double ms = median_of(t);
    snprintf(out->text, sizeof out->text,
             "median %.2f us (p5 %.2f, p95 %.2f), %.0f GB/s, event floor %.2f us, %zu samples, "
             "%lld warm-up calls",
             ms * 1e3, stats_quantile(t->samples, t->sample_count, 0.05) * 1e3,
             stats_quantile(t->samples, t->sample_count, 0.95) * 1e3, bytes / ms / 1e6,
             t->event_floor_ms * 1e3, t->sample_count, (long long)t->warmup_calls);
}

/* A copy moves 2 × 64 MiB; its time must fit any memory a GPU has, and repeat. */
static void copy_is_timed_twice(const bench *b, const stage *s, sight *first, sight *second)
{
    double bytes = 2.0 * (double)s->elements * sizeof(float);
    SCOPED(runner_timing_fini) runner_timing t = {0};
    SCOPED(runner_timing_fini) runner_timing u = {0};
    if (!time_once(b, s, "copy_f32", &t, first) || t.samples == NULL) {
        if (t.verdict.result != OUTCOME_OK)
            describe(&t.verdict, first);
        return;
    }
    uint32_t last = 0;
    size_t wrong = count_wrong(s, true, s->elements, &last);
    double rate = bytes / median_of(&t) / 1e6;
    tell_timing(&t, bytes, first);
    first->good =
        wrong == 0 && (b->mock || (rate > 500 && rate < 10000 && t.event_floor_ms > 0.0004 &&
                                   t.event_floor_ms < 0.005));
    if (!time_once(b, s, "copy_f32", &u, second) || u.samples == NULL)
        return;
    double ratio = median_of(&u) / median_of(&t);
    tell_timing(&u, bytes, second);
    second->good = b->mock || (ratio > 0.95 && ratio < 1.05);
}

/* A timed plan, and the most it may take on any GPU there is. */
typedef struct timed_plan {
    const char *text;
    double launches, most_us;
} timed_plan;

/* A plan's graph is replayed, whatever its size: what one launch costs on the GPU. */
static void plan_is_timed(const bench *b, const stage *s, const timed_plan *one, sight *out)
{
    uint32_t last = 0;
    SCOPED(runner_timing_fini) runner_timing t = {0};
    if (!time_plan(b, s, one->text, &t, out))
        return;
    if (t.verdict.result != OUTCOME_OK || t.samples == NULL) {
        describe(&t.verdict, out);
        return;
    }
    const double us = median_of(&t) * 1e3;
    const size_t wrong = count_wrong(s, false, s->elements, &last);
    snprintf(out->text, sizeof out->text,
             "median %.1f us (p5 %.1f, p95 %.1f), %.2f us a launch, %lld releases void, %lld "
             "suspect, %zu wrong",
             us, stats_quantile(t.samples, t.sample_count, 0.05) * 1e3,
             stats_quantile(t.samples, t.sample_count, 0.95) * 1e3, us / one->launches,
             (long long)t.voided, (long long)t.suspect, wrong);
    out->good = wrong == 0 && t.suspect == 0 && (b->mock || us < one->most_us);
}

static void most_launches_are_timed(const bench *b, const stage *s, sight *out)
{
    const timed_plan one = {in_most_pieces, 15626, 80000};
    plan_is_timed(b, s, &one, out);
}

static void some_launches_are_timed(const bench *b, const stage *s, sight *out)
{
    const timed_plan one = {in_pieces, 245, 1250};
    plan_is_timed(b, s, &one, out);
}

static void a_cooperative_launch_is_timed(const bench *b, const stage *s, sight *out)
{
    const timed_plan one = {together, 1, 150};
    plan_is_timed(b, s, &one, out);
}

static void places_are_timed(const bench *b, const stage *s, sight *out)
{
    const timed_plan one = {shared_places, 5, 150};
    plan_is_timed(b, s, &one, out);
}

/* ---- report ---- */

static void put(bench *b, const char *name, const sight *s, int64_t ms)
{
    b->passed += s->good;
    b->failed += !s->good;
    printf("%-4s  %-48s  %6lld ms  %s\n", s->good ? "ok" : "FAIL", name, (long long)ms, s->text);
    fflush(stdout);
    buf_printf(&b->report, "| %s | %s | %lld | %s |\n", s->good ? "ok" : "**FAIL**", name,
               (long long)ms, s->text);
}

typedef void simple_fn(const bench *b, const stage *s, sight *out);

static void run_simple(bench *b, const char *name, simple_fn *fn, const stage *s)
{
    int64_t start_ms = clock_mono_ms();
    sight seen = {0};
    fn(b, s, &seen);
    put(b, name, &seen, clock_mono_ms() - start_ms);
}

static void run_bad_image(const bench *b, const stage *s, sight *out)
{
    (void)s;
    bad_image(b, out);
}

static void run_checks(bench *b)
{
    SCOPED(stage_fini) stage s = {0};
    if (!stage_init(&s, b, SMALL, 1)) {
        b->failed++;
        return;
    }
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int64_t start_ms = clock_mono_ms();
        sight seen = {0};
        run_case(b, &cases[i], &s, &seen);
        put(b, cases[i].name, &seen, clock_mono_ms() - start_ms);
    }
    run_simple(b, "a second check has read-only inputs", check_twice, &s);
    run_simple(b, "a check costs milliseconds", checks_are_quick, &s);
    run_simple(b, "an image that is none is launch_failed", run_bad_image, &s);
}

static void run_plan_timing(bench *b)
{
    SCOPED(stage_fini) stage s = {0};
    if (!stage_init(&s, b, SMALL, 3)) {
        b->failed++;
        return;
    }
    run_simple(b, "a cooperative launch is timed", a_cooperative_launch_is_timed, &s);
    run_simple(b, "scratch in one place is timed", places_are_timed, &s);
    run_simple(b, "a plan of 245 launches is timed", some_launches_are_timed, &s);
    run_simple(b, "a plan of 15,626 launches is timed", most_launches_are_timed, &s);
}

static void run_timing(bench *b)
{
    size_t elements = b->mock ? LARGE / 16 : LARGE;
    uint64_t bytes = 2 * elements * sizeof(float);
    uint32_t slots = ce_timing_slots(bytes, (uint64_t)b->l2_bytes, 35.0, (uint64_t)b->memory_bytes);
    SCOPED(stage_fini) stage s = {0};
    if (!stage_init(&s, b, elements, slots)) {
        b->failed++;
        return;
    }
    run_simple(b, "timing protects inputs", input_protected_while_timed, &s);
    run_simple(b, "an endless loop hangs timing, not us", hung_while_timed, &s);
    int64_t start_ms = clock_mono_ms();
    sight first = {0};
    sight second = {0};
    copy_is_timed_twice(b, &s, &first, &second);
    int64_t took = (clock_mono_ms() - start_ms) / 2;
    put(b, "a copy of 64 MiB has a plausible rate", &first, took);
    put(b, "the same copy again differs by less than 5 %", &second, took);
}

/* ---- set-up ---- */

static bool open_device(bench *b)
{
    char why[200];
    CUdevice device = 0;
    char name[128];
    size_t memory = 0;
    int l2 = 0;
    if (!cuda_api_open(&b->api, why, sizeof why)) {
        fprintf(stderr, "skipped: %s\n", why);
        return false;
    }
    if (!say(b->api.init(0), b, "start the driver") ||
        !say(b->api.device_get(&device, 0), b, "find the device") ||
        !say(b->api.device_name(name, sizeof name, device), b, "name") ||
        !say(b->api.device_memory(&memory, device), b, "memory") ||
        !say(b->api.device_attribute(&l2, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, device), b, "L2") ||
        !say(b->api.ctx_create(&b->context, CU_CTX_SCHED_AUTO, device), b, "context") ||
        !say(b->api.stream_create(&b->stream, CU_STREAM_NON_BLOCKING), b, "stream"))
        return false;
    b->mock = strcmp(name, "mock GPU") == 0;
    b->image = b->mock ? (const void *)"MOCK" : kernels_image();
    b->image_size = b->mock ? 5 : kernels_image_size();
    b->l2_bytes = l2;
    b->memory_bytes = (int64_t)memory;
    buf_printf(&b->report, "# Runner on %s\n\nL2 %d bytes, %zu bytes of memory\n\n", name, l2,
               memory);
    printf("device: %s, L2 %d bytes, memory %zu bytes\n", name, l2, memory);
    if (b->image_size == 0)
        fprintf(stderr, "skipped: this program was built without nvcc\n");
    return b->image_size != 0;
}

static char *beside(const char *given)
{
    err e;
    if (given != NULL)
        return xstrdup(given);
    SCOPED(scoped_free) char *folder = file_self_dir(&e);
    char *near = file_join(folder, "../bin/ce-runner");
    if (file_exists(near))
        return near;
    free(near);
    return file_join(folder, "ce-runner");
}

static const cli_option options[] = {
    {"binary", CLI_STR, offsetof(settings, binary), "FILE", "ce-runner", 0, 0, NULL},
    {"device", CLI_STR, offsetof(settings, device), "DEVICE", "default cuda:0", 0, 0, NULL},
    {"out", CLI_STR, offsetof(settings, out), "FILE", "write a Markdown table", 0, 0, NULL},
    {0},
};

static const cli_command command = {.name = "gpu_runner_test",
                                    .summary = "checks the runner on a real GPU",
                                    .arguments = "",
                                    .examples = "  gpu_runner_test --out results.md\n",
                                    .options = options};

static int run(bench *b)
{
    err e = {0};
    b->terms = contract_parse(contract_text_add, strlen(contract_text_add), "contract", &e);
    if (b->terms == NULL) {
        fprintf(stderr, "gpu_runner_test: %s\n", e.text);
        return 1;
    }
    buf_puts(&b->report, "| result | case | ms | seen |\n|---|---|---|---|\n");
    run_checks(b);
    run_timing(b);
    run_plan_timing(b);
    printf("%d ok, %d failed\n", b->passed, b->failed);
    buf_printf(&b->report, "\n%d ok, %d failed\n", b->passed, b->failed);
    if (b->options.out != NULL &&
        file_write(b->options.out, b->report.data, b->report.size, &e) < 0) {
        fprintf(stderr, "gpu_runner_test: %s\n", e.text);
        return 1;
    }
    return b->failed == 0 ? 0 : 1;
}

int main(int argc, char **argv)
{
    err e = {0};
    bool help = false;
    size_t count = 0;
    const char *arguments[1];
    bench b = {.options = {.device = "cuda:0"}};
    buf_init(&b.report, REPORT_MAX);
    if (cli_parse(&command, argc, argv, &b.options, arguments, &count, &help, &e) < 0) {
        fprintf(stderr, "gpu_runner_test: %s\n", e.text);
        return 2;
    }
    if (help) {
        cli_print_help(&command, "", stdout);
        return 0;
    }
    b.binary = beside(b.options.binary);
    int code = open_device(&b) ? run(&b) : SKIPPED;
    if (b.context != NULL)
        b.api.ctx_destroy(b.context);
    contract_destroy(&b.terms);
    cuda_api_close(&b.api);
    buf_fini(&b.report);
    free(b.binary);
    return code;
}
