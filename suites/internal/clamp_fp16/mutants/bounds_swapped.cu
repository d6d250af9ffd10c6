// Nothing is wrong with the kernel; its plan passes the bounds in the wrong order.
// SPDX-License-Identifier: MIT
#include <cuda_fp16.h>

__device__ __forceinline__ float clamp1(float x, float lo, float hi)
{
    return x < lo ? lo : x > hi ? hi : x; // NaN is neither and stays
}

extern "C" __global__ void clamp_range(const __half *__restrict__ x, __half *__restrict__ y,
                                       long long n, float lo, float hi)
{
    const long long step = (long long)gridDim.x * blockDim.x;
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step)
        y[i] = __float2half_rn(clamp1(__half2float(x[i]), lo, hi));
}
