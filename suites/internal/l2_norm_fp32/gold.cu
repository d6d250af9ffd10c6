// Euclidean length of each row, fp32, one block a row. Rows that start on 16 bytes (cols % 4 == 0) are read
// in vectors, four in flight a thread and four sums a thread.
// SPDX-License-Identifier: MIT
namespace {
constexpr int THREADS = 256;
constexpr int WARPS = THREADS / 32;
constexpr int VECTORS = 4; // loads in flight a thread

__device__ __forceinline__ float squares(float4 v)
{
    return (v.x * v.x + v.y * v.y) + (v.z * v.z + v.w * v.w);
}

// Thread 0 writes the root of the block's sum.
__device__ __forceinline__ void finish(float sum, float *y)
{
    __shared__ float parts[WARPS];
#pragma unroll
    for (int offset = 16; offset > 0; offset /= 2)
        sum += __shfl_xor_sync(0xffffffffu, sum, offset);
    if (threadIdx.x % 32 == 0)
        parts[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x != 0)
        return;
    float total = 0.0f;
#pragma unroll
    for (int i = 0; i < WARPS; i++)
        total += parts[i];
    y[blockIdx.x] = sqrtf(total);
}
} // namespace

// Rows that start on 16 bytes: cols % 4 == 0.
extern "C" __global__ void __launch_bounds__(THREADS)
    l2_norm_vec(const float *__restrict__ x, float *__restrict__ y, int cols)
{
    const float4 *row = reinterpret_cast<const float4 *>(x + (long long)blockIdx.x * cols);
    const int count = cols / 4;
    float sum[VECTORS] = {};
    for (int i = threadIdx.x; i < count; i += VECTORS * THREADS) {
        float4 v[VECTORS];
#pragma unroll
        for (int k = 0; k < VECTORS; k++)
            v[k] = i + k * THREADS < count ? row[i + k * THREADS] : make_float4(0, 0, 0, 0);
#pragma unroll
        for (int k = 0; k < VECTORS; k++)
            sum[k] += squares(v[k]);
    }
    finish((sum[0] + sum[1]) + (sum[2] + sum[3]), y);
}

extern "C" __global__ void __launch_bounds__(THREADS)
    l2_norm_any(const float *__restrict__ x, float *__restrict__ y, int cols)
{
    const float *row = x + (long long)blockIdx.x * cols;
    float sum = 0.0f;
#pragma unroll 4
    for (int i = threadIdx.x; i < cols; i += THREADS)
        sum += row[i] * row[i];
    finish(sum, y);
}
