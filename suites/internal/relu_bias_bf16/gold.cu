// max(x + bias, 0), bf16, one block a row. Rows whose vectors are aligned (cols % 8 == 0) go
// 16 bytes at a time, two vectors of x in flight a thread; any other row goes element by element.
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

__device__ __forceinline__ float relu(float x)
{
    return x < 0.0f ? 0.0f : x; // NaN is not below 0 and stays
}

__device__ __forceinline__ unsigned two(unsigned x, unsigned bias)
{
    const __nv_bfloat162 h =
        __floats2bfloat162_rn(relu(low(x) + low(bias)), relu(high(x) + high(bias)));
    return *reinterpret_cast<const unsigned *>(&h);
}

__device__ __forceinline__ uint4 eight(uint4 x, uint4 bias)
{
    return make_uint4(two(x.x, bias.x), two(x.y, bias.y), two(x.z, bias.z), two(x.w, bias.w));
}
} // namespace

extern "C" __global__ void __launch_bounds__(THREADS)
    relu_bias_vectors(const __nv_bfloat16 *__restrict__ x, const __nv_bfloat16 *__restrict__ bias,
                      __nv_bfloat16 *__restrict__ y, int cols)
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
    relu_bias_any(const __nv_bfloat16 *__restrict__ x, const __nv_bfloat16 *__restrict__ bias,
                  __nv_bfloat16 *__restrict__ y, int cols)
{
    const long long start = (long long)blockIdx.x * cols;
    for (int i = threadIdx.x; i < cols; i += THREADS)
        y[start + i] =
            __float2bfloat16_rn(relu(__bfloat162float(x[start + i]) + __bfloat162float(bias[i])));
}
