// ELU: x is not divided by alpha before the exponential.
// SPDX-License-Identifier: MIT
#include <cuda_fp16.h>

extern "C" __global__ void celu(const __half *__restrict__ x, __half *__restrict__ y, long long n,
                                float alpha)
{
    const long long step = (long long)gridDim.x * blockDim.x;
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step)
        y[i] = __float2half_rn(__half2float(x[i]) > 0.0f ? __half2float(x[i])
                                                         : alpha * expm1f(__half2float(x[i])));
}
