// eps is added to the root and not to the mean under it.
// SPDX-License-Identifier: MIT
#include <cuda_fp16.h>

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

extern "C" __global__ void rms_silu(const __half *__restrict__ x, const __half *__restrict__ weight,
                                    __half *__restrict__ y, int cols, float eps)
{
    __shared__ float parts[8];
    const __half *from = x + (long long)blockIdx.x * cols;
    __half *to = y + (long long)blockIdx.x * cols;
    float sum = 0.0f;
    for (int i = threadIdx.x; i < cols; i += blockDim.x)
        sum += __half2float(from[i]) * __half2float(from[i]);
    const float scale = 1.0f / (sqrtf(block_sum(sum, parts) / (float)cols) + eps);
    for (int i = threadIdx.x; i < cols; i += blockDim.x) {
        const float z = __half2float(from[i]) * scale * __half2float(weight[i]);
        to[i] = __float2half_rn(silu(z));
    }
}
