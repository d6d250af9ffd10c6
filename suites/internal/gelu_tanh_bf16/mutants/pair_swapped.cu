// Pairs are written back in the wrong order.
// SPDX-License-Identifier: MIT
#include <cuda_bf16.h>

__device__ __forceinline__ float gelu1(float x)
{
    const float u = 0.7978845608f * (x + 0.044715f * x * x * x);
    return 0.5f * x * (1.0f + tanhf(u));
}

extern "C" __global__ void gelu(const __nv_bfloat16 *__restrict__ x, __nv_bfloat16 *__restrict__ y,
                                long long n)
{
    const long long step = (long long)gridDim.x * blockDim.x;
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; 2 * i < n; i += step) {
        if (2 * i + 1 < n) {
            const float2 p = __bfloat1622float2(reinterpret_cast<const __nv_bfloat162 *>(x)[i]);
            reinterpret_cast<__nv_bfloat162 *>(y)[i] =
                __floats2bfloat162_rn(gelu1(p.y), gelu1(p.x));
        } else {
            y[2 * i] = __float2bfloat16_rn(gelu1(__bfloat162float(x[2 * i])));
        }
    }
}
