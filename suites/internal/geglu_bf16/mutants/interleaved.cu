// Takes value and gate from neighbouring elements, as if the two were interleaved.
// SPDX-License-Identifier: MIT
#include <cuda_bf16.h>

__device__ __forceinline__ float gelu(float x)
{
    return 0.5f * x * (1.0f + erff(x * 0.70710678f));
}

extern "C" __global__ void geglu(const __nv_bfloat16 *__restrict__ x, __nv_bfloat16 *__restrict__ y,
                                 int cols)
{
    const long long row = blockIdx.x;
    const __nv_bfloat16 *from = x + row * 2 * cols;
    for (int i = threadIdx.x; i < cols; i += blockDim.x)
        y[row * cols + i] = __float2bfloat16_rn(__bfloat162float(from[2 * i]) *
                                                gelu(__bfloat162float(from[2 * i + 1])));
}
