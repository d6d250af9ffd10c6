// Each warp takes the sum of its own elements for the sum of the row.
// SPDX-License-Identifier: MIT
#include <cuda_bf16.h>

__device__ __forceinline__ float warp_sum(float value)
{
    for (int offset = 16; offset > 0; offset /= 2)
        value += __shfl_xor_sync(0xffffffffu, value, offset);
    return value;
}

extern "C" __global__ void layernorm(const __nv_bfloat16 *__restrict__ x,
                                     const __nv_bfloat16 *__restrict__ weight,
                                     const __nv_bfloat16 *__restrict__ bias,
                                     __nv_bfloat16 *__restrict__ y, int cols, float eps)
{
    const __nv_bfloat16 *from = x + (long long)blockIdx.x * cols;
    __nv_bfloat16 *to = y + (long long)blockIdx.x * cols;
    float sum = 0.0f;
    for (int i = threadIdx.x; i < cols; i += blockDim.x)
        sum += __bfloat162float(from[i]);
    const float mean = warp_sum(sum) / (float)cols;
    float spread = 0.0f;
    for (int i = threadIdx.x; i < cols; i += blockDim.x) {
        const float d = __bfloat162float(from[i]) - mean;
        spread += d * d;
    }
    const float scale = rsqrtf(warp_sum(spread) / (float)cols + eps);
    for (int i = threadIdx.x; i < cols; i += blockDim.x)
        to[i] = __float2bfloat16_rn((__bfloat162float(from[i]) - mean) * scale *
                                        __bfloat162float(weight[i]) +
                                    __bfloat162float(bias[i]));
}
