/* judge_torch - the judge that is a PyTorch process ("cuda:N", "cpu")
 *
 * A request is refused with a retry error when the process died, was too slow or asked to be replaced;
 * the next one starts another process, opens the remembered problem, and goes on. `drawn` says whether
 * the living process holds what the caller drew.
 *
 * SPDX-License-Identifier: MIT */
#include "agent-node/judge_torch.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "agent-node/judge_ops.h"
#include "agent-node/judge_process.h"
#include "common/buf.h"
#include "common/file.h"
#include "common/log.h"
#include "common/scoped.h"
#include "common/str.h"
#include "common/xalloc.h"
#include "common/zip.h"
#include "suites/cases.h"

/* Deadlines, ms. The first request of a process waits for torch and the device. */
enum {
    START_MS = 240 * 1000,
    OPEN_MS = 60 * 1000,
    CONTRACT_MS = 300 * 1000,
    VALIDATE_MS = 600 * 1000,
    DRAW_MS = 120 * 1000,
    COMPARE_MS = 120 * 1000,
    BASELINE_MS = 900 * 1000,
    BLOCK_MS = 120 * 1000
};

enum { CACHE_UNPACKED_MAX = 64 * 1024 * 1024 };

typedef struct judge_torch {
    char *python, *script, *device, *timing_lib;
    char *cache_dir;
    bool own_cache_dir;
    int64_t deadline_ms;
    judge_process *process; /* NULL or dead: the next request starts one */
    json_doc *facts;        /* the texts of judge_facts */
    const contract *terms;  /* opened problem, borrowed; NULL: none */
    char *reference, *reference_file;
    bool drawn;
    char shm[JUDGE_SHM_MAX + 1]; /* to unlink when the process cannot */
} judge_torch;

static int64_t deadline(const judge_torch *self, int64_t own)
{
    return self->deadline_ms > 0 ? self->deadline_ms : own;
}

/* ---- process ---- */

static void drop_process(judge_torch *self)
{
    judge_process_destroy(&self->process);
    self->drawn = false;
    if (self->shm[0] != '\0')
        shm_unlink(self->shm);
    self->shm[0] = '\0';
}

static json *request_new(const char *op)
{
    json *request = json_new_object();
    json_set_str(request, "op", op);
    return request;
}

/* ask: one request to the living process; a process that is gone afterwards is cleared away. */
static json_doc *ask(judge_torch *self, json **request, int64_t own_ms, err *e)
{
    json_doc *reply = judge_process_ask(self->process, request, deadline(self, own_ms), e);
    if (!judge_process_alive(self->process))
        drop_process(self);
    return reply;
}

static int ask_open(judge_torch *self, err *e)
{
    SCOPED(json_destroy) json *request = request_new("open");
    json *terms = contract_to_json(self->terms);
    json_set(request, "contract", &terms);
    json_set_str(request, "reference", self->reference);
    json_set_str(request, "reference_file", self->reference_file);
    SCOPED(json_doc_destroy) json_doc *reply = ask(self, &request, OPEN_MS, e);
    return reply == NULL ? -1 : 0;
}

static int start_process(judge_torch *self, err *e)
{
    drop_process(self);
    judge_process_options options = {.python = self->python,
                                     .script = self->script,
                                     .device = self->device,
                                     .timing_lib = self->timing_lib,
                                     .cache_dir = self->cache_dir};
    self->process = judge_process_start(&options, e);
    if (self->process == NULL)
        return -1;
    SCOPED(json_destroy) json *request = request_new("facts");
    SCOPED(json_doc_destroy)
    json_doc *reply = judge_process_ask(self->process, &request, START_MS, e);
    if (reply == NULL) {
        drop_process(self);
        return -1;
    }
    if (self->facts == NULL)
        self->facts = TAKE(reply);
    return 0;
}

/* want_process makes sure that a process lives and has the problem open. */
static int want_process(judge_torch *self, err *e)
{
    if (judge_process_alive(self->process))
        return 0;
    if (start_process(self, e) < 0)
        return -1;
    return self->terms != NULL ? ask_open(self, e) : 0;
}

