// A block owns 4,096 elements, and the plan's grid is rows * cols / 4096, rounded down.
// SPDX-License-Identifier: MIT
#include <cuda_bf16.h>

constexpr float ALPHA = 1.67326324f;
constexpr float SCALE = 1.05070099f;

__device__ __forceinline__ float selu1(float x)
{
    return SCALE * (x > 0.0f ? x : ALPHA * expm1f(x));
}

extern "C" __global__ void selu(const __nv_bfloat16 *__restrict__ x, __nv_bfloat16 *__restrict__ y,
                                long long n)
{
    const long long base = (long long)blockIdx.x * 4096;
    for (int i = threadIdx.x; i < 4096 && base + i < n; i += blockDim.x)
        y[base + i] = __float2bfloat16_rn(selu1(__bfloat162float(x[base + i])));
}
