// Layer normalisation of rows and then SiLU, bf16, one block a row. Rows of up to 8,192 elements whose vectors
// are aligned (cols % 8 == 0) stay in registers through mean, variance and result, so that x is read once;
// any other row is read three times, element by element.
// SPDX-License-Identifier: MIT
#include <cuda_bf16.h>

namespace {
constexpr int THREADS = 256;
constexpr int WARPS = THREADS / 32;

// A bf16 is the upper half of a float.
__device__ __forceinline__ float low(unsigned word)
{
    return __uint_as_float(word << 16);
}

__device__ __forceinline__ float high(unsigned word)
{
    return __uint_as_float(word & 0xffff0000u);
}

__device__ __forceinline__ unsigned pack(float lo, float hi)
{
    const __nv_bfloat162 h = __floats2bfloat162_rn(lo, hi);
    return *reinterpret_cast<const unsigned *>(&h);
}

// z * sigmoid(z). The quotient is 0 where the exponential is too large for it, as it should be.
__device__ __forceinline__ float silu(float z)
{
    return __fdividef(z, 1.0f + __expf(-z));
}

__device__ __forceinline__ float sum8(uint4 v)
{
    return ((low(v.x) + high(v.x)) + (low(v.y) + high(v.y))) +
           ((low(v.z) + high(v.z)) + (low(v.w) + high(v.w)));
}

__device__ __forceinline__ float spread2(unsigned word, float mean)
{
    const float a = low(word) - mean, b = high(word) - mean;
    return a * a + b * b;
}

__device__ __forceinline__ unsigned result2(unsigned word, unsigned w, unsigned b, float mean,
                                            float scale)
{
    return pack(silu((low(word) - mean) * scale * low(w) + low(b)),
                silu((high(word) - mean) * scale * high(w) + high(b)));
}

// Every thread gets the block's sum. `parts` must be other memory in each call of a kernel.
__device__ __forceinline__ float block_sum(float value, float *parts)
{
#pragma unroll
    for (int offset = 16; offset > 0; offset /= 2)
        value += __shfl_xor_sync(0xffffffffu, value, offset);
    if (threadIdx.x % 32 == 0)
        parts[threadIdx.x / 32] = value;
    __syncthreads();
    float total = 0.0f;
#pragma unroll
    for (int i = 0; i < WARPS; i++)
        total += parts[i];
    return total;
}

template <int VECTORS>
__device__ __forceinline__ void norm_row(const __nv_bfloat16 *x, const __nv_bfloat16 *weight,
                                         const __nv_bfloat16 *bias, __nv_bfloat16 *y, int cols,
                                         float eps)
{
    __shared__ float parts[2][WARPS];
    const long long start = (long long)blockIdx.x * cols;
    const uint4 *from = reinterpret_cast<const uint4 *>(x + start);
    const uint4 *by = reinterpret_cast<const uint4 *>(weight);
    const uint4 *plus = reinterpret_cast<const uint4 *>(bias);
    uint4 *to = reinterpret_cast<uint4 *>(y + start);
    const int count = cols / 8;
    uint4 row[VECTORS], w[VECTORS], b[VECTORS];
#pragma unroll
    for (int v = 0; v < VECTORS; v++) {
        const int i = v * THREADS + threadIdx.x;
        const uint4 none = make_uint4(0, 0, 0, 0);
        row[v] = i < count ? from[i] : none;
        w[v] = i < count ? by[i] : none;
        b[v] = i < count ? plus[i] : none;
    }
    float sum = 0.0f;
#pragma unroll
    for (int v = 0; v < VECTORS; v++)
        sum += sum8(row[v]);
    const float mean = block_sum(sum, parts[0]) / (float)cols;
    float spread = 0.0f;
#pragma unroll
    for (int v = 0; v < VECTORS; v++)
        if (v * THREADS + (int)threadIdx.x < count)
            spread += (spread2(row[v].x, mean) + spread2(row[v].y, mean)) +
                      (spread2(row[v].z, mean) + spread2(row[v].w, mean));
    const float scale = rsqrtf(block_sum(spread, parts[1]) / (float)cols + eps);
#pragma unroll
    for (int v = 0; v < VECTORS; v++) {
        const int i = v * THREADS + threadIdx.x;
        if (i < count)
            to[i] = make_uint4(result2(row[v].x, w[v].x, b[v].x, mean, scale),
                               result2(row[v].y, w[v].y, b[v].y, mean, scale),
                               result2(row[v].z, w[v].z, b[v].z, mean, scale),
                               result2(row[v].w, w[v].w, b[v].w, mean, scale));
    }
}
} // namespace

extern "C" __global__ void __launch_bounds__(THREADS)
    layernorm_silu_4096(const __nv_bfloat16 *__restrict__ x,
                        const __nv_bfloat16 *__restrict__ weight,
                        const __nv_bfloat16 *__restrict__ bias, __nv_bfloat16 *__restrict__ y,
                        int cols, float eps)
{
    norm_row<2>(x, weight, bias, y, cols, eps);
}

extern "C" __global__ void __launch_bounds__(THREADS)
    layernorm_silu_8192(const __nv_bfloat16 *__restrict__ x,
                        const __nv_bfloat16 *__restrict__ weight,
                        const __nv_bfloat16 *__restrict__ bias, __nv_bfloat16 *__restrict__ y,
                        int cols, float eps)
{
    norm_row<4>(x, weight, bias, y, cols, eps);
}

extern "C" __global__ void __launch_bounds__(THREADS)
    layernorm_silu_any(const __nv_bfloat16 *__restrict__ x,
                       const __nv_bfloat16 *__restrict__ weight,
                       const __nv_bfloat16 *__restrict__ bias, __nv_bfloat16 *__restrict__ y,
                       int cols, float eps)
{
    __shared__ float parts[2][WARPS];
    const __nv_bfloat16 *from = x + (long long)blockIdx.x * cols;
    __nv_bfloat16 *to = y + (long long)blockIdx.x * cols;
    float sum = 0.0f;
    for (int i = threadIdx.x; i < cols; i += THREADS)
        sum += __bfloat162float(from[i]);
    const float mean = block_sum(sum, parts[0]) / (float)cols;
    float spread = 0.0f;
    for (int i = threadIdx.x; i < cols; i += THREADS) {
        const float d = __bfloat162float(from[i]) - mean;
        spread += d * d;
    }
    const float scale = rsqrtf(block_sum(spread, parts[1]) / (float)cols + eps);
    for (int i = threadIdx.x; i < cols; i += THREADS)
        to[i] = __float2bfloat16_rn(
            silu((__bfloat162float(from[i]) - mean) * scale * __bfloat162float(weight[i]) +
                 __bfloat162float(bias[i])));
}
