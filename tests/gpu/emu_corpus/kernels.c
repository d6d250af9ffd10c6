/* emu_kernels - whole kernels, the suite's own and its wrong ones, on a GPU and on the emulator
 *
 *   emu_kernels cuda:0 OUT    runs on the GPU what the emulator finds nothing wrong with, and writes OUT
 *   emu_kernels --check FILE  runs the same on the emulator and compares with FILE
 *
 * OUT has a line an output: "problem/kernel tensor dtype hex". Inputs are plain values (agent-node/
 * plain_values.h), the shape is the largest of at most SMALL elements, plans are expanded as for the emulator on
 * both. Equal bits are wanted; where the kernel has an approximation, half outputs may differ by a unit in the
 * last place and f32 by 2^-18 of the value.
 *
 * Exit: 0, 1 when something fails, 2 usage, 3 outputs differ, 77 without a GPU or compiler.
 *
 * SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "agent-node/compile.h"
#include "agent-node/emulator/emulator.h"
#include "agent-node/plain_values.h"
#include "agent-node/runner/launch.h"
#include "common/buf.h"
#include "common/file.h"
#include "common/scoped.h"
#include "common/xalloc.h"
#include "suites/suite.h"
#include "wire/message.h"

enum {
    SMALL = 4096,
    DEADLINE_MS = 20000,
    FILE_MAX = 8 << 20,
    SKIPPED = 77,
    SALT = 7,
    WRONG_ONES = 5
};

static const char *const problems[] = {
    "vector_add_fp32", "silu_fp16",          "softmax_lastdim_fp16", "rms_norm_fp16",
    "layernorm_bf16",  "sum_reduction_fp32", "argmax_fp32",          "cumsum_lastdim_fp32"};

/* As on the emulator, wherever it runs. */
static const plan_device limits = {.sm_count = 16,
                                   .cc = 80,
                                   .on_emu = true,
                                   .grid_max = {INT32_MAX, 65535, 65535},
                                   .block_max = {1024, 1024, 64},
                                   .threads_per_block_max = 1024,
                                   .shared_per_block_max = EMU_SHARED_MAX,
                                   .memory_bytes = INT64_C(1) << 30};

typedef struct kernel {
    char name[128];
    const problem *problem;
    const char *source, *plan;
} kernel;

/* A kernel at its shape, compiled, with inputs in host memory. */
typedef struct work {
    const kernel *k;
    contract_shape shape;
    plan *plan;
    plan_steps steps;
    compile_result compiled;
    plain_values *values;
    uint8_t *host;
} work;

static void work_fini(work *self)
{
    if (self->host != NULL)
        munmap(self->host, (size_t)plain_values_staging(self->values)->total_bytes);
    plain_values_destroy(&self->values);
    compile_result_fini(&self->compiled);
    plan_steps_fini(&self->steps);
    plan_destroy(&self->plan);
}

static contract_shape small_shape(const contract *terms)
{
    int64_t most = -1;
    contract_shape best = terms->shapes[0];
    for (size_t i = 0; i < terms->shape_count; i++) {
        int64_t sum = 0, elements = 0;
        for (size_t t = 0; t < terms->input_count + terms->output_count; t++)
            if (contract_elements(terms, t, &terms->shapes[i], &elements, NULL) == 0)
                sum += elements;
        if (sum <= SMALL && sum > most) {
            most = sum;
            best = terms->shapes[i];
        }
    }
    return best;
}

static int map_values(work *w, err *e)
{
    const judge_staging *s = plain_values_staging(w->values);
    SCOPED(scoped_close) int fd = shm_open(s->shm, O_RDONLY, 0);
    void *at =
        fd >= 0 ? mmap(NULL, (size_t)s->total_bytes, PROT_READ, MAP_SHARED, fd, 0) : MAP_FAILED;
    if (at == MAP_FAILED)
        return err_set(e, ERR_SYSTEM, "inputs cannot be mapped");
    w->host = at;
    return 0;
}

