// SELU, bf16. A block owns 4,096 elements, two 16-byte vectors (8 numbers each) a thread; the last
// block, if it is not full, goes element by element.
// SPDX-License-Identifier: MIT
#include <cuda_bf16.h>

namespace {
constexpr int THREADS = 256;
constexpr int PER_BLOCK = THREADS * 16;

// A bf16 is the upper half of a float.
__device__ __forceinline__ float low(unsigned word)
{
    return __uint_as_float(word << 16);
}

__device__ __forceinline__ float high(unsigned word)
{
    return __uint_as_float(word & 0xffff0000u);
}

constexpr float ALPHA = 1.67326324f;
constexpr float SCALE = 1.05070099f;

// exp(x) - 1 for x <= 0; near zero by its series, where the difference loses digits.
__device__ __forceinline__ float exp_minus_1(float x)
{
    const float series = x * (1.0f + x * (0.5f + x * 0.16666667f));
    return x > -0.015625f ? series : __expf(x) - 1.0f;
}

__device__ __forceinline__ float selu1(float x)
{
    return SCALE * (x <= 0.0f ? ALPHA * exp_minus_1(x) : x); // NaN stays
}

__device__ __forceinline__ unsigned two(unsigned p)
{

    const __nv_bfloat162 h = __floats2bfloat162_rn(selu1(low(p)), selu1(high(p)));
    return *reinterpret_cast<const unsigned *>(&h);
}

__device__ __forceinline__ uint4 eight(uint4 p)
{
    return make_uint4(two(p.x), two(p.y), two(p.z), two(p.w));
}
} // namespace

extern "C" __global__ void __launch_bounds__(THREADS)
    selu(const __nv_bfloat16 *__restrict__ x, __nv_bfloat16 *__restrict__ y, long long n)
{
    const long long base = (long long)blockIdx.x * PER_BLOCK;
    const int t = threadIdx.x;
    if (base + PER_BLOCK <= n) {
        const uint4 *x8 = reinterpret_cast<const uint4 *>(x + base);
        uint4 *y8 = reinterpret_cast<uint4 *>(y + base);
        const uint4 p0 = x8[t], p1 = x8[t + THREADS];
        y8[t] = eight(p0);
        y8[t + THREADS] = eight(p1);
        return;
    }
    for (long long i = base + t; i < n; i += THREADS)
        y[i] = __float2bfloat16_rn(selu1(__bfloat162float(x[i])));
}
