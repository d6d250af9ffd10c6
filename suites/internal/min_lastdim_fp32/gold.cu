// Smallest element of each row, fp32, one block a row, by an instruction that hands NaN on. Rows that start on
// 16 bytes (cols % 4 == 0) are read in vectors, four in flight a thread.
// SPDX-License-Identifier: MIT
namespace {
constexpr int THREADS = 256;
constexpr int WARPS = THREADS / 32;
constexpr int VECTORS = 4; // loads in flight a thread

__device__ __forceinline__ float min_nan(float a, float b)
{
    float least;
    asm("min.NaN.f32 %0, %1, %2;" : "=f"(least) : "f"(a), "f"(b));
    return least;
}

__device__ __forceinline__ float min4(float4 v)
{
    return min_nan(min_nan(v.x, v.y), min_nan(v.z, v.w));
}

__device__ __forceinline__ float infinity()
{
    return __uint_as_float(0x7f800000u);
}

// Thread 0 writes the block's minimum.
__device__ __forceinline__ void finish(float least, float *y)
{
    __shared__ float parts[WARPS];
#pragma unroll
    for (int offset = 16; offset > 0; offset /= 2)
        least = min_nan(least, __shfl_xor_sync(0xffffffffu, least, offset));
    if (threadIdx.x % 32 == 0)
        parts[threadIdx.x / 32] = least;
    __syncthreads();
    if (threadIdx.x != 0)
        return;
#pragma unroll
    for (int i = 1; i < WARPS; i++)
        least = min_nan(least, parts[i]);
    y[blockIdx.x] = least;
}
} // namespace

// Rows that start on 16 bytes: cols % 4 == 0.
extern "C" __global__ void __launch_bounds__(THREADS)
    min_vec(const float *__restrict__ x, float *__restrict__ y, int cols)
{
    const float4 *row = reinterpret_cast<const float4 *>(x + (long long)blockIdx.x * cols);
    const float4 none = make_float4(infinity(), infinity(), infinity(), infinity());
    const int count = cols / 4;
    float least = infinity();
    for (int i = threadIdx.x; i < count; i += VECTORS * THREADS) {
        float4 v[VECTORS];
#pragma unroll
        for (int k = 0; k < VECTORS; k++)
            v[k] = i + k * THREADS < count ? row[i + k * THREADS] : none;
#pragma unroll
        for (int k = 0; k < VECTORS; k++)
            least = min_nan(least, min4(v[k]));
    }
    finish(least, y);
}

extern "C" __global__ void __launch_bounds__(THREADS)
    min_any(const float *__restrict__ x, float *__restrict__ y, int cols)
{
    const float *row = x + (long long)blockIdx.x * cols;
    float least = infinity();
#pragma unroll 4
    for (int i = threadIdx.x; i < cols; i += THREADS)
        least = min_nan(least, row[i]);
    finish(least, y);
}
