// Mean of each row, bf16 in and out, added in fp32, one block a row. Rows that start on 16 bytes
// (cols % 8 == 0) are read in vectors of eight.
// SPDX-License-Identifier: MIT
#include <cuda_bf16.h>

namespace {
constexpr int THREADS = 256;
constexpr int WARPS = THREADS / 32;
constexpr int VECTORS = 2; // loads in flight a thread

// The two elements of a word, added; a bf16 is the upper half of a float.
__device__ __forceinline__ float sum2(unsigned word)
{
    return __uint_as_float(word << 16) + __uint_as_float(word & 0xffff0000u);
}

__device__ __forceinline__ float sum8(uint4 v)
{
    return (sum2(v.x) + sum2(v.y)) + (sum2(v.z) + sum2(v.w));
}

// Thread 0 writes the block's sum over cols.
__device__ __forceinline__ void finish(float sum, __nv_bfloat16 *y, int cols)
{
    __shared__ float parts[WARPS];
#pragma unroll
    for (int offset = 16; offset > 0; offset /= 2)
        sum += __shfl_xor_sync(0xffffffffu, sum, offset);
    if (threadIdx.x % 32 == 0)
        parts[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x != 0)
        return;
    float total = 0.0f;
#pragma unroll
    for (int i = 0; i < WARPS; i++)
        total += parts[i];
    y[blockIdx.x] = __float2bfloat16_rn(total / (float)cols);
}
} // namespace

// Rows that start on 16 bytes: cols % 8 == 0.
extern "C" __global__ void __launch_bounds__(THREADS)
    mean_vec(const __nv_bfloat16 *__restrict__ x, __nv_bfloat16 *__restrict__ y, int cols)
{
    const uint4 *row = reinterpret_cast<const uint4 *>(x + (long long)blockIdx.x * cols);
    const int count = cols / 8;
    float sum[VECTORS] = {};
    for (int i = threadIdx.x; i < count; i += VECTORS * THREADS) {
        uint4 v[VECTORS];
#pragma unroll
        for (int k = 0; k < VECTORS; k++)
            v[k] = i + k * THREADS < count ? row[i + k * THREADS] : make_uint4(0, 0, 0, 0);
#pragma unroll
        for (int k = 0; k < VECTORS; k++)
            sum[k] += sum8(v[k]);
    }
    finish(sum[0] + sum[1], y, cols);
}

extern "C" __global__ void __launch_bounds__(THREADS)
    mean_any(const __nv_bfloat16 *__restrict__ x, __nv_bfloat16 *__restrict__ y, int cols)
{
    const __nv_bfloat16 *row = x + (long long)blockIdx.x * cols;
    float sum = 0.0f;
#pragma unroll 4
    for (int i = threadIdx.x; i < cols; i += THREADS)
        sum += __bfloat162float(row[i]);
    finish(sum, y, cols);
}
