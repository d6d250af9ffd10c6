// Values cut to [lo, hi], fp16. A block owns 4,096 elements, two 16-byte vectors (8 halves each) a
// thread; the last block, if it is not full, goes element by element.
// SPDX-License-Identifier: MIT
#include <cuda_fp16.h>

namespace {
constexpr int THREADS = 256;
constexpr int PER_BLOCK = THREADS * 16;

__device__ __forceinline__ float clamp1(float x, float lo, float hi)
{
    return x < lo ? lo : x > hi ? hi : x; // NaN is neither and stays
}

__device__ __forceinline__ unsigned two(unsigned p, float lo, float hi)
{
    const float2 x = __half22float2(*reinterpret_cast<const __half2 *>(&p));
    const __half2 h = __floats2half2_rn(clamp1(x.x, lo, hi), clamp1(x.y, lo, hi));
    return *reinterpret_cast<const unsigned *>(&h);
}

__device__ __forceinline__ uint4 eight(uint4 p, float lo, float hi)
{
    return make_uint4(two(p.x, lo, hi), two(p.y, lo, hi), two(p.z, lo, hi), two(p.w, lo, hi));
}
} // namespace

extern "C" __global__ void __launch_bounds__(THREADS)
    clamp_range(const __half *__restrict__ x, __half *__restrict__ y, long long n, float lo,
                float hi)
{
    const long long base = (long long)blockIdx.x * PER_BLOCK;
    const int t = threadIdx.x;
    if (base + PER_BLOCK <= n) {
        const uint4 *x8 = reinterpret_cast<const uint4 *>(x + base);
        uint4 *y8 = reinterpret_cast<uint4 *>(y + base);
        const uint4 p0 = x8[t], p1 = x8[t + THREADS];
        y8[t] = eight(p0, lo, hi);
        y8[t + THREADS] = eight(p1, lo, hi);
        return;
    }
    for (long long i = base + t; i < n; i += THREADS)
        y[i] = __float2half_rn(clamp1(__half2float(x[i]), lo, hi));
}
