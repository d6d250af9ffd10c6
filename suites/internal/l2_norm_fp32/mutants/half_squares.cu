// Elements are rounded to half precision before they are squared.
// SPDX-License-Identifier: MIT
#include <cuda_fp16.h>

__device__ __forceinline__ float warp_sum(float value)
{
    for (int offset = 16; offset > 0; offset /= 2)
        value += __shfl_xor_sync(0xffffffffu, value, offset);
    return value;
}

extern "C" __global__ void l2_norm(const float *__restrict__ x, float *__restrict__ y, int cols)
{
    __shared__ float parts[8];
    const float *row = x + (long long)blockIdx.x * cols;
    float sum = 0.0f;
    for (int i = threadIdx.x; i < cols; i += blockDim.x) {
        const float f = __half2float(__float2half_rn(row[i]));
        sum += f * f;
    }
    sum = warp_sum(sum);
    if (threadIdx.x % 32 == 0)
        parts[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x != 0)
        return;
    for (int i = 1; i < 8; i++)
        sum += parts[i];
    y[blockIdx.x] = sqrtf(sum);
}
