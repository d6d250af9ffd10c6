// exp(x - the row's maximum), bf16, one block a row. Rows of up to 8,192 elements whose vectors are aligned
// (cols % 8 == 0) stay in registers between the two steps, so that x is read once; any other row is read
// twice, element by element.
// SPDX-License-Identifier: MIT
#include <cuda_bf16.h>

namespace {
constexpr int THREADS = 256;
constexpr int WARPS = THREADS / 32;
constexpr unsigned NOTHING = 0xff80ff80u; // -Inf twice: raises no maximum

// A bf16 is the upper half of a float.
__device__ __forceinline__ float low(unsigned word)
{
    return __uint_as_float(word << 16);
}

__device__ __forceinline__ float high(unsigned word)
{
    return __uint_as_float(word & 0xffff0000u);
}

__device__ __forceinline__ float top8(uint4 v)
{
    return fmaxf(fmaxf(fmaxf(low(v.x), high(v.x)), fmaxf(low(v.y), high(v.y))),
                 fmaxf(fmaxf(low(v.z), high(v.z)), fmaxf(low(v.w), high(v.w))));
}

__device__ __forceinline__ unsigned exps(unsigned word, float top)
{
    const __nv_bfloat162 h =
        __floats2bfloat162_rn(__expf(low(word) - top), __expf(high(word) - top));
    return *reinterpret_cast<const unsigned *>(&h);
}

// Every thread gets the block's maximum.
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

template <int VECTORS>
__device__ __forceinline__ void numerator_row(const __nv_bfloat16 *x, __nv_bfloat16 *y, int cols)
{
    const long long start = (long long)blockIdx.x * cols;
    const uint4 *from = reinterpret_cast<const uint4 *>(x + start);
    uint4 *to = reinterpret_cast<uint4 *>(y + start);
    const int count = cols / 8;
    uint4 row[VECTORS];
#pragma unroll
    for (int v = 0; v < VECTORS; v++) {
        const int i = v * THREADS + threadIdx.x;
        row[v] = i < count ? from[i] : make_uint4(NOTHING, NOTHING, NOTHING, NOTHING);
    }
    float top = top8(row[0]);
#pragma unroll
    for (int v = 1; v < VECTORS; v++)
        top = fmaxf(top, top8(row[v]));
    top = block_max(top);
#pragma unroll
    for (int v = 0; v < VECTORS; v++) {
        const int i = v * THREADS + threadIdx.x;
        if (i < count)
            to[i] = make_uint4(exps(row[v].x, top), exps(row[v].y, top), exps(row[v].z, top),
                               exps(row[v].w, top));
    }
}
} // namespace

extern "C" __global__ void __launch_bounds__(THREADS)
    numerator_4096(const __nv_bfloat16 *__restrict__ x, __nv_bfloat16 *__restrict__ y, int cols)
{
    numerator_row<2>(x, y, cols);
}

extern "C" __global__ void __launch_bounds__(THREADS)
    numerator_8192(const __nv_bfloat16 *__restrict__ x, __nv_bfloat16 *__restrict__ y, int cols)
{
    numerator_row<4>(x, y, cols);
}

extern "C" __global__ void __launch_bounds__(THREADS)
    numerator_any(const __nv_bfloat16 *__restrict__ x, __nv_bfloat16 *__restrict__ y, int cols)
{
    const __nv_bfloat16 *from = x + (long long)blockIdx.x * cols;
    __nv_bfloat16 *to = y + (long long)blockIdx.x * cols;
    float top = low(NOTHING);
#pragma unroll 4
    for (int i = threadIdx.x; i < cols; i += THREADS)
        top = fmaxf(top, __bfloat162float(from[i]));
    top = block_max(top);
    for (int i = threadIdx.x; i < cols; i += THREADS)
        to[i] = __float2bfloat16_rn(__expf(__bfloat162float(from[i]) - top));
}
