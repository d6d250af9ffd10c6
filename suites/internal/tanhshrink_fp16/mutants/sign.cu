// The difference is taken the wrong way round.
// SPDX-License-Identifier: MIT
#include <cuda_fp16.h>

extern "C" __global__ void tanh_shrink(const __half *__restrict__ x, __half *__restrict__ y,
                                       long long n)
{
    const long long step = (long long)gridDim.x * blockDim.x;
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step)
        y[i] = __float2half_rn(tanhf(__half2float(x[i])) - __half2float(x[i]));
}
