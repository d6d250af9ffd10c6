// x * sigmoid(x), fp16. The matrix is one vector: a block owns 4,096 elements, two 16-byte vectors (8
// halves each) a thread; the last block, if it is not full, goes element by element.
// SPDX-License-Identifier: MIT
#include <cuda_fp16.h>

namespace {
constexpr int THREADS = 256;
constexpr int PER_BLOCK = THREADS * 16;

// exp and divide by the special function unit: a few fp32 ulps, far below a half's. Where 1 + exp(-x)
// is too large for the fast division it gives 0, which is what rounds to fp16 anyway.
__device__ __forceinline__ float silu1(float x)
{
    return __fdividef(x, 1.0f + __expf(-x));
}

__device__ __forceinline__ unsigned silu2(unsigned word)
{
    const float2 f = __half22float2(*reinterpret_cast<const __half2 *>(&word));
    const __half2 h = __floats2half2_rn(silu1(f.x), silu1(f.y));
    return *reinterpret_cast<const unsigned *>(&h);
}

__device__ __forceinline__ uint4 silu8(uint4 v)
{
    return make_uint4(silu2(v.x), silu2(v.y), silu2(v.z), silu2(v.w));
}
} // namespace

extern "C" __global__ void __launch_bounds__(THREADS)
    silu(const __half *__restrict__ x, __half *__restrict__ y, long long n)
{
    const long long base = (long long)blockIdx.x * PER_BLOCK;
    const int t = threadIdx.x;
    if (base + PER_BLOCK <= n) {
        const uint4 *x8 = reinterpret_cast<const uint4 *>(x + base);
        uint4 *y8 = reinterpret_cast<uint4 *>(y + base);
        const uint4 v0 = x8[t], v1 = x8[t + THREADS];
        y8[t] = silu8(v0);
        y8[t + THREADS] = silu8(v1);
        return;
    }
    for (long long i = base + t; i < n; i += THREADS)
        y[i] = __float2half_rn(silu1(__half2float(x[i])));
}