static int prepare(work *w, const kernel *k, compile_pool *compiler, err *e)
{
    const contract *terms = k->problem->terms;
    plan_fault fault;
    size_t count = 0;
    *w = (work){.k = k, .shape = small_shape(terms)};
    w->plan = plan_parse(k->plan, strlen(k->plan), terms, &fault);
    if (w->plan == NULL || plan_expand(w->plan, terms, &w->shape, &limits, &w->steps, &fault) < 0)
        return err_set(e, ERR_CONFIG, "%s: %s", k->name, fault.text);
    const char *const *entries = plan_entries(w->plan, &count);
    const compile_request request = {
        .arch = "sm_80", .source = k->source, .entries = entries, .entry_count = count};
    if (compile_pool_run(compiler, &request, &w->compiled, e) < 0)
        return -1;
    w->values = plain_values_create(terms, &w->shape, 1, e);
    return w->values == NULL ? -1 : map_values(w, e);
}

/* ---- on a device ---- */

static int upload(gpu *g, const work *w, uint64_t to, err *e)
{
    const judge_staging *s = plain_values_staging(w->values);
    for (int64_t i = 0; i < s->total_bytes / 4; i++) {
        uint32_t word = 0;
        memcpy(&word, w->host + 4 * i, sizeof word);
        const gpu_fill fill = {to + (uint64_t)(4 * i), word, 4, 1};
        if (g->ops->fill(g, &fill, e) < 0)
            return -1;
    }
    return 0;
}

static struct row_span *spans(const judge_span *from, size_t count)
{
    struct row_span *out = xcalloc(count + 1, sizeof *out);
    for (size_t i = 0; i < count; i++)
        out[i] = (struct row_span){.offset = from[i].offset, .bytes = from[i].bytes};
    return out;
}

static int load_and_run(gpu *g, const work *w, const launch *calls, runner_verdict *v, err *e)
{
    /* The terminating zero belongs to the image: that is how a driver takes PTX. */
    SCOPED(scoped_free)
    char *text = xstrndup((const char *)w->compiled.ptx.data, w->compiled.ptx.size);
    if (g->ops->load(g, text, strlen(text) + 1, v, e) < 0)
        return -1;
    if (!verdict_is_ok(v))
        return 0;
    const int rc = g->ops->run(g, calls->calls, calls->count, DEADLINE_MS, v, e);
    g->ops->unload(g);
    return rc;
}

static int run_on(gpu *g, const work *w, uint64_t staging, runner_verdict *v, err *e)
{
    const judge_staging *s = plain_values_staging(w->values);
    const buffers_spec spec = {w->k->problem->terms, &w->shape, &w->steps, SALT, false};
    SCOPED(buffers_destroy) buffers *set = buffers_create(g, &spec, e);
    SCOPED(scoped_free) struct row_span *in = spans(s->inputs, s->input_count);
    SCOPED(scoped_free) struct row_span *out = spans(s->outputs, s->output_count);
    SCOPED(launch_fini) launch calls = {0};
    if (set == NULL || upload(g, w, staging, e) < 0 || buffers_import(set, staging, in, e) < 0)
        return -1;
    launch_init(&calls, &w->steps, set, true);
    verdict_ok(v);
    if (load_and_run(g, w, &calls, v, e) < 0)
        return -1;
    return verdict_is_ok(v) ? buffers_export(set, staging, out, e) : 0;
}

/* The outputs' bytes, one after another as in staging; NULL with an ok e: the kernel is at fault. */
static uint8_t *outputs_of(const char *device, const work *w, err *e)
{
    const judge_staging *s = plain_values_staging(w->values);
    gpu *g = gpu_open(&(gpu_options){.device = device}, e);
    gpu_mem mem = {0};
    runner_verdict v;
    uint8_t *bytes = NULL;
    if (g != NULL && g->ops->map(g, (uint64_t)s->total_bytes, &mem, e) == 0 &&
        run_on(g, w, mem.base, &v, e) == 0 && verdict_is_ok(&v)) {
        bytes = xcalloc((size_t)s->total_bytes, 1);
        if (g->ops->read(g, bytes, mem.base, (uint64_t)s->total_bytes, e) < 0)
            scoped_free(&bytes);
    }
    if (g != NULL)
        g->ops->unmap(g, &mem);
    gpu_close(&g);
    return bytes;
}

