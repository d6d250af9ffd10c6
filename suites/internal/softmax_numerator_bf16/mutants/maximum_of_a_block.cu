// Each thread looks at one element for the maximum: columns behind the block's size are left out.
// SPDX-License-Identifier: MIT
#include <cuda_bf16.h>

// Every thread gets the block's maximum.
__device__ __forceinline__ float block_max(float value)
{
    __shared__ float parts[8];
    for (int offset = 16; offset > 0; offset /= 2)
        value = fmaxf(value, __shfl_xor_sync(0xffffffffu, value, offset));
    if (threadIdx.x % 32 == 0)
        parts[threadIdx.x / 32] = value;
    __syncthreads();
    for (int i = 0; i < 8; i++)
        value = fmaxf(value, parts[i]);
    return value;
}

extern "C" __global__ void numerator(const __nv_bfloat16 *__restrict__ x,
                                     __nv_bfloat16 *__restrict__ y, int cols)
{
    const __nv_bfloat16 *from = x + (long long)blockIdx.x * cols;
    __nv_bfloat16 *to = y + (long long)blockIdx.x * cols;
    float top = __int_as_float(0xff800000);
    if ((int)threadIdx.x < cols)
        top = __bfloat162float(from[threadIdx.x]);
    top = block_max(top);
    for (int i = threadIdx.x; i < cols; i += blockDim.x)
        to[i] = __float2bfloat16_rn(__expf(__bfloat162float(from[i]) - top));
}
