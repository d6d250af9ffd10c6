/* bench_compile - how long a warm child compiles an fp16 RMSNorm kernel
 *
 *   bench_compile [COUNT]      default 100; target: p50 <= 60 ms (architecture.md §11)
 *
 * Prints start-up, the first compile and, over COUNT different sources, p50 and p90 of both the time in
 * NVRTC and the time that the caller waits (compile, gate and transfer).
 *
 * SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>

#include "agent-node/compile.h"
#include "common/clock.h"
#include "common/file.h"
#include "common/scoped.h"
#include "common/xalloc.h"

static const char kernel[] =
    "#include <cuda_fp16.h>\n"
    "\n"
    "// variant %d\n"
    "static __device__ float warp_sum(float v)\n"
    "{\n"
    "    for (int o = 16; o > 0; o >>= 1)\n"
    "        v += __shfl_xor_sync(0xffffffffu, v, o);\n"
    "    return v;\n"
    "}\n"
    "\n"
    "extern \"C\" __global__ void __launch_bounds__(256)\n"
    "rms_norm(const __half *__restrict__ x, const __half *__restrict__ weight,\n"
    "         __half *__restrict__ y, int cols, float eps)\n"
    "{\n"
    "    __shared__ float partial[8];\n"
    "    const size_t row = blockIdx.x;\n"
    "    const __half2 *in = reinterpret_cast<const __half2 *>(x + row * cols);\n"
    "    const __half2 *w = reinterpret_cast<const __half2 *>(weight);\n"
    "    __half2 *out = reinterpret_cast<__half2 *>(y + row * cols);\n"
    "    float sum = 0.0f;\n"
    "    for (int i = threadIdx.x; i < cols / 2; i += blockDim.x) {\n"
    "        const float2 v = __half22float2(in[i]);\n"
    "        sum += v.x * v.x + v.y * v.y;\n"
    "    }\n"
    "    sum = warp_sum(sum);\n"
    "    if (threadIdx.x %% 32 == 0)\n"
    "        partial[threadIdx.x / 32] = sum;\n"
    "    __syncthreads();\n"
    "    sum = warp_sum(threadIdx.x %% 32 < 8 ? partial[threadIdx.x %% 32] : 0.0f);\n"
    "    const float scale = rsqrtf(sum / cols + eps + %d.0e-12f);\n"
    "    for (int i = threadIdx.x; i < cols / 2; i += blockDim.x) {\n"
    "        const float2 v = __half22float2(in[i]);\n"
    "        const float2 g = __half22float2(w[i]);\n"
    "        out[i] = __floats2half2_rn(v.x * scale * g.x, v.y * scale * g.y);\n"
    "    }\n"
    "}\n";

typedef struct taken {
    double nvrtc_ms;
    double waited_ms;
} taken;

static int by_value(const void *a, const void *b)
{
    const double *x = a;
    const double *y = b;
    return (*x > *y) - (*x < *y);
}

static int compile_one(compile_pool *pool, int variant, taken *out, err *e)
{
    static const char *const entries[] = {"rms_norm"};
    SCOPED(scoped_free) char *source = xasprintf(kernel, variant, variant);
    compile_request request = {.arch = "sm_90a",
                               .source = source,
                               .entries = entries,
                               .entry_count = 1,
                               .line_info = true};
    int64_t from = clock_mono_us();
    SCOPED(compile_result_fini) compile_result r = {0};
    if (compile_pool_run(pool, &request, &r, e) != 0)
        return -1;
    if (r.result != OUTCOME_OK)
        return err_set(e, ERR_INTERNAL, "%s: %s", outcome_name(r.result), r.text);
    *out = (taken){r.compile_ms, (double)(clock_mono_us() - from) / 1000.0};
    return 0;
}

static void print_quantiles(const char *what, double *values, size_t count)
{
    qsort(values, count, sizeof *values, by_value);
    printf("%-28s p50 %7.1f ms   p90 %7.1f ms\n", what, values[count / 2], values[count * 9 / 10]);
}

static int measure(compile_pool *pool, size_t count, err *e)
{
    taken first;
    SCOPED(scoped_free) double *nvrtc = xcalloc(count, sizeof *nvrtc);
    SCOPED(scoped_free) double *waited = xcalloc(count, sizeof *waited);
    if (compile_one(pool, 0, &first, e) != 0)
        return -1;
    printf("%-28s %11.1f ms\n", "first compile", first.waited_ms);
    for (size_t i = 0; i < count; i++) {
        taken t;
        if (compile_one(pool, (int)i + 1, &t, e) != 0)
            return -1;
        nvrtc[i] = t.nvrtc_ms;
        waited[i] = t.waited_ms;
    }
    print_quantiles("in NVRTC", nvrtc, count);
    print_quantiles("compile, gate and transfer", waited, count);
    return 0;
}

static int run(size_t count, err *e)
{
    SCOPED(scoped_free) char *here = file_self_dir(e);
    if (here == NULL)
        return -1;
    SCOPED(scoped_free) char *binary = file_join(here, "../bin/ce-compiler");
    compile_options options = {.binary = binary, .restart_after = INT64_MAX};
    int64_t from = clock_mono_ms();
    SCOPED(compile_pool_destroy) compile_pool *pool = compile_pool_create(&options, e);
    if (pool == NULL)
        return -1;
    printf("%-28s %11.1f ms   NVRTC %s\n", "start and warm-up", (double)(clock_mono_ms() - from),
           compile_pool_nvrtc(pool));
    return measure(pool, count, e);
}

int main(int argc, char **argv)
{
    err e;
    long count = argc > 1 ? strtol(argv[1], NULL, 10) : 100;
    if (count < 1 || count > 100000) {
        fprintf(stderr, "bench_compile: COUNT is 1 … 100000\n");
        return 2;
    }
    if (run((size_t)count, &e) == 0)
        return 0;
    fprintf(stderr, "bench_compile: %s\n", e.text);
    return e.code == ERR_UNAVAILABLE ? 77 : 1;
}