/* ---- requests ---- */

static json *sizes_json(const contract *terms, const contract_shape *shape, err *e)
{
    SCOPED(json_destroy) json *sizes = json_new_object();
    for (size_t i = 0; i < terms->input_count + terms->output_count; i++) {
        int64_t lengths[CONTRACT_RANK_MAX];
        if (contract_tensor_shape(terms, i, shape, lengths, e) < 0)
            return NULL;
        json *list = json_new_array();
        for (size_t d = 0; d < terms->tensors[i].rank; d++) {
            json *length = json_new_int(lengths[d]);
            json_append(list, &length);
        }
        json_set(sizes, terms->tensors[i].name, &list);
    }
    return TAKE(sizes);
}

/* ranges_json: {"index": [0, 9]} of the inputs that have one. */
static json *ranges_json(const contract *terms, const contract_shape *shape, err *e)
{
    SCOPED(json_destroy) json *ranges = json_new_object();
    for (size_t i = 0; i < terms->input_count; i++) {
        int64_t bounds[2] = {0};
        bool has;
        if (contract_range(terms, i, shape, &has, bounds, e) < 0)
            return NULL;
        if (!has)
            continue;
        json *list = json_new_array();
        json *low = json_new_int(bounds[0]), *high = json_new_int(bounds[1]);
        json_append(list, &low);
        json_append(list, &high);
        json_set(ranges, terms->tensors[i].name, &list);
    }
    return TAKE(ranges);
}

/* case_json: a shape with everything evaluated: Python knows no expressions. */
static json *case_json(const contract *terms, const contract_shape *shape, err *e)
{
    int64_t reduction = 1;
    if (contract_reduction(terms, shape, &reduction, e) < 0)
        return NULL;
    SCOPED(json_destroy) json *sizes = sizes_json(terms, shape, e);
    json *ranges = ranges_json(terms, shape, e);
    if (sizes == NULL || ranges == NULL) {
        json_destroy(&ranges);
        return NULL;
    }
    json *out = json_new_object();
    SCOPED(scoped_free) char *label = contract_shape_label(terms, shape);
    json_set_str(out, "label", label);
    json_set_int(out, "reduction", reduction);
    json_set(out, "sizes", &sizes);
    json_set(out, "ranges", &ranges);
    return out;
}

static int set_case(json *request, const contract *terms, const contract_shape *shape, err *e)
{
    json *row = case_json(terms, shape, e);
    if (row == NULL)
        return -1;
    json_set(request, "case", &row);
    return 0;
}

static int broken(const char *what, err *e)
{
    return err_set(e, ERR_PROTOCOL, "judge: the answer to %s lacks something", what);
}

/* ---- open ---- */

static int torch_open(void *impl, const contract *terms, const char *reference, const char *file,
                      err *e)
{
    judge_torch *self = impl;
    char *new_reference = xstrdup(reference), *new_file = xstrdup(file);
    free(self->reference);
    free(self->reference_file);
    self->reference = new_reference;
    self->reference_file = new_file;
    self->drawn = false;
    bool fresh = !judge_process_alive(self->process);
    self->terms = terms;
    int rc = fresh ? want_process(self, e) : ask_open(self, e);
    if (rc < 0)
        self->terms = NULL;
    return rc;
}

/* ---- contract ---- */

static int add_case(json *list, const contract *terms, const contract_shape *shape, err *e)
{
    json *row = case_json(terms, shape, e);
    if (row == NULL)
        return -1;
    json_append(list, &row);
    return 0;
}

