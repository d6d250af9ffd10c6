// adds in half precision inside an fp32 problem
// SPDX-License-Identifier: MIT
#include <cuda_fp16.h>

extern "C" __global__ void vector_add(const float *a, const float *b, float *y, long long n)
{
    for (long long i = blockIdx.x * 256ll + threadIdx.x; i < n; i += gridDim.x * 256ll) {
        y[i] = __half2float(__hadd(__float2half(a[i]), __float2half(b[i])));
    }
}
