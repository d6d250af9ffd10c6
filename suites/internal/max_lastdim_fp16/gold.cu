// Largest element of each row, fp16, one block a row. Elements are compared in pairs by an instruction that hands
// NaN on. Rows that start on 16 bytes (cols % 8 == 0) are read in vectors of eight.
// SPDX-License-Identifier: MIT
#include <cuda_fp16.h>

namespace {
constexpr int THREADS = 256;
constexpr int WARPS = THREADS / 32;
constexpr int VECTORS = 2;               // loads in flight a thread
constexpr unsigned LOWEST = 0xfc00fc00u; // -Inf twice

__device__ __forceinline__ unsigned max2(unsigned a, unsigned b)
{
    const __half2 top =
        __hmax2_nan(*reinterpret_cast<const __half2 *>(&a), *reinterpret_cast<const __half2 *>(&b));
    return *reinterpret_cast<const unsigned *>(&top);
}

__device__ __forceinline__ unsigned max8(uint4 v)
{
    return max2(max2(v.x, v.y), max2(v.z, v.w));
}

// Thread 0 writes the block's maximum.
__device__ __forceinline__ void finish(unsigned top, __half *y)
{
    __shared__ unsigned parts[WARPS];
#pragma unroll
    for (int offset = 16; offset > 0; offset /= 2)
        top = max2(top, __shfl_xor_sync(0xffffffffu, top, offset));
    if (threadIdx.x % 32 == 0)
        parts[threadIdx.x / 32] = top;
    __syncthreads();
    if (threadIdx.x != 0)
        return;
#pragma unroll
    for (int i = 1; i < WARPS; i++)
        top = max2(top, parts[i]);
    top = max2(top, top >> 16 | top << 16);
    y[blockIdx.x] = __ushort_as_half((unsigned short)top);
}
} // namespace

// Rows that start on 16 bytes: cols % 8 == 0.
extern "C" __global__ void __launch_bounds__(THREADS)
    max_vec(const __half *__restrict__ x, __half *__restrict__ y, int cols)
{
    const uint4 *row = reinterpret_cast<const uint4 *>(x + (long long)blockIdx.x * cols);
    const uint4 none = make_uint4(LOWEST, LOWEST, LOWEST, LOWEST);
    const int count = cols / 8;
    unsigned top = LOWEST;
    for (int i = threadIdx.x; i < count; i += VECTORS * THREADS) {
        uint4 v[VECTORS];
#pragma unroll
        for (int k = 0; k < VECTORS; k++)
            v[k] = i + k * THREADS < count ? row[i + k * THREADS] : none;
#pragma unroll
        for (int k = 0; k < VECTORS; k++)
            top = max2(top, max8(v[k]));
    }
    finish(top, y);
}

extern "C" __global__ void __launch_bounds__(THREADS)
    max_any(const __half *__restrict__ x, __half *__restrict__ y, int cols)
{
    const unsigned short *row =
        reinterpret_cast<const unsigned short *>(x + (long long)blockIdx.x * cols);
    unsigned top = LOWEST;
#pragma unroll 4
    for (int i = threadIdx.x; i < cols; i += THREADS)
        top = max2(top, row[i] | 0xfc000000u);
    finish(top, y);
}
