// The sigmoid is kept in bfloat16 before it is multiplied: 8 bits where fp16 has 11.
// SPDX-License-Identifier: MIT
#include <cuda_bf16.h>
#include <cuda_fp16.h>

extern "C" __global__ void silu(const __half *__restrict__ x, __half *__restrict__ y, long long n)
{
    const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    const float f = __half2float(x[i]);
    const __nv_bfloat16 gate = __float2bfloat16_rn(1.0f / (1.0f + __expf(-f)));
    y[i] = __float2half_rn(f * __bfloat162float(gate));
}
