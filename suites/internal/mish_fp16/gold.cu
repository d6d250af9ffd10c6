// Mish, fp16. A block owns 4,096 elements, two 16-byte vectors (8 halves each) a thread; the last
// block, if it is not full, goes element by element.
// SPDX-License-Identifier: MIT
#include <cuda_fp16.h>

namespace {
constexpr int THREADS = 256;
constexpr int PER_BLOCK = THREADS * 16;

// tanh(log(1 + e)) is n / (n + 2) with n = e * (e + 2): one exponential and one division. From 20
// upwards it is 1, and e * e would overflow.
__device__ __forceinline__ float mish1(float x)
{
    const float e = __expf(x);
    const float n = e * (e + 2.0f);
    return x > 20.0f ? x : x * __fdividef(n, n + 2.0f);
}

__device__ __forceinline__ unsigned two(unsigned p)
{
    const float2 x = __half22float2(*reinterpret_cast<const __half2 *>(&p));
    const __half2 h = __floats2half2_rn(mish1(x.x), mish1(x.y));
    return *reinterpret_cast<const unsigned *>(&h);
}

__device__ __forceinline__ uint4 eight(uint4 p)
{
    return make_uint4(two(p.x), two(p.y), two(p.z), two(p.w));
}
} // namespace

extern "C" __global__ void __launch_bounds__(THREADS)
    mish(const __half *__restrict__ x, __half *__restrict__ y, long long n)
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
        y[i] = __float2half_rn(mish1(__half2float(x[i])));
}
