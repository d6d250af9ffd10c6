// fmaxf takes the other operand for a NaN, so NaN becomes 0.
// SPDX-License-Identifier: MIT
#include <cuda_bf16.h>

extern "C" __global__ void relu_bias(const __nv_bfloat16 *__restrict__ x,
                                     const __nv_bfloat16 *__restrict__ bias,
                                     __nv_bfloat16 *__restrict__ y, int cols)
{
    const long long row = blockIdx.x;
    for (int i = threadIdx.x; i < cols; i += blockDim.x)
        y[row * cols + i] = __float2bfloat16_rn(
            fmaxf(__bfloat162float(x[row * cols + i]) + __bfloat162float(bias[i]), 0.0f));
}
