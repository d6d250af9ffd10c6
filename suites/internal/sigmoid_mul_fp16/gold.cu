// b * sigmoid(a), fp16. A block owns 4,096 elements, two 16-byte vectors (8 halves each) a thread;
// the last block, if it is not full, goes element by element.
// SPDX-License-Identifier: MIT
#include <cuda_fp16.h>

namespace {
constexpr int THREADS = 256;
constexpr int PER_BLOCK = THREADS * 16;

// The sigmoid first, then the product: where exp overflows, 0 times b is NaN for an infinite b, as
// it is for torch.sigmoid(a) * b.
__device__ __forceinline__ float gated(float a, float b)
{
    return b * __fdividef(1.0f, 1.0f + __expf(-a));
}

__device__ __forceinline__ unsigned two(unsigned p, unsigned q)
{
    const float2 a = __half22float2(*reinterpret_cast<const __half2 *>(&p));
    const float2 b = __half22float2(*reinterpret_cast<const __half2 *>(&q));
    const __half2 h = __floats2half2_rn(gated(a.x, b.x), gated(a.y, b.y));
    return *reinterpret_cast<const unsigned *>(&h);
}

__device__ __forceinline__ uint4 eight(uint4 p, uint4 q)
{
    return make_uint4(two(p.x, q.x), two(p.y, q.y), two(p.z, q.z), two(p.w, q.w));
}
} // namespace

extern "C" __global__ void __launch_bounds__(THREADS)
    sigmoid_mul(const __half *__restrict__ a, const __half *__restrict__ b, __half *__restrict__ y,
                long long n)
{
    const long long base = (long long)blockIdx.x * PER_BLOCK;
    const int t = threadIdx.x;
    if (base + PER_BLOCK <= n) {
        const uint4 *a8 = reinterpret_cast<const uint4 *>(a + base);
        const uint4 *b8 = reinterpret_cast<const uint4 *>(b + base);
        uint4 *y8 = reinterpret_cast<uint4 *>(y + base);
        const uint4 p0 = a8[t], p1 = a8[t + THREADS];
        const uint4 q0 = b8[t], q1 = b8[t + THREADS];
        y8[t] = eight(p0, q0);
        y8[t + THREADS] = eight(p1, q1);
        return;
    }
    for (long long i = base + t; i < n; i += THREADS)
        y[i] = __float2half_rn(gated(__half2float(a[i]), __half2float(b[i])));
}
