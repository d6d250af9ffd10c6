// GEGLU, bf16, one block a row: the left half of a row times GELU of the right half. Rows whose
// halves are aligned (cols % 8 == 0) go 16 bytes at a time; any other row goes element by element.
// SPDX-License-Identifier: MIT
#include <cuda_bf16.h>

namespace {
constexpr int THREADS = 256;

// A bf16 is the upper half of a float.
__device__ __forceinline__ float low(unsigned word)
{
    return __uint_as_float(word << 16);
}

__device__ __forceinline__ float high(unsigned word)
{
    return __uint_as_float(word & 0xffff0000u);
}

__device__ __forceinline__ float geglu1(float value, float gate)
{
    return value * (0.5f * gate * (1.0f + erff(gate * 0.70710678f)));
}

__device__ __forceinline__ unsigned two(unsigned value, unsigned gate)
{
    const __nv_bfloat162 h =
        __floats2bfloat162_rn(geglu1(low(value), low(gate)), geglu1(high(value), high(gate)));
    return *reinterpret_cast<const unsigned *>(&h);
}
} // namespace

extern "C" __global__ void __launch_bounds__(THREADS)
    geglu_vectors(const __nv_bfloat16 *__restrict__ x, __nv_bfloat16 *__restrict__ y, int cols)
{
    const long long row = blockIdx.x;
    const uint4 *value = reinterpret_cast<const uint4 *>(x + row * 2 * cols);
    const uint4 *gate = reinterpret_cast<const uint4 *>(x + row * 2 * cols + cols);
    uint4 *to = reinterpret_cast<uint4 *>(y + row * cols);
    for (int i = threadIdx.x; i < cols / 8; i += THREADS) {
        const uint4 v = value[i], g = gate[i];
        to[i] = make_uint4(two(v.x, g.x), two(v.y, g.y), two(v.z, g.z), two(v.w, g.w));
    }
}

extern "C" __global__ void __launch_bounds__(THREADS)
    geglu_any(const __nv_bfloat16 *__restrict__ x, __nv_bfloat16 *__restrict__ y, int cols)
{
    const long long row = blockIdx.x;
    const __nv_bfloat16 *value = x + row * 2 * cols, *gate = value + cols;
    for (int i = threadIdx.x; i < cols; i += THREADS)
        y[row * cols + i] =
            __float2bfloat16_rn(geglu1(__bfloat162float(value[i]), __bfloat162float(gate[i])));
}
