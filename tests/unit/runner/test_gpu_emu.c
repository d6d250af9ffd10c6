/* The emulator behind the runner: a real ce-runner process, staging in shared memory, a plan, and the
 * verdicts that faults of a kernel become.
 *
 * Modules: gpu_emu
 *
 * SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "agent-node/compile.h"
#include "agent-node/runner/gpu.h"
#include "agent-node/runner_proc.h"
#include "common/json.h"
#include "common/scoped.h"
#include "tests/unit/emulator/emu_rig.h"

enum { N = 500, SPAN = 2048, STAGING = 4 * SPAN };

static const char terms_text[] =
    "{\"problem\":\"sum\",\"dims\":[{\"name\":\"n\",\"min\":0,\"max\":100000}],"
    "\"inputs\":[{\"name\":\"a\",\"dtype\":\"f32\",\"shape\":[\"n\"]},"
    "{\"name\":\"b\",\"dtype\":\"f32\",\"shape\":[\"n\"]}],\"scalars\":[],"
    "\"outputs\":[{\"name\":\"y\",\"dtype\":\"f32\",\"shape\":[\"n\"]}],\"reduction\":\"1\","
    "\"values\":[\"normal\"],\"order_free\":false,\"shapes\":[{\"n\":500}],"
    "\"benchmark\":{\"n\":500}}";

/* Two kernels, so that scratch carries data from one launch to the next. */
static const char plan_text[] =
    "{\"kernels\":[{\"entry\":\"first\",\"grid\":[\"ceil_div(n, 128)\"],\"block\":[128],"
    "\"args\":[\"a\",\"b\",\"part\",\"count\",{\"i32\":\"n\"}]},"
    "{\"entry\":\"second\",\"grid\":[\"ceil_div(n, 128)\"],\"block\":[128],"
    "\"args\":[\"part\",\"count\",\"y\",{\"i32\":\"n * on_emu\"}]}],"
    "\"scratch\":[{\"name\":\"part\",\"dtype\":\"f32\",\"count\":\"n\",\"init\":\"none\"},"
    "{\"name\":\"count\",\"dtype\":\"i32\",\"count\":\"1\",\"init\":\"zero\"}]}";

#define HEAD                                                                                       \
    "extern \"C\" __global__ void first(const float *a, const float *b, float *part, int *count, " \
    "int n)\n{\n    const int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
#define TAIL                                                                                     \
    "}\nextern \"C\" __global__ void second(const float *part, const int *count, float *y, int " \
    "n)\n"                                                                                       \
    "{\n    const int i = blockIdx.x * blockDim.x + threadIdx.x;\n"                              \
    "    if (i < n)\n        y[i] = part[i] + (float)(*count - n);\n}\n"

static const char honest[] = HEAD "    if (i < n) {\n        part[i] = a[i] + b[i];\n"
                                  "        atomicAdd(count, 1);\n    }\n" TAIL;

typedef struct desk {
    runner_proc *runner;
    contract *terms;
    contract_shape shape;
    judge_staging staging;
    judge_span inputs[2], outputs[1];
    float *memory;
    runner_verdict verdict;
} desk;

static void desk_fini(desk *self)
{
    runner_proc_destroy(&self->runner);
    contract_destroy(&self->terms);
    munmap(self->memory, STAGING);
    shm_unlink(self->staging.shm);
}