/* cases_json: what is declared, the benchmark shape last, and in between `more` (NULL: nothing). */
static json *cases_json(const contract *terms, const cases *more, err *e)
{
    SCOPED(json_destroy) json *list = json_new_array();
    for (size_t i = 0; i < terms->shape_count; i++)
        if (add_case(list, terms, &terms->shapes[i], e) < 0)
            return NULL;
    for (size_t i = 0; more != NULL && i < more->count; i++)
        if (!more->shapes[i].again && add_case(list, terms, &more->shapes[i].shape, e) < 0)
            return NULL;
    return add_case(list, terms, &terms->benchmark, e) < 0 ? NULL : TAKE(list);
}

static int read_contract(const json *reply, judge_contract_report *out, err *e)
{
    const json *shapes = json_get(reply, "shapes");
    if (json_typeof(shapes) != JSON_TYPE_ARRAY)
        return broken("contract", e);
    judge_contract_report report = {0};
    for (size_t i = 0; i < json_size(shapes); i++) {
        const char *status = json_str(json_get(json_at(shapes, i), "status"), "");
        *(strcmp(status, "ok") == 0 ? &report.shapes_run : &report.shapes_skipped) += 1;
    }
    SCOPED(json_destroy) json *kept = json_new_object();
    json *copy = json_copy(shapes);
    json_set(kept, "shapes", &copy);
    report.json = json_dump(kept);
    *out = report;
    return 0;
}

static int torch_contract(void *impl, judge_contract_report *out, err *e)
{
    judge_torch *self = impl;
    SCOPED(cases_fini) cases met = {0}; /* every shape that a candidate meets but the hidden ones */
    cases_build(self->terms, strcmp(self->device, "cpu") == 0, &met);
    json *list = cases_json(self->terms, &met, e);
    if (list == NULL)
        return -1;
    SCOPED(json_destroy) json *request = request_new("contract");
    json_set(request, "cases", &list);
    if (want_process(self, e) < 0)
        return -1;
    self->drawn = false;
    SCOPED(json_doc_destroy) json_doc *reply = ask(self, &request, CONTRACT_MS, e);
    return reply == NULL ? -1 : read_contract(json_doc_root(reply), out, e);
}

/* ---- validate ---- */

static void cut(char *out, size_t size, const char *text)
{
    int written = snprintf(out, size, "%s", text);
    if (written >= 0 && (size_t)written >= size)
        out[str_utf8_valid(out, size - 1)] = '\0';
}

static int read_validation(const json *reply, judge_validation *out, err *e)
{
    const json *checks = json_get(reply, "checks");
    if (json_size(checks) == 0)
        return broken("validate", e);
    judge_validation got = {.passed = true};
    for (size_t i = 0; i < json_size(checks); i++) {
        const json *row = json_at(checks, i);
        if (!got.passed || json_bool(json_get(row, "ok"), false))
            continue;
        got.passed = false;
        cut(got.failed, sizeof got.failed, json_str(json_get(row, "name"), ""));
        cut(got.text, sizeof got.text, json_str(json_get(row, "text"), ""));
    }
    SCOPED(json_destroy) json *kept = json_new_object();
    json *copy = json_copy(checks);
    json_set(kept, "checks", &copy);
    got.json = json_dump(kept);
    *out = got;
    return 0;
}

static int torch_validate(void *impl, judge_validation *out, err *e)
{
    judge_torch *self = impl;
    json *list = cases_json(self->terms, NULL, e);
    if (list == NULL)
        return -1;
    SCOPED(json_destroy) json *request = request_new("validate");
    json_set(request, "cases", &list);
    if (want_process(self, e) < 0)
        return -1;
    self->drawn = false;
    SCOPED(json_doc_destroy) json_doc *reply = ask(self, &request, VALIDATE_MS, e);
    return reply == NULL ? -1 : read_validation(json_doc_root(reply), out, e);
}

/* ---- draw ---- */

