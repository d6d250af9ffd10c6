// The variance is the mean of the squares: the mean is not subtracted there.
// SPDX-License-Identifier: MIT
#include <cuda_bf16.h>

// Every thread gets the block's sum.
__device__ __forceinline__ float block_sum(float value, float *parts)
{
    for (int offset = 16; offset > 0; offset /= 2)
        value += __shfl_xor_sync(0xffffffffu, value, offset);
    if (threadIdx.x % 32 == 0)
        parts[threadIdx.x / 32] = value;
    __syncthreads();
    float total = 0.0f;
    for (int i = 0; i < 8; i++)
        total += parts[i];
    return total;
}

__device__ __forceinline__ float silu(float z)
{
    return z / (1.0f + __expf(-z));
}

extern "C" __global__ void layernorm_silu(const __nv_bfloat16 *__restrict__ x,
                                          const __nv_bfloat16 *__restrict__ weight,
                                          const __nv_bfloat16 *__restrict__ bias,
                                          __nv_bfloat16 *__restrict__ y, int cols, float eps)
{
    __shared__ float sums[8], spreads[8];
    const __nv_bfloat16 *from = x + (long long)blockIdx.x * cols;
    __nv_bfloat16 *to = y + (long long)blockIdx.x * cols;
    float sum = 0.0f, spread = 0.0f;
    for (int i = threadIdx.x; i < cols; i += blockDim.x)
        sum += __bfloat162float(from[i]);
    const float mean = block_sum(sum, sums) / (float)cols;
    for (int i = threadIdx.x; i < cols; i += blockDim.x) {
        const float d = __bfloat162float(from[i]);
        spread += d * d;
    }
    const float scale = rsqrtf(block_sum(spread, spreads) / (float)cols + eps);
    for (int i = threadIdx.x; i < cols; i += blockDim.x) {
        const float z = (__bfloat162float(from[i]) - mean) * scale;
        const float affine = z * __bfloat162float(weight[i]) + __bfloat162float(bias[i]);
        to[i] = __float2bfloat16_rn(silu(affine));
    }
}
