// fmaxf and fminf take the other operand for a NaN, so NaN becomes lo.
// SPDX-License-Identifier: MIT
#include <cuda_fp16.h>

extern "C" __global__ void clamp_range(const __half *__restrict__ x, __half *__restrict__ y,
                                       long long n, float lo, float hi)
{
    const long long step = (long long)gridDim.x * blockDim.x;
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step)
        y[i] = __float2half_rn(fminf(fmaxf(__half2float(x[i]), lo), hi));
}
