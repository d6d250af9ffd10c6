// Mean of the elements that a mask selects in each row, fp16 in and out, added in fp32, one block a row. Rows
// that start on a vector (cols % 8 == 0) are read eight elements at a time: 16 bytes of x and 8 of the mask.
// What the mask leaves out never enters arithmetic, so that a NaN there does no harm.
// SPDX-License-Identifier: MIT
#include <cuda_fp16.h>

namespace {
constexpr int THREADS = 256;
constexpr int WARPS = THREADS / 32;
constexpr int VECTORS = 2; // loads in flight a thread

struct tally {
    float sum;
    int count;
};

// Two elements and their two bytes of the mask.
__device__ __forceinline__ void add2(tally &t, unsigned word, unsigned mask)
{
    const float2 f = __half22float2(*reinterpret_cast<const __half2 *>(&word));
    const bool lo = (mask & 0xffu) != 0, hi = (mask & 0xff00u) != 0;
    t.sum += (lo ? f.x : 0.0f) + (hi ? f.y : 0.0f);
    t.count += (int)lo + (int)hi;
}

__device__ __forceinline__ void add8(tally &t, uint4 v, uint2 mask)
{
    add2(t, v.x, mask.x);
    add2(t, v.y, mask.x >> 16);
    add2(t, v.z, mask.y);
    add2(t, v.w, mask.y >> 16);
}

// Thread 0 writes the block's mean.
__device__ __forceinline__ void finish(tally t, __half *y)
{
    __shared__ float sums[WARPS];
    __shared__ int counts[WARPS];
#pragma unroll
    for (int offset = 16; offset > 0; offset /= 2) {
        t.sum += __shfl_xor_sync(0xffffffffu, t.sum, offset);
        t.count += __shfl_xor_sync(0xffffffffu, t.count, offset);
    }
    if (threadIdx.x % 32 == 0) {
        sums[threadIdx.x / 32] = t.sum;
        counts[threadIdx.x / 32] = t.count;
    }
    __syncthreads();
    if (threadIdx.x != 0)
        return;
#pragma unroll
    for (int i = 1; i < WARPS; i++) {
        t.sum += sums[i];
        t.count += counts[i];
    }
    y[blockIdx.x] = __float2half_rn(t.count > 0 ? t.sum / (float)t.count : 0.0f);
}
} // namespace

// Rows that start on a vector: cols % 8 == 0.
extern "C" __global__ void __launch_bounds__(THREADS)
    masked_mean_vec(const __half *__restrict__ x, const unsigned char *__restrict__ mask,
                    __half *__restrict__ y, int cols)
{
    const long long start = (long long)blockIdx.x * cols;
    const uint4 *row = reinterpret_cast<const uint4 *>(x + start);
    const uint2 *kept = reinterpret_cast<const uint2 *>(mask + start);
    const int count = cols / 8;
    tally t = {0.0f, 0};
    for (int i = threadIdx.x; i < count; i += VECTORS * THREADS) {
        uint4 v[VECTORS];
        uint2 m[VECTORS];
#pragma unroll
        for (int k = 0; k < VECTORS; k++) {
            const bool inside = i + k * THREADS < count;
            v[k] = inside ? row[i + k * THREADS] : make_uint4(0, 0, 0, 0);
            m[k] = inside ? kept[i + k * THREADS] : make_uint2(0, 0);
        }
#pragma unroll
        for (int k = 0; k < VECTORS; k++)
            add8(t, v[k], m[k]);
    }
    finish(t, y);
}

extern "C" __global__ void __launch_bounds__(THREADS)
    masked_mean_any(const __half *__restrict__ x, const unsigned char *__restrict__ mask,
                    __half *__restrict__ y, int cols)
{
    const long long start = (long long)blockIdx.x * cols;
    tally t = {0.0f, 0};
#pragma unroll 4
    for (int i = threadIdx.x; i < cols; i += THREADS)
        if (mask[start + i] != 0) {
            t.sum += __half2float(x[start + i]);
            t.count++;
        }
    finish(t, y);
}
