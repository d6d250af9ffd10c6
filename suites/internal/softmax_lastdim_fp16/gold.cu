// Softmax over the last dimension, fp16, one block a row. Rows of up to 8,192 elements whose vectors are
// aligned (cols % 8 == 0) stay in registers, so that x is read once; any other row is read three times,
// element by element (maximum, sum, quotient).
// SPDX-License-Identifier: MIT
#include <cuda_fp16.h>

namespace {
constexpr int THREADS = 256;
constexpr int WARPS = THREADS / 32;
constexpr float LOWEST = -3.402823466e+38f; // below every half; never subtracted from itself here

__device__ __forceinline__ float2 unpack(unsigned word)
{
    return __half22float2(*reinterpret_cast<const __half2 *>(&word));
}

__device__ __forceinline__ unsigned pack(float lo, float hi)
{
    const __half2 h = __floats2half2_rn(lo, hi);
    return *reinterpret_cast<const unsigned *>(&h);
}

// Every thread gets the block's maximum or sum; each uses its shared memory once a kernel.
__device__ __forceinline__ float block_max(float value)
{
    __shared__ float parts[WARPS];
#pragma unroll
    for (int offset = 16; offset > 0; offset /= 2)
        value = fmaxf(value, __shfl_xor_sync(0xffffffffu, value, offset));
    if (threadIdx.x % 32 == 0)
        parts[threadIdx.x / 32] = value;
    __syncthreads();
    float top = parts[0];
#pragma unroll
    for (int i = 1; i < WARPS; i++)
        top = fmaxf(top, parts[i]);
    return top;
}

__device__ __forceinline__ float block_sum(float value)
{
    __shared__ float parts[WARPS];
#pragma unroll
    for (int offset = 16; offset > 0; offset /= 2)
        value += __shfl_xor_sync(0xffffffffu, value, offset);
    if (threadIdx.x % 32 == 0)
        parts[threadIdx.x / 32] = value;
    __syncthreads();
    float total = 0.0f;
#pragma unroll
    for (int i = 0; i < WARPS; i++)
        total += parts[i];
    return total;
}

template <int VECTORS>
__device__ __forceinline__ void softmax_row(const __half *x, __half *y, int cols)
{
    const long long start = (long long)blockIdx.x * cols;
    const uint4 *from = reinterpret_cast<const uint4 *>(x + start);
    uint4 *to = reinterpret_cast<uint4 *>(y + start);
    const int count = cols / 8;
    float2 f[VECTORS][4];
    float top = LOWEST;
#pragma unroll
    for (int v = 0; v < VECTORS; v++) {
        const int i = v * THREADS + threadIdx.x;
        // 0xfbff is the lowest half: lanes past the end do not raise the maximum.
        const uint4 raw = i < count ? from[i]
                                    : make_uint4(0xfbfffbffu, 0xfbfffbffu, 0xfbfffbffu, 0xfbfffbffu);
        f[v][0] = unpack(raw.x);
        f[v][1] = unpack(raw.y);
        f[v][2] = unpack(raw.z);
        f[v][3] = unpack(raw.w);
    }
#pragma unroll
    for (int v = 0; v < VECTORS; v++)
#pragma unroll
        for (int k = 0; k < 4; k++)
            top = fmaxf(top, fmaxf(f[v][k].x, f[v][k].y));
    top = block_max(top);
    float sum = 0.0f;
#pragma unroll
    for (int v = 0; v < VECTORS; v++) {
        const bool inside = v * THREADS + (int)threadIdx.x < count;
#pragma unroll
        for (int k = 0; k < 4; k++) {
            f[v][k].x = __expf(f[v][k].x - top);
            f[v][k].y = __expf(f[v][k].y - top);
            sum += inside ? f[v][k].x + f[v][k].y : 0.0f;
        }
    }
    const float share = 1.0f / block_sum(sum);
#pragma unroll
    for (int v = 0; v < VECTORS; v++) {
        const int i = v * THREADS + threadIdx.x;
        if (i < count)
            to[i] = make_uint4(pack(f[v][0].x * share, f[v][0].y * share),
                               pack(f[v][1].x * share, f[v][1].y * share),
                               pack(f[v][2].x * share, f[v][2].y * share),
                               pack(f[v][3].x * share, f[v][3].y * share));
    }
}
} // namespace

extern "C" __global__ void __launch_bounds__(THREADS)
    softmax_4096(const __half *__restrict__ x, __half *__restrict__ y, int cols)
{
    softmax_row<2>(x, y, cols);
}

extern "C" __global__ void __launch_bounds__(THREADS)
    softmax_8192(const __half *__restrict__ x, __half *__restrict__ y, int cols)
{
    softmax_row<4>(x, y, cols);
}

extern "C" __global__ void __launch_bounds__(THREADS)
    softmax_any(const __half *__restrict__ x, __half *__restrict__ y, int cols)
{
    const __half *from = x + (long long)blockIdx.x * cols;
    __half *to = y + (long long)blockIdx.x * cols;
    float top = LOWEST;
    for (int i = threadIdx.x; i < cols; i += THREADS)
        top = fmaxf(top, __half2float(from[i]));
    top = block_max(top);
    float sum = 0.0f;
    for (int i = threadIdx.x; i < cols; i += THREADS)
        sum += __expf(__half2float(from[i]) - top);
    const float share = 1.0f / block_sum(sum);
    for (int i = threadIdx.x; i < cols; i += THREADS)
        to[i] = __float2half_rn(__expf(__half2float(from[i]) - top) * share);
}