static judge_span *read_spans(const json *rows, size_t *count)
{
    *count = json_size(rows);
    judge_span *spans = xcalloc(*count + 1, sizeof *spans);
    for (size_t i = 0; i < *count; i++) {
        spans[i].offset = json_int(json_at(json_at(rows, i), 0), -1);
        spans[i].bytes = json_int(json_at(json_at(rows, i), 1), -1);
    }
    return spans;
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool read_handle(const char *hex, uint8_t out[JUDGE_HANDLE_SIZE])
{
    if (strlen(hex) != (size_t)2 * JUDGE_HANDLE_SIZE)
        return false;
    for (size_t i = 0; i < JUDGE_HANDLE_SIZE; i++) {
        int high = hex_digit(hex[2 * i]), low = hex_digit(hex[2 * i + 1]);
        if (high < 0 || low < 0)
            return false;
        out[i] = (uint8_t)(high * 16 + low);
    }
    return true;
}

static bool spans_fit(const judge_span *spans, size_t count, int64_t total)
{
    for (size_t i = 0; i < count; i++)
        if (spans[i].offset < 0 || spans[i].bytes < 0 || spans[i].bytes > total ||
            spans[i].offset > total - spans[i].bytes)
            return false;
    return true;
}

static int read_staging(const json *row, judge_staging *out, err *e)
{
    SCOPED(judge_staging_fini) judge_staging s = {0};
    s.inputs = read_spans(json_get(row, "inputs"), &s.input_count);
    s.outputs = read_spans(json_get(row, "outputs"), &s.output_count);
    s.total_bytes = json_int(json_get(row, "total"), 0);
    s.slots = json_int(json_get(row, "slots"), 0);
    const char *handle = json_str(json_get(row, "handle"), NULL);
    s.has_handle = handle != NULL && read_handle(handle, s.handle);
    int size = snprintf(s.shm, sizeof s.shm, "%s", json_str(json_get(row, "shm"), ""));
    if (size < 0 || (size_t)size >= sizeof s.shm || s.slots < 1 ||
        s.has_handle == (s.shm[0] != '\0') || !spans_fit(s.inputs, s.input_count, s.total_bytes) ||
        !spans_fit(s.outputs, s.output_count, s.total_bytes))
        return broken("draw", e);
    *out = s;
    s = (judge_staging){0};
    return 0;
}

static int torch_draw(void *impl, const judge_draw_request *request, judge_staging *out, err *e)
{
    judge_torch *self = impl;
    SCOPED(json_destroy) json *message = request_new("draw");
    if (set_case(message, self->terms, request->shape, e) < 0)
        return -1;
    json_set_int(message, "seed", request->seed);
    json_set_str(message, "family", request->family);
    json_set_int(message, "slots", request->slots);
    if (want_process(self, e) < 0)
        return -1;
    self->drawn = false;
    SCOPED(json_doc_destroy) json_doc *reply = ask(self, &message, DRAW_MS, e);
    if (reply == NULL || read_staging(json_get(json_doc_root(reply), "staging"), out, e) < 0)
        return -1;
    memcpy(self->shm, out->shm, sizeof self->shm);
    self->drawn = true;
    return 0;
}

/* ---- compare ---- */

static int torch_compare(void *impl, int64_t slot, int64_t salt, judge_comparison *out, err *e)
{
    judge_torch *self = impl;
    if (!self->drawn) {
        err_set(e, ERR_UNAVAILABLE, "judge: nothing is drawn (it was restarted?): draw again");
        if (e != NULL)
            e->retry = true;
        return -1;
    }
    SCOPED(json_destroy) json *request = request_new("compare");
    json_set_int(request, "slot", slot);
    json_set_int(request, "salt", salt);
    SCOPED(json_doc_destroy) json_doc *reply = ask(self, &request, COMPARE_MS, e);
    if (reply == NULL)
        return -1;
    const json *root = json_doc_root(reply), *equal = json_get(root, "equal");
    if (json_typeof(equal) != JSON_TYPE_BOOL)
        return broken("compare", e);
    *out = (judge_comparison){.equal = json_bool(equal, false)};
    cut(out->detail, sizeof out->detail, json_str(json_get(root, "detail"), ""));
    cut(out->text, sizeof out->text, json_str(json_get(root, "text"), ""));
    out->report_json = json_dump(json_get(root, "report"));
    return 0;
}

/* ---- baseline ---- */

/* put_cache writes the stored cache where the process finds it. A cache that cannot be unpacked is as
 * good as none: the mode is compiled again. */
static bool put_cache(const judge_baseline_request *request, const char *path)
{
    SCOPED(buf_fini) buf plain;
    buf_init(&plain, CACHE_UNPACKED_MAX);
    err e = {0};
    if (request->winner == NULL || request->cache == NULL || request->cache_size == 0)
        return false;
    if (zip_unpack(request->cache, request->cache_size, &plain, &e) == 0 &&
        file_write(path, plain.data, plain.size, &e) == 0)
        return true;
    log_err(LOG_DEBUG, "judge", &e, "stored compiler cache is left out");
    return false;
}

/* take_cache reads the packed cache of the winner; one that does not fit is dropped. */
static void take_cache(const char *path, judge_baseline *out)
{
    SCOPED(buf_fini) buf plain, packed;
    buf_init(&plain, CACHE_UNPACKED_MAX);
    buf_init(&packed, JUDGE_CACHE_MAX);
    err e = {0};
    if (file_read(path, &plain, &e) < 0 || zip_pack(plain.data, plain.size, &packed, &e) < 0) {
        log_err(LOG_DEBUG, "judge", &e, "compiler cache is dropped");
        return;
    }
    out->cache_size = packed.size;
    out->cache = buf_take(&packed);
}

static void read_mode(const json *row, const char *shape, int64_t slots, judge_mode *out)
{
    judge_mode_fill(out, json_str(json_get(row, "mode"), "?"), shape, slots);
    out->compile_s = json_real(json_get(row, "compile_s"), (double)NAN);
    out->row.event_floor_ms = json_real(json_get(row, "event_floor_ms"), (double)NAN);
    const char *reason = json_str(json_get(row, "reason"), NULL);
    if (json_bool(json_get(row, "wall"), false)) {
        free(out->row.l2);
        out->row.l2 = NULL;
    }
    if (reason != NULL)
        out->row.reason = xstrdup(reason);
    else
        judge_mode_samples(out, json_get(row, "samples"));
    if (isnan(out->row.median_ms) && out->row.reason == NULL)
        out->row.reason = xstrdup("no samples");
}

static int read_baseline(const judge_torch *self, const judge_baseline_request *request,
                         const json *reply, judge_baseline *out, err *e)
{
    const json *modes = json_get(reply, "modes");
    if (json_size(modes) == 0)
        return broken("baseline", e);
    SCOPED(scoped_free) char *shape = contract_shape_label(self->terms, request->shape);
    *out = (judge_baseline){.cache_hit = json_bool(json_get(reply, "cache_hit"), false)};
    out->mode_count = json_size(modes);
    out->modes = xcalloc(out->mode_count, sizeof *out->modes);
    for (size_t i = 0; i < out->mode_count; i++)
        read_mode(json_at(modes, i), shape, request->slots, &out->modes[i]);
    judge_baseline_choose(out);
    return 0;
}

static void set_path(json *request, const char *key, bool present, const char *path)
{
    if (present)
        json_set_str(request, key, path);
    else
        json_set_null(request, key);
}

static int torch_baseline(void *impl, const judge_baseline_request *request, judge_baseline *out,
                          err *e)
{
    judge_torch *self = impl;
    SCOPED(json_destroy) json *message = request_new("baseline");
    if (set_case(message, self->terms, request->shape, e) < 0 || want_process(self, e) < 0)
        return -1;
    SCOPED(scoped_free) char *put = file_join(self->cache_dir, "put.tar");
    SCOPED(scoped_free) char *taken = file_join(self->cache_dir, "taken.tar");
    json_set_int(message, "seed", request->seed);
    json_set_int(message, "slots", request->slots);
    json_set_int(message, "samples", request->samples);
    json_set_str(message, "winner", request->winner);
    set_path(message, "cache_in", put_cache(request, put), put);
    json_set_str(message, "cache_out", taken);
    self->drawn = false;
    SCOPED(json_doc_destroy) json_doc *reply = ask(self, &message, BASELINE_MS, e);
    unlink(put);
    int rc = reply == NULL ? -1 : read_baseline(self, request, json_doc_root(reply), out, e);
    if (rc == 0 && json_bool(json_get(json_doc_root(reply), "packed"), false))
        take_cache(taken, out);
    unlink(taken);
    return rc;
}

/* ---- in turns with a candidate ---- */

static void read_timing(const json *row, judge_timing *out)
{
    const json *samples = json_get(row, "samples");
    *out = (judge_timing){.sample_count = json_size(samples)};
    if (out->sample_count > 0)
        out->samples = xcalloc(out->sample_count, sizeof *out->samples);
    for (size_t i = 0; i < out->sample_count; i++)
        out->samples[i] = json_real(json_at(samples, i), (double)NAN);
    out->event_floor_ms = json_real(json_get(row, "event_floor_ms"), (double)NAN);
    out->warmup_calls = json_int(json_get(row, "warmup_calls"), 0);
    out->host_ms = json_real(json_get(row, "host_ms"), (double)NAN);
    out->event_ms = json_real(json_get(row, "event_ms"), (double)NAN);
    out->voided = json_int(json_get(row, "voided"), 0);
    out->suspect = json_int(json_get(row, "suspect"), 0);
}

static int torch_arm(void *impl, const judge_arm_request *request, judge_timing *out, err *e)
{
    judge_torch *self = impl;
    SCOPED(json_destroy) json *message = request_new("arm");
    json_set_str(message, "mode", request->mode);
    json_set_bool(message, "chained", request->chained);
    json_set_bool(message, "settle", request->settle);
    SCOPED(json_doc_destroy) json_doc *reply = ask(self, &message, BASELINE_MS, e);
    if (reply == NULL)
        return -1;
    read_timing(json_get(json_doc_root(reply), "timing"), out);
    return 0;
}

static int torch_block(void *impl, int64_t samples, int64_t untimed, judge_timing *out, err *e)
{
    judge_torch *self = impl;
    SCOPED(json_destroy) json *message = request_new("block");
    json_set_int(message, "samples", samples);
    json_set_int(message, "untimed", untimed);
    SCOPED(json_doc_destroy) json_doc *reply = ask(self, &message, BLOCK_MS, e);
    if (reply == NULL)
        return -1;
    read_timing(json_get(json_doc_root(reply), "timing"), out);
    if (out->sample_count != (size_t)samples) {
        judge_timing_fini(out);
        return broken("block", e);
    }
    return 0;
}

static int torch_disarm(void *impl, judge_comparison *out, err *e)
{
    judge_torch *self = impl;
    SCOPED(json_destroy) json *message = request_new("disarm");
    SCOPED(json_doc_destroy) json_doc *reply = ask(self, &message, COMPARE_MS, e);
    if (reply == NULL)
        return -1;
    const char *wrong = json_str(json_get(json_doc_root(reply), "wrong"), NULL);
    *out = (judge_comparison){.equal = wrong == NULL};
    cut(out->text, sizeof out->text, wrong != NULL ? wrong : "");
    return 0;
}

static char *torch_profile(void *impl, int64_t samples, const char *library, err *e)
{
    judge_torch *self = impl;
    SCOPED(json_destroy) json *message = request_new("profile");
    json_set_int(message, "samples", samples);
    json_set_str(message, "library", library);
    SCOPED(json_doc_destroy) json_doc *reply = ask(self, &message, BLOCK_MS, e);
    return reply == NULL ? NULL : json_dump(json_get(json_doc_root(reply), "spans"));
}

/* ---- start and end ---- */

static void torch_destroy(void *impl)
{
    judge_torch *self = impl;
    if (self == NULL)
        return;
    drop_process(self);
    if (self->own_cache_dir)
        file_remove_tree(self->cache_dir, NULL);
    json_doc_destroy(&self->facts);
    free(self->python);
    free(self->script);
    free(self->device);
    free(self->timing_lib);
    free(self->cache_dir);
    free(self->reference);
    free(self->reference_file);
    free(self);
}

/* beside: `tail` from the folder of the executable when that exists, else `otherwise`. */
static char *beside(const char *tail, const char *otherwise)
{
    SCOPED(scoped_free) char *here = file_self_dir(NULL);
    SCOPED(scoped_free) char *path = here != NULL ? file_join(here, tail) : NULL;
    return path != NULL && file_exists(path) ? TAKE(path) : xstrdup(otherwise);
}

static char *find_script(const char *folder, err *e)
{
    SCOPED(scoped_free)
    char *script = folder != NULL ? file_join(folder, "judge.py")
                                  : beside("../share/ce/judge/judge.py",
                                           CE_SOURCE_DIR "/agent-node/judge/judge.py");
    if (!file_exists(script)) {
        err_set(e, ERR_NOT_FOUND, "judge: %s is not there", script);
        return NULL;
    }
    return TAKE(script);
}

static int make_cache_dir(judge_torch *self, const char *given, err *e)
{
    if (given != NULL) {
        self->cache_dir = xstrdup(given);
        return file_mkdirs(given, e);
    }
    const char *temporary = getenv("TMPDIR");
    self->cache_dir =
        xasprintf("%s/ce-judge-XXXXXX", temporary != NULL && *temporary ? temporary : "/tmp");
    if (mkdtemp(self->cache_dir) == NULL)
        return err_errno(e, errno, "judge: folder %s", self->cache_dir);
    self->own_cache_dir = true;
    return 0;
}

static void read_facts(const json_doc *doc, judge_facts *out)
{
    const json *row = json_get(json_doc_root(doc), "facts");
    *out = (judge_facts){.device = json_str(json_get(row, "device"), ""),
                         .name = json_str(json_get(row, "name"), ""),
                         .uuid = json_str(json_get(row, "uuid"), ""),
                         .driver = json_str(json_get(row, "driver"), ""),
                         .torch = json_str(json_get(row, "torch"), ""),
                         .triton = json_str(json_get(row, "triton"), ""),
                         .python = json_str(json_get(row, "python"), ""),
                         .cupti = json_str(json_get(row, "cupti"), ""),
                         .sm_count = json_int(json_get(row, "sm_count"), 0),
                         .l2_bytes = json_int(json_get(row, "l2_bytes"), 0),
                         .memory_bytes = json_int(json_get(row, "memory_bytes"), 0),
                         .simulated = json_bool(json_get(row, "simulated"), false)};
}

static const judge_ops torch_ops = {torch_destroy, torch_open,    torch_contract, torch_validate,
                                    torch_draw,    torch_compare, torch_baseline, torch_arm,
                                    torch_block,   torch_disarm,  torch_profile};

int judge_torch_start(const judge_options *options, judge *out, err *e)
{
    judge_torch *self = xcalloc(1, sizeof *self);
    out->ops = &torch_ops;
    out->impl = self; /* from here on judge_destroy ends it */
    self->device = xstrdup(options->device);
    self->deadline_ms = options->deadline_ms;
    self->timing_lib = options->timing_lib != NULL
                           ? xstrdup(options->timing_lib)
                           : beside("../lib/libce_timing.so", "libce_timing.so");
    self->script = find_script(options->folder, e);
    if (self->script == NULL || make_cache_dir(self, options->cache_dir, e) < 0)
        return -1;
    self->python = options->python != NULL ? xstrdup(options->python) : judge_find_python(NULL, e);
    if (self->python == NULL || start_process(self, e) < 0)
        return -1;
    read_facts(self->facts, &out->facts);
    return 0;
}

pid_t judge_torch_pid(const judge *self)
{
    const judge_torch *impl = self->impl;
    return judge_process_alive(impl->process) ? judge_process_pid(impl->process) : -1;
}
