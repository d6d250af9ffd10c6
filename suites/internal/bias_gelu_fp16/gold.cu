// GELU of x + bias, fp16, one block a row. Rows whose vectors are aligned (cols % 8 == 0) go
// 16 bytes at a time, two vectors of x in flight a thread; any other row goes element by element.
// SPDX-License-Identifier: MIT
#include <cuda_fp16.h>

namespace {
constexpr int THREADS = 256;

// 0.5 * (1 + tanh(u)) is 1 / (1 + exp(-2u)): one exponential and one division, both far more
// accurate than a half. Where exp overflows, the division gives 0.
__device__ __forceinline__ float gelu(float x)
{
    const float twice = 1.5957691216f * (x + 0.044715f * x * x * x);
    return __fdividef(x, 1.0f + __expf(-twice));
}

__device__ __forceinline__ unsigned two(unsigned x, unsigned bias)
{
    const float2 p = __half22float2(*reinterpret_cast<const __half2 *>(&x));
    const float2 q = __half22float2(*reinterpret_cast<const __half2 *>(&bias));
    const __half2 h = __floats2half2_rn(gelu(p.x + q.x), gelu(p.y + q.y));
    return *reinterpret_cast<const unsigned *>(&h);
}

__device__ __forceinline__ uint4 eight(uint4 x, uint4 bias)
{
    return make_uint4(two(x.x, bias.x), two(x.y, bias.y), two(x.z, bias.z), two(x.w, bias.w));
}
} // namespace

extern "C" __global__ void __launch_bounds__(THREADS)
    bias_gelu_vectors(const __half *__restrict__ x, const __half *__restrict__ bias,
                      __half *__restrict__ y, int cols)
{
    const long long start = (long long)blockIdx.x * cols;
    const uint4 *from = reinterpret_cast<const uint4 *>(x + start);
    const uint4 *plus = reinterpret_cast<const uint4 *>(bias);
    uint4 *to = reinterpret_cast<uint4 *>(y + start);
    const int count = cols / 8;
    int i = threadIdx.x;
    for (; i + THREADS < count; i += 2 * THREADS) {
        const uint4 x0 = from[i], x1 = from[i + THREADS];
        to[i] = eight(x0, plus[i]);
        to[i + THREADS] = eight(x1, plus[i + THREADS]);
    }
    if (i < count)
        to[i] = eight(from[i], plus[i]);
}

extern "C" __global__ void __launch_bounds__(THREADS)
    bias_gelu_any(const __half *__restrict__ x, const __half *__restrict__ bias,
                  __half *__restrict__ y, int cols)
{
    const long long start = (long long)blockIdx.x * cols;
    for (int i = threadIdx.x; i < cols; i += THREADS)
        y[start + i] = __float2half_rn(gelu(__half2float(x[start + i]) + __half2float(bias[i])));
}
