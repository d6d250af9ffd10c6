// The two constants have each other's values.
// SPDX-License-Identifier: MIT
#include <cuda_bf16.h>

constexpr float ALPHA = 1.05070099f;
constexpr float SCALE = 1.67326324f;

__device__ __forceinline__ float selu1(float x)
{
    return SCALE * (x > 0.0f ? x : ALPHA * expm1f(x));
}

extern "C" __global__ void selu(const __nv_bfloat16 *__restrict__ x, __nv_bfloat16 *__restrict__ y,
                                long long n)
{
    const long long step = (long long)gridDim.x * blockDim.x;
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step)
        y[i] = __float2bfloat16_rn(selu1(__bfloat162float(x[i])));
}
