// Root-mean-square normalisation of rows and then SiLU, fp16, one block a row. Rows of up to 8,192 elements
// whose vectors are aligned (cols % 8 == 0) stay in registers between the sum and the product, so that x
// is read once; any other row is read twice, element by element.
// SPDX-License-Identifier: MIT
#include <cuda_fp16.h>

namespace {
constexpr int THREADS = 256;
constexpr int WARPS = THREADS / 32;

__device__ __forceinline__ float2 unpack(unsigned word)
{
    return __half22float2(*reinterpret_cast<const __half2 *>(&word));
}

__device__ __forceinline__ unsigned pack(float lo, float hi)
{
    const __half2 h = __floats2half2_rn(lo, hi);
    return *reinterpret_cast<const unsigned *>(&h);
}

// z * sigmoid(z). The quotient is 0 where the exponential is too large for it, as it should be.
__device__ __forceinline__ float silu(float z)
{
    return __fdividef(z, 1.0f + __expf(-z));
}

__device__ __forceinline__ float squares(unsigned word)
{
    const float2 f = unpack(word);
    return f.x * f.x + f.y * f.y;
}

__device__ __forceinline__ unsigned scaled(unsigned word, unsigned weight, float scale)
{
    const float2 f = unpack(word), w = unpack(weight);
    return pack(silu(f.x * scale * w.x), silu(f.y * scale * w.y));
}

// Every thread gets the block's sum. Uses the shared memory once: call it once a kernel.
__device__ __forceinline__ float block_sum(float value)
{
    __shared__ float parts[WARPS];
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
__device__ __forceinline__ void norm_row(const __half *x, const __half *weight, __half *y, int cols,
                                         float eps)
{
    const long long start = (long long)blockIdx.x * cols;
    const uint4 *from = reinterpret_cast<const uint4 *>(x + start);
    const uint4 *by = reinterpret_cast<const uint4 *>(weight);
    uint4 *to = reinterpret_cast<uint4 *>(y + start);
    const int count = cols / 8;
    uint4 row[VECTORS], w[VECTORS];
#pragma unroll
    for (int v = 0; v < VECTORS; v++) {
        const int i = v * THREADS + threadIdx.x;
        row[v] = i < count ? from[i] : make_uint4(0, 0, 0, 0);
        w[v] = i < count ? by[i] : make_uint4(0, 0, 0, 0);
    }
    float sum = 0.0f;
#pragma unroll
    for (int v = 0; v < VECTORS; v++)
        sum += (squares(row[v].x) + squares(row[v].y)) + (squares(row[v].z) + squares(row[v].w));
    const float scale = rsqrtf(block_sum(sum) / (float)cols + eps);
#pragma unroll
    for (int v = 0; v < VECTORS; v++) {
        const int i = v * THREADS + threadIdx.x;
        if (i < count)
            to[i] = make_uint4(scaled(row[v].x, w[v].x, scale), scaled(row[v].y, w[v].y, scale),
                               scaled(row[v].z, w[v].z, scale), scaled(row[v].w, w[v].w, scale));
    }
}
} // namespace

extern "C" __global__ void __launch_bounds__(THREADS)
    rms_silu_4096(const __half *__restrict__ x, const __half *__restrict__ weight,
                  __half *__restrict__ y, int cols, float eps)
{
    norm_row<2>(x, weight, y, cols, eps);
}

extern "C" __global__ void __launch_bounds__(THREADS)
    rms_silu_8192(const __half *__restrict__ x, const __half *__restrict__ weight,
                  __half *__restrict__ y, int cols, float eps)
{
    norm_row<4>(x, weight, y, cols, eps);
}

extern "C" __global__ void __launch_bounds__(THREADS)
    rms_silu_any(const __half *__restrict__ x, const __half *__restrict__ weight,
                 __half *__restrict__ y, int cols, float eps)
{
    const __half *from = x + (long long)blockIdx.x * cols;
    __half *to = y + (long long)blockIdx.x * cols;
    float sum = 0.0f;
    for (int i = threadIdx.x; i < cols; i += THREADS) {
        const float f = __half2float(from[i]);
        sum += f * f;
    }
    const float scale = rsqrtf(block_sum(sum) / (float)cols + eps);
    for (int i = threadIdx.x; i < cols; i += THREADS)
        to[i] = __float2half_rn(silu(__half2float(from[i]) * scale * __half2float(weight[i])));
}