/* ---- writing ---- */

static void write_outputs(const work *w, const uint8_t *bytes, buf *out)
{
    const contract *terms = w->k->problem->terms;
    const judge_staging *s = plain_values_staging(w->values);
    for (size_t i = 0; i < s->output_count; i++) {
        const contract_tensor *t = &terms->tensors[terms->input_count + i];
        buf_printf(out, "%s %s %s ", w->k->name, t->name, dtype_name(t->type));
        for (int64_t b = 0; b < s->outputs[i].bytes; b++)
            buf_printf(out, "%02x", bytes[s->outputs[i].offset + b]);
        buf_puts(out, "\n");
    }
}

/* ---- comparing ---- */

static double value_of(dtype type, uint64_t word)
{
    const int digits = type == DTYPE_F16 ? 10 : type == DTYPE_BF16 ? 7 : 23;
    const int bias = type == DTYPE_F16 ? 15 : 127;
    const int exponent = (int)(word >> digits & (uint64_t)(2 * bias + 1));
    const uint64_t fraction = word & ((1ull << digits) - 1);
    const double sign = word >> (type == DTYPE_F32 ? 31 : 15) != 0 ? -1 : 1;
    if (exponent == 2 * bias + 1)
        return fraction != 0 ? (double)NAN : sign * (double)INFINITY;
    return exponent == 0
               ? sign * ldexp((double)fraction, 1 - bias - digits)
               : sign * ldexp((double)(fraction | 1ull << digits), exponent - bias - digits);
}

static bool is_near(dtype type, uint64_t a, uint64_t b)
{
    if (a == b)
        return true;
    if (type == DTYPE_F16 || type == DTYPE_BF16)
        return a + 1 == b || b + 1 == a;
    const double x = value_of(type, a), y = value_of(type, b);
    return type == DTYPE_F32 && fabs(x - y) <= 0x1p-18 * fabs(y);
}

static bool read_hex(const char *hex, size_t size, uint64_t *out)
{
    char digits[3] = "";
    *out = 0;
    for (size_t i = 0; i < size; i++) {
        if (hex[2 * i] == '\0' || hex[2 * i + 1] == '\0')
            return false;
        memcpy(digits, hex + 2 * i, 2);
        *out |= (uint64_t)strtoul(digits, NULL, 16) << (8 * i);
    }
    return true;
}

/* One output against its line; counts elements that are near, prints and counts those that are not. */
static int compare_output(const work *w, size_t i, const uint8_t *bytes, const char *hex)
{
    const contract *terms = w->k->problem->terms;
    const judge_span *span = &plain_values_staging(w->values)->outputs[i];
    const dtype type = terms->tensors[terms->input_count + i].type;
    const size_t size = dtype_size(type);
    const message_bytes *ptx = &w->compiled.ptx; /* without a final NUL */
    const bool approximates = memmem(ptx->data, ptx->size, ".approx", 7) != NULL;
    int64_t equal = 0, near = 0, wrong = 0;
    for (int64_t k = 0; k < span->bytes / (int64_t)size; k++) {
        uint64_t is = 0, should = 0;
        memcpy(&is, bytes + span->offset + k * (int64_t)size, size);
        const bool there = read_hex(hex + 2 * (size_t)k * size, size, &should);
        const bool same = there && is == should;
        const bool close = there && !same && approximates && is_near(type, is, should);
        equal += same;
        near += close;
        wrong += !same && !close;
    }
    printf("%-48s %6" PRId64 " equal %5" PRId64 " near %5" PRId64 " differ\n", w->k->name, equal,
           near, wrong);
    return wrong != 0 ? 3 : 0;
}

static int compare(const work *w, const uint8_t *bytes, const char *file)
{
    const contract *terms = w->k->problem->terms;
    int rc = 0;
    for (size_t i = 0; i < terms->output_count; i++) {
        const contract_tensor *t = &terms->tensors[terms->input_count + i];
        SCOPED(scoped_free)
        char *head = xasprintf("%s %s %s ", w->k->name, t->name, dtype_name(t->type));
        const char *line = strstr(file, head);
        if (line == NULL)
            printf("%-48s is not in the file: capture it anew\n", w->k->name);
        const int one = line != NULL ? compare_output(w, i, bytes, line + strlen(head)) : 3;
        rc = one > rc ? one : rc;
    }
    return rc;
}

