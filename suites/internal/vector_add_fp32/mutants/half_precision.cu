// Adds in half precision, "because it is faster".
// SPDX-License-Identifier: MIT
#include <cuda_fp16.h>

extern "C" __global__ void vector_add(const float *__restrict__ a, const float *__restrict__ b,
                                      float *__restrict__ y, long long n)
{
    const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = __half2float(__hadd(__float2half_rn(a[i]), __float2half_rn(b[i])));
}