static void make_staging(desk *d)
{
    snprintf(d->staging.shm, sizeof d->staging.shm, "/ce-test-emu-%d", (int)getpid());
    shm_unlink(d->staging.shm);
    SCOPED(scoped_close) int fd = shm_open(d->staging.shm, O_RDWR | O_CREAT | O_EXCL, 0600);
    assert_true(fd >= 0);
    assert_int_equal(ftruncate(fd, STAGING), 0);
    d->memory = mmap(NULL, STAGING, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    assert_true(d->memory != MAP_FAILED);
    const int64_t bytes = N * (int64_t)sizeof(float);
    d->inputs[0] = (judge_span){0, bytes};
    d->inputs[1] = (judge_span){SPAN, bytes};
    d->outputs[0] = (judge_span){2 * SPAN, bytes};
    d->staging.inputs = d->inputs;
    d->staging.input_count = 2;
    d->staging.outputs = d->outputs;
    d->staging.output_count = 1;
    d->staging.slots = 1;
    d->staging.total_bytes = STAGING;
    for (int i = 0; i < N; i++) {
        d->memory[i] = (float)i;
        d->memory[SPAN / sizeof(float) + (size_t)i] = 0.5f;
    }
}

/* A runner with this source loaded; the verdict of loading is in d->verdict. */
static void open_desk(desk *d, const char *source)
{
    static char name[] = "first";
    err e = {0};
    SCOPED(scoped_free) char *ptx = rig_compile(source);
    *d = (desk){.shape = {{N}}};
    d->terms = contract_parse(terms_text, strlen(terms_text), "test", &e);
    if (d->terms == NULL)
        fail_msg("%s", e.text);
    make_staging(d);
    const runner_options options = {.binary = CE_BINARY_DIR "/bin/ce-runner", .device = "emu"};
    d->runner = runner_proc_start(&options, &e);
    if (d->runner == NULL)
        fail_msg("%s", e.text);
    const compile_kernel known = {.name = name, .registers = 24};
    const runner_candidate loaded = {.cubin = ptx,
                                     .cubin_size = strlen(ptx),
                                     .contract = terms_text,
                                     .plan = plan_text,
                                     .kernels = &known,
                                     .kernel_count = 1};
    if (runner_proc_load(d->runner, &loaded, &d->verdict, &e) < 0)
        fail_msg("%s", e.text);
}

static void check(desk *d, int64_t deadline_ms)
{
    err e = {0};
    const runner_check request = {.terms = d->terms,
                                  .shape = &d->shape,
                                  .staging = &d->staging,
                                  .salt = 7,
                                  .deadline_ms = deadline_ms};
    if (runner_proc_check(d->runner, &request, &d->verdict, &e) < 0)
        fail_msg("%s", e.text);
}

static void a_plan_runs_and_its_outputs_are_in_staging(void **state)
{
    (void)state;
    SCOPED(desk_fini) desk d;
    open_desk(&d, honest);
    assert_string_equal(runner_proc_facts(d.runner)->kind, "emu");
    assert_string_equal(runner_proc_facts(d.runner)->name, "ce emulator");
    assert_string_equal(runner_proc_facts(d.runner)->arch, "sm_80");
    for (int round = 0; round < 2; round++) { /* the second with inputs that are read-only */
        memset(d.memory + 2 * SPAN / sizeof(float), 0, SPAN);
        check(&d, 10000);
        if (!verdict_is_ok(&d.verdict))
            fail_msg("%s", d.verdict.text);
        for (int i = 0; i < N; i++)
            assert_true(d.memory[2 * SPAN / sizeof(float) + (size_t)i] == (float)i + 0.5f);
    }
}

static void executing_needs_no_cuda_library(void **state)
{
    (void)state;
    SCOPED(desk_fini) desk d;
    open_desk(&d, honest);
    check(&d, 10000);
    char children[64] = "", path[96], line[512];
    FILE *list = fopen("/proc/thread-self/children", "r");
    if (list == NULL)
        skip(); /* a kernel without the list */
    assert_non_null(fgets(children, sizeof children, list));
    fclose(list);
    snprintf(path, sizeof path, "/proc/%ld/maps", strtol(children, NULL, 10));
    SCOPED(scoped_fclose) FILE *maps = fopen(path, "r");
    assert_non_null(maps);
    bool is_runner = false;
    while (fgets(line, sizeof line, maps) != NULL) {
        is_runner |= strstr(line, "/ce-runner") != NULL;
        if (strstr(line, "libcuda") != NULL || strstr(line, "libnv") != NULL)
            fail_msg("%s", line);
    }
    assert_true(is_runner);
}

static void what_was_counted_comes_with_the_answer(void **state)
{
    (void)state;
    SCOPED(desk_fini) desk d;
    open_desk(&d, honest);
    assert_null(runner_proc_modelled(d.runner)); /* nothing has run */
    check(&d, 10000);
    const char *text = runner_proc_modelled(d.runner);
    assert_non_null(text);
    SCOPED(json_destroy) json *tree = json_parse_tree(text, strlen(text), "counters", NULL);
    const json *launches = json_get(tree, "launches");
    assert_int_equal(json_size(launches), 2);
    assert_string_equal(json_str(json_get(json_at(launches, 0), "kernel"), ""), "first");
    assert_string_equal(json_str(json_get(json_at(launches, 1), "kernel"), ""), "second");
    const json *classes = json_get(json_at(launches, 0), "thread_instructions");
    assert_int_equal(json_int(json_get(classes, "atomic"), 0), N);
    assert_int_equal(json_int(json_get(json_at(launches, 0), "registers"), 0), 24);
    assert_int_equal(json_typeof(json_get(json_at(launches, 1), "registers")), JSON_TYPE_NULL);
}

static void expect(const char *source, outcome result, const char *detail, const char *says)
{
    SCOPED(desk_fini) desk d;
    open_desk(&d, source);
    if (verdict_is_ok(&d.verdict))
        check(&d, result == OUTCOME_HUNG ? 200 : 10000);
    if (d.verdict.result != result || strcmp(d.verdict.detail, detail) != 0 ||
        strstr(d.verdict.text, says) == NULL)
        fail_msg("%s(%s): %s", outcome_name(d.verdict.result), d.verdict.detail, d.verdict.text);
}

static void faults_become_verdicts(void **state)
{
    (void)state;
    expect(HEAD "    part[i] = a[i] + b[i];\n    atomicAdd(count, 1);\n" TAIL,
           OUTCOME_OUT_OF_BOUNDS, "read", "/kernels/0: first (kernel.cu:4)");
    expect(HEAD "    if (i < n)\n        const_cast<float *>(a)[i] = 0.0f;\n" TAIL,
           OUTCOME_OUT_OF_BOUNDS, "input", "a[0]");
    expect(HEAD "    if (i < n - 1)\n        part[i] = a[i];\n" TAIL, OUTCOME_UNINITIALISED, "",
           "scratch 0, which nothing has written");
    expect(HEAD "    if (i < n)\n        part[i] = a[i];\n    *count = i;\n" TAIL, OUTCOME_RACE,
           "global", "scratch 1");
    expect(HEAD "    if (i == 3)\n        __trap();\n" TAIL, OUTCOME_CRASHED, "trap",
           "thread (3,0,0)");
    expect(HEAD "    while (a[0] >= 0.0f)\n        atomicAdd(count, 1);\n" TAIL, OUTCOME_HUNG, "",
           "the deadline");
    expect(HEAD "    asm volatile(\"mbarrier.init.shared.b64 [%0], 1;\" ::\"r\"(i));\n" TAIL,
           OUTCOME_UNSUPPORTED_ON_EMU, "", "mbarrier.init.shared.b64");
}

static void a_plan_that_does_not_fit_the_kernel_is_the_plans_fault(void **state)
{
    (void)state;
    expect("extern \"C\" __global__ void first(const float *a)\n{\n" TAIL, OUTCOME_PLAN_INVALID,
           "/kernels/0/args", "takes 1 arguments, 5 are given");
    expect("extern \"C\" __global__ void first(const float *a, const float *b, float *part, int "
           "*count, "
           "double n)\n{\n" TAIL,
           OUTCOME_PLAN_INVALID, "/kernels/0/args/4", "argument 4 has 8 bytes");
    expect("extern \"C\" __global__ void other()\n{\n" TAIL, OUTCOME_LAUNCH_FAILED, "entry",
           "no such kernel");
}

static void a_module_that_is_no_ptx_says_so(void **state)
{
    (void)state;
    err e = {0};
    gpu *device = gpu_open(&(gpu_options){.device = "emu"}, &e);
    runner_verdict v;
    verdict_ok(&v);
    assert_int_equal(device->ops->load(device, "hello", 5, &v, &e), 0);
    assert_int_equal(v.result, OUTCOME_UNSUPPORTED_ON_EMU);
    assert_string_equal(v.detail, "ptx");
    gpu_close(&device);
}

static void there_are_no_times(void **state)
{
    (void)state;
    err e = {0};
    gpu *device = gpu_open(&(gpu_options){.device = "emu"}, &e);
    runner_verdict v;
    assert_int_equal(device->ops->arm(device, NULL, NULL, &v, &e), -1);
    assert_int_equal(e.code, ERR_UNAVAILABLE);
    assert_non_null(strstr(e.text, "not measured on emu"));
    gpu_close(&device);
}

static void staging_is_found_by_name(void **state)
{
    (void)state;
    err e = {0};
    uint64_t base = 0;
    gpu *device = gpu_open(&(gpu_options){.device = "emu"}, &e);
    const gpu_staging none = {.shm = "/ce-test-no-such-memory"};
    const uint8_t handle[64] = {0};
    const gpu_staging cuda = {.handle = handle};
    assert_int_equal(device->ops->attach(device, &none, &base, &e), -1);
    assert_int_equal(e.code, ERR_NOT_FOUND);
    assert_int_equal(device->ops->attach(device, &cuda, &base, &e), -1);
    assert_int_equal(device->ops->detach(device, 4096, &e), -1);
    gpu_close(&device);
}

static void a_checksum_sees_every_byte_and_its_place(void **state)
{
    (void)state;
    err e = {0};
    gpu *device = gpu_open(&(gpu_options){.device = "emu"}, &e);
    uint8_t bytes[37] = {1, 2, 3};
    uint64_t first = 0, other = 0;
    const uint64_t at = (uint64_t)(uintptr_t)bytes;
    assert_int_equal(device->ops->sum(device, at, sizeof bytes, 5, &first, &e), 0);
    for (size_t i = 0; i < sizeof bytes; i++) {
        bytes[i] ^= 1;
        assert_int_equal(device->ops->sum(device, at, sizeof bytes, 5, &other, &e), 0);
        assert_true(other != first);
        bytes[i] ^= 1;
    }
    assert_int_equal(device->ops->sum(device, at, sizeof bytes, 6, &other, &e), 0);
    assert_true(other != first);
    gpu_close(&device);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_plan_runs_and_its_outputs_are_in_staging),
        cmocka_unit_test(executing_needs_no_cuda_library),
        cmocka_unit_test(what_was_counted_comes_with_the_answer),
        cmocka_unit_test(faults_become_verdicts),
        cmocka_unit_test(a_plan_that_does_not_fit_the_kernel_is_the_plans_fault),
        cmocka_unit_test(a_module_that_is_no_ptx_says_so),
        cmocka_unit_test(there_are_no_times),
        cmocka_unit_test(staging_is_found_by_name),
        cmocka_unit_test(a_checksum_sees_every_byte_and_its_place),
    };
    if (!rig_have_nvrtc())
        return 77;
    return cmocka_run_group_tests_name("the emulator behind the runner", tests, NULL, NULL);
}
