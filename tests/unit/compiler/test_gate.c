/* The eligibility gate over tests/data/gate: every file says in its first line what must become of it.
 *
 * SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent-node/compiler/build.h"
#include "common/file.h"
#include "common/outcome.h"
#include "common/scoped.h"
#include "common/str.h"
#include "common/xalloc.h"

static builder tool;
static include_set headers;

static int open_tool(void **state)
{
    (void)state;
    err e;
    nvrtc_options options = {.path = NULL};
    tool.compiler = nvrtc_open(&options, &e);
    if (tool.compiler == NULL ||
        include_find(NULL, 0, nvrtc_path(tool.compiler), &headers, &e) != 0) {
        printf("skipped: %s\n", e.text);
        exit(77);
    }
    tool.headers = &headers;
    return 0;
}

static int close_tool(void **state)
{
    (void)state;
    include_fini(&headers);
    nvrtc_close(&tool.compiler);
    return 0;
}

static void compile(const char *arch, const char *source, const char *entry, message *answer)
{
    err e = {.text = ""};
    struct row_entry row = {.name = (char *)(uintptr_t)entry};
    struct msg_compile job = {.arch = (char *)(uintptr_t)arch,
                              .line_info = true,
                              .source = (char *)(uintptr_t)source,
                              .entries = &row,
                              .entries_count = 1};
    message_init(answer, MSG_COMPILED);
    int rc = build_run(&tool, &job, &answer->body.compiled, &e);
    if (rc != 0)
        fail_msg("%s: %s", arch, e.text);
}

static char *first_line(const char *source)
{
    const char *end = strchr(source, '\n');
    assert_non_null(end);
    assert_memory_equal(source, "// ", 3);
    return xstrndup(source + 3, (size_t)(end - source) - 3);
}

/* expectation holds: "pass", "compile_failed", or a rule of the gate. */
static bool holds(const char *expected, const struct msg_compiled *m)
{
    if (strcmp(expected, "pass") == 0)
        return m->outcome == OUTCOME_OK;
    if (strcmp(expected, "compile_failed") == 0)
        return m->outcome == OUTCOME_COMPILE_FAILED;
    return m->outcome == OUTCOME_REJECTED && strcmp(m->detail, expected) == 0;
}

/* Numbers that only machine code has. */
static bool needs_machine_code(const char *expected)
{
    return strcmp(expected, "resources") == 0;
}

/* Bulk copies exist from sm_90 on. */
static bool compiles_for(const char *arch, const char *source)
{
    return strstr(source, "cp.async.bulk") == NULL || strcmp(arch, "sm_90a") == 0;
}

static size_t check_file(const char *path, const char *arch)
{
    err e;
    SCOPED(buf_fini) buf text;
    buf_init(&text, 1 << 20);
    assert_int_equal(file_read(path, &text, &e), 0);
    SCOPED(scoped_free) char *expected = first_line(text.data);
    bool ptx_only = str_starts(arch, "compute_");
    if ((ptx_only && needs_machine_code(expected)) || !compiles_for(arch, text.data))
        return 0;
    SCOPED(message_fini) message answer;
    compile(arch, text.data, "k", &answer);
    const struct msg_compiled *m = &answer.body.compiled;
    if (!holds(expected, m)) {
        print_error("%s on %s: expected %s, got %s(%s): %s\n%s\n", path, arch, expected,
                    outcome_name((outcome)m->outcome), m->detail, m->text, m->log);
        return 1;
    }
    return 0;
}

static void check_folder(const char *folder, const char *arch, size_t least)
{
    struct dirent **entries = NULL;
    size_t seen = 0;
    size_t wrong = 0;
    int count = scandir(folder, &entries, NULL, alphasort);
    assert_true(count > 0);
    for (int i = 0; i < count; i++) {
        if (str_ends(entries[i]->d_name, ".cu")) {
            SCOPED(scoped_free) char *path = file_join(folder, entries[i]->d_name);
            wrong += check_file(path, arch);
            seen++;
        }
        free(entries[i]);
    }
    free(entries);
    assert_int_equal(wrong, 0);
    assert_true(seen >= least);
}

