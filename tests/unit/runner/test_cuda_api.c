/* test_cuda_api - the table of driver symbols
 *
 * The types of the table are compared with cuda.h, which declares the versioned names in this mode.
 *
 * SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#define __CUDA_API_VERSION_INTERNAL
#include <cuda.h>

#include <stdlib.h>
#include <string.h>
#include <stdio.h>
#include <unistd.h>

#include "agent-node/runner/timing/cuda_api.h"
#include "mock_rig.h"

#define GPU_SYM(need, member, symbol, args)                                                     \
    _Static_assert(                                                                             \
        __builtin_types_compatible_p(__typeof__(&symbol), __typeof__(((cuda_api *)0)->member)), \
        #symbol " has another type in cuda.h");
#include "agent-node/runner/gpu_syms.def"
#undef GPU_SYM

/* Names that cuda.h renames when it is not in this mode; what we bind must not be what it makes. */
static void names_are_pinned_not_renamed(void **state)
{
    (void)state;
    static const char *const names[] = {
#define GPU_SYM(need, member, symbol, args) #symbol,
#include "agent-node/runner/gpu_syms.def"
#undef GPU_SYM
    };
    static const char *const wanted[] = {"cuMemAlloc_v2",      "cuCtxCreate_v2",
                                         "cuEventElapsedTime", "cuIpcOpenMemHandle_v2",
                                         "cuDeviceGetUuid",    "cuStreamBeginCapture_v2"};
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        size_t found = 0;
        for (size_t k = 0; k < sizeof names / sizeof *names; k++)
            found += strcmp(names[k], wanted[i]) == 0;
        assert_int_equal(found, 1);
    }
}

static void every_symbol_is_bound(void **state)
{
    (void)state;
    cuda_api api;
    char why[200] = "";
    assert_true(cuda_api_open(&api, why, sizeof why));
#define GPU_SYM(need, member, symbol, args) assert_non_null((void *)(uintptr_t)api.member);
#include "agent-node/runner/gpu_syms.def"
#undef GPU_SYM
    char text[200];
    cuda_api_explain(&api, CUDA_ERROR_OUT_OF_MEMORY, text, sizeof text);
    assert_non_null(strstr(text, "CUDA_ERROR_OUT_OF_MEMORY (2)"));
    cuda_api_close(&api);
    assert_null(api.library);
    cuda_api_close(&api);
}

/* probe_with runs ce-runner --probe with another library path and gives its line. */
static void probe_with(const char *folder, char *line, size_t size)
{
    setenv("LD_LIBRARY_PATH", folder, 1);
    FILE *out = popen(CE_BINARY_DIR "/bin/ce-runner --probe", "r");
    assert_non_null(out);
    assert_non_null(fgets(line, (int)size, out));
    assert_int_equal(pclose(out), 0);
    setenv("LD_LIBRARY_PATH", CE_BINARY_DIR "/tests/mock_cuda", 1);
}

static void a_driver_without_a_symbol_is_too_old(void **state)
{
    (void)state;
    char line[4096];
    probe_with(CE_BINARY_DIR "/tests/mock_cuda_old", line, sizeof line);
    assert_non_null(strstr(line, "the NVIDIA driver is too old: libcuda.so.1 has no cuInit"));
}

static void a_broken_library_is_no_driver(void **state)
{
    (void)state;
    char line[4096];
    char folder[] = "/tmp/ce-nodriver-XXXXXX";
    char path[64];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/libcuda.so.1", folder);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs("no ELF file", f);
    fclose(f);
    probe_with(folder, line, sizeof line);
    assert_non_null(strstr(line, "no NVIDIA driver: "));
    unlink(path);
    rmdir(folder);
}

int main(int argc, char **argv)
{
    (void)argc;
    mock_rig_enter(argv);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_pinned_not_renamed),
        cmocka_unit_test(every_symbol_is_bound),
        cmocka_unit_test(a_driver_without_a_symbol_is_too_old),
        cmocka_unit_test(a_broken_library_is_no_driver),
    };
    return cmocka_run_group_tests_name("cuda_api", tests, NULL, NULL);
}
