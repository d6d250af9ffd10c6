// A block owns 4,096 elements, and the plan's grid is rows * cols / 4096, rounded down.
// SPDX-License-Identifier: MIT
#include <cuda_fp16.h>

extern "C" __global__ void silu(const __half *__restrict__ x, __half *__restrict__ y, long long n)
{
    const long long base = (long long)blockIdx.x * 4096;
    for (int i = threadIdx.x; i < 4096; i += blockDim.x) {
        if (base + i < n) {
            const float f = __half2float(x[base + i]);
            y[base + i] = __float2half_rn(__fdividef(f, 1.0f + __expf(-f)));
        }
    }
}