static const char pass_folder[] = CE_SOURCE_DIR "/tests/data/gate/pass";
static const char reject_folder[] = CE_SOURCE_DIR "/tests/data/gate/reject";

static void honest_kernels_pass_on_sm_90a(void **state)
{
    (void)state;
    check_folder(pass_folder, "sm_90a", 15);
}

static void honest_kernels_pass_on_sm_80(void **state)
{
    (void)state;
    check_folder(pass_folder, "sm_80", 15);
}

static void honest_kernels_pass_as_ptx(void **state)
{
    (void)state;
    check_folder(pass_folder, "compute_80", 15);
}

static void others_are_rejected_on_sm_90a(void **state)
{
    (void)state;
    check_folder(reject_folder, "sm_90a", 25);
}

static void others_are_rejected_on_sm_80(void **state)
{
    (void)state;
    check_folder(reject_folder, "sm_80", 25);
}

static void others_are_rejected_as_ptx(void **state)
{
    (void)state;
    check_folder(reject_folder, "compute_80", 25);
}

static void a_rejection_names_variable_and_source_line(void **state)
{
    (void)state;
    SCOPED(message_fini) message answer;
    compile("sm_90a",
            "__device__ int counter;\n"
            "extern \"C\" __global__ void k(int *y)\n"
            "{\n"
            "    counter = y[0];\n"
            "}\n",
            "k", &answer);
    assert_string_equal(answer.body.compiled.detail, "global_written");
    assert_non_null(strstr(answer.body.compiled.text, "kernel.cu:4: "));
    assert_non_null(strstr(answer.body.compiled.text, "variable counter is written"));
    assert_int_equal(answer.body.compiled.cubin.size, 0);
    assert_int_equal(answer.body.compiled.ptx.size, 0);
}

/* ptxas allows what the device has; the driver launches it (seen on sm_90). */
static void hopper_may_have_more_than_48_kib_of_static_shared_memory(void **state)
{
    (void)state;
    SCOPED(message_fini) message answer;
    compile("sm_90a",
            "extern \"C\" __global__ void k(float *y)\n{\n    __shared__ float s[20000];\n"
            "    s[threadIdx.x] = y[threadIdx.x];\n    __syncthreads();\n"
            "    y[threadIdx.x] = s[19999 - threadIdx.x];\n}\n",
            "k", &answer);
    assert_int_equal(answer.body.compiled.outcome, OUTCOME_OK);
    assert_in_range(answer.body.compiled.kernels[0].shared_bytes, 80000, 81024);
}

static void a_mangled_kernel_gets_the_advice_that_repairs_it(void **state)
{
    (void)state;
    SCOPED(message_fini) message answer;
    compile("sm_90a", "__global__ void k(float *y) { y[0] = 1; }\n", "k", &answer);
    assert_non_null(strstr(answer.body.compiled.text, "extern \"C\""));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(honest_kernels_pass_on_sm_90a),
        cmocka_unit_test(honest_kernels_pass_on_sm_80),
        cmocka_unit_test(honest_kernels_pass_as_ptx),
        cmocka_unit_test(others_are_rejected_on_sm_90a),
        cmocka_unit_test(others_are_rejected_on_sm_80),
        cmocka_unit_test(others_are_rejected_as_ptx),
        cmocka_unit_test(a_rejection_names_variable_and_source_line),
        cmocka_unit_test(hopper_may_have_more_than_48_kib_of_static_shared_memory),
        cmocka_unit_test(a_mangled_kernel_gets_the_advice_that_repairs_it),
    };
    return cmocka_run_group_tests_name("gate", tests, open_tool, close_tool);
}
