// SwiGLU, fp16. A block owns 4,096 elements, two 16-byte vectors (8 halves each) a thread; the last
// block, if it is not full, goes element by element.
// SPDX-License-Identifier: MIT
#include <cuda_fp16.h>

namespace {
constexpr int THREADS = 256;
constexpr int PER_BLOCK = THREADS * 16;

// Where 1 + exp(-gate) is too large for the fast division it gives 0, which is what rounds to fp16.
__device__ __forceinline__ float swiglu1(float gate, float up)
{
    return __fdividef(gate, 1.0f + __expf(-gate)) * up;
}

__device__ __forceinline__ unsigned two(unsigned p, unsigned q)
{
    const float2 gate = __half22float2(*reinterpret_cast<const __half2 *>(&p));
    const float2 up = __half22float2(*reinterpret_cast<const __half2 *>(&q));
    const __half2 h = __floats2half2_rn(swiglu1(gate.x, up.x), swiglu1(gate.y, up.y));
    return *reinterpret_cast<const unsigned *>(&h);
}

__device__ __forceinline__ uint4 eight(uint4 p, uint4 q)
{
    return make_uint4(two(p.x, q.x), two(p.y, q.y), two(p.z, q.z), two(p.w, q.w));
}
} // namespace

extern "C" __global__ void __launch_bounds__(THREADS)
    swiglu(const __half *__restrict__ gate, const __half *__restrict__ up, __half *__restrict__ y,
           long long n)
{
    const long long base = (long long)blockIdx.x * PER_BLOCK;
    const int t = threadIdx.x;
    if (base + PER_BLOCK <= n) {
        const uint4 *gate8 = reinterpret_cast<const uint4 *>(gate + base);
        const uint4 *up8 = reinterpret_cast<const uint4 *>(up + base);
        uint4 *y8 = reinterpret_cast<uint4 *>(y + base);
        const uint4 p0 = gate8[t], p1 = gate8[t + THREADS];
        const uint4 q0 = up8[t], q1 = up8[t + THREADS];
        y8[t] = eight(p0, q0);
        y8[t + THREADS] = eight(p1, q1);
        return;
    }
    for (long long i = base + t; i < n; i += THREADS)
        y[i] = __float2half_rn(swiglu1(__half2float(gate[i]), __half2float(up[i])));
}
