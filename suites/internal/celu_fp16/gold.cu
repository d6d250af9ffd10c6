// CELU, fp16. A block owns 4,096 elements, two 16-byte vectors (8 halves each) a thread; the last
// block, if it is not full, goes element by element.
// SPDX-License-Identifier: MIT
#include <cuda_fp16.h>

namespace {
constexpr int THREADS = 256;
constexpr int PER_BLOCK = THREADS * 16;

// exp(x) - 1 for x <= 0; near zero by its series, where the difference loses digits.
__device__ __forceinline__ float exp_minus_1(float x)
{
    const float series = x * (1.0f + x * (0.5f + x * 0.16666667f));
    return x > -0.015625f ? series : __expf(x) - 1.0f;
}

__device__ __forceinline__ float celu1(float x, float alpha)
{
    return x <= 0.0f ? alpha * exp_minus_1(__fdividef(x, alpha)) : x; // NaN stays
}

__device__ __forceinline__ unsigned two(unsigned p, float alpha)
{
    const float2 x = __half22float2(*reinterpret_cast<const __half2 *>(&p));
    const __half2 h = __floats2half2_rn(celu1(x.x, alpha), celu1(x.y, alpha));
    return *reinterpret_cast<const unsigned *>(&h);
}

__device__ __forceinline__ uint4 eight(uint4 p, float alpha)
{
    return make_uint4(two(p.x, alpha), two(p.y, alpha), two(p.z, alpha), two(p.w, alpha));
}
} // namespace

extern "C" __global__ void __launch_bounds__(THREADS)
    celu(const __half *__restrict__ x, __half *__restrict__ y, long long n, float alpha)
{
    const long long base = (long long)blockIdx.x * PER_BLOCK;
    const int t = threadIdx.x;
    if (base + PER_BLOCK <= n) {
        const uint4 *x8 = reinterpret_cast<const uint4 *>(x + base);
        uint4 *y8 = reinterpret_cast<uint4 *>(y + base);
        const uint4 p0 = x8[t], p1 = x8[t + THREADS];
        y8[t] = eight(p0, alpha);
        y8[t + THREADS] = eight(p1, alpha);
        return;
    }
    for (long long i = base + t; i < n; i += THREADS)
        y[i] = __float2half_rn(celu1(__half2float(x[i]), alpha));
}