/* ---- all kernels ---- */

typedef struct session {
    compile_pool *compiler;
    const char *device; /* NULL: check */
    const char *file;   /* check: its text */
    buf out;
    size_t compared, skipped;
    int rc;
} session;

static int run_kernel(session *s, const kernel *k, err *e)
{
    err why = {0};
    work w SCOPED(work_fini);
    if (prepare(&w, k, s->compiler, e) < 0)
        return -1;
    if (w.compiled.result != OUTCOME_OK)
        return 0;
    SCOPED(scoped_free) uint8_t *emulated = outputs_of("emu", &w, &why);
    if (emulated == NULL) {
        s->skipped++;
        return why.code == ERR_NONE ? 0 : err_set(e, why.code, "%s: %s", k->name, why.text);
    }
    s->compared++;
    if (s->device == NULL) {
        const int rc = compare(&w, emulated, s->file);
        s->rc = rc > s->rc ? rc : s->rc;
        return 0;
    }
    SCOPED(scoped_free) uint8_t *bytes = outputs_of(s->device, &w, e);
    if (bytes == NULL)
        return e->code != ERR_NONE ? -1 : err_set(e, ERR_GPU, "%s fails on the GPU", k->name);
    write_outputs(&w, bytes, &s->out);
    return 0;
}

static int run_problem(session *s, const problem *p, err *e)
{
    kernel k = {.problem = p, .source = p->gold_source, .plan = p->gold_plan};
    snprintf(k.name, sizeof k.name, "%s/gold", p->id);
    if (run_kernel(s, &k, e) < 0)
        return -1;
    size_t used = 0;
    for (size_t i = 0; i < p->wrong.count && used < WRONG_ONES; i++, used++) {
        const mutant *m = &p->wrong.items[i];
        k.source = m->source;
        k.plan = m->plan;
        snprintf(k.name, sizeof k.name, "%s/%s", p->id, m->name);
        if (run_kernel(s, &k, e) < 0)
            return -1;
    }
    return 0;
}

static int run_all(session *s, err *e)
{
    SCOPED(suite_destroy) suite *all = suite_load(CE_SOURCE_DIR "/suites", "internal", e);
    for (size_t i = 0; all != NULL && i < sizeof problems / sizeof *problems; i++) {
        const problem *p = suite_find(all, problems[i]);
        if (p == NULL)
            return err_set(e, ERR_NOT_FOUND, "no problem %s", problems[i]);
        if (run_problem(s, p, e) < 0)
            return -1;
    }
    return all != NULL ? 0 : -1;
}

static int complain(const err *e)
{
    fprintf(stderr, "emu_kernels: %s\n", e->text);
    return e->code == ERR_UNAVAILABLE ? SKIPPED : 1;
}

int main(int argc, char **argv)
{
    err e = {0};
    if (argc != 3) {
        fprintf(stderr, "usage: emu_kernels cuda:0 OUT | --check FILE\n");
        return 2;
    }
    const bool check = strcmp(argv[1], "--check") == 0;
    SCOPED(buf_fini) buf file;
    buf_init(&file, FILE_MAX);
    session s = {.device = check ? NULL : argv[1]};
    const compile_options options = {.binary = CE_BINARY_DIR "/bin/ce-compiler"};
    s.compiler = compile_pool_create(&options, &e);
    if (s.compiler == NULL || (check && file_read(argv[2], &file, &e) < 0))
        return complain(&e);
    s.file = buf_text(&file);
    buf_init(&s.out, FILE_MAX);
    int rc = run_all(&s, &e);
    if (rc == 0 && !check)
        rc = file_write(argv[2], s.out.data, s.out.size, &e);
    buf_fini(&s.out);
    compile_pool_destroy(&s.compiler);
    printf("%zu kernels compared, %zu left out: the emulator finds them at fault\n", s.compared,
           s.skipped);
    return rc < 0 ? complain(&e) : s.rc;
}
