// Normalised, but not multiplied by the weight.
// SPDX-License-Identifier: MIT
#include <cuda_fp16.h>

// Every thread gets the sum of the block of 256.
__device__ __forceinline__ float block_sum(float value)
{
    __shared__ float parts[8];
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

extern "C" __global__ void rms_norm(const __half *__restrict__ x, const __half *__restrict__ weight,
                                    __half *__restrict__ y, int cols, float eps)
{
    const __half *from = x + (long long)blockIdx.x * cols;
    __half *to = y + (long long)blockIdx.x * cols;
    float sum = 0.0f;
    for (int i = threadIdx.x; i < cols; i += blockDim.x) {
        const float f = __half2float(from[i]);
        sum += f * f;
    }
    const float scale = rsqrtf(block_sum(sum) / (float)cols + eps);
    for (int i = threadIdx.x; i < cols; i += blockDim.x)
        to[i] = __float2half_rn(__half2float(from[i]) * scale);
}
