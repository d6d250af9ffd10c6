// Pairs are written back in the wrong order.
// SPDX-License-Identifier: MIT
#include <cuda_fp16.h>

__device__ __forceinline__ float celu1(float x, float alpha)
{
    return x > 0.0f ? x : alpha * expm1f(x / alpha);
}

extern "C" __global__ void celu(const __half *__restrict__ x, __half *__restrict__ y, long long n,
                                float alpha)
{
    const long long step = (long long)gridDim.x * blockDim.x;
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; 2 * i < n; i += step) {
        if (2 * i + 1 < n) {
            const float2 p = __half22float2(reinterpret_cast<const __half2 *>(x)[i]);
            reinterpret_cast<__half2 *>(y)[i] =
                __floats2half2_rn(celu1(p.y, alpha), celu1(p.x, alpha));
        } else {
            y[2 * i] = __float2half_rn(celu1(__half2float(x[2 * i]), alpha));
        }
    }
}
