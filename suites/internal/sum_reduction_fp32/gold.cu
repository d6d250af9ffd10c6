// Sum of a vector, fp32, in two kernels. sum_parts fills the device once; each thread takes four 16-byte
// vectors at a time into four sums of its own. sum_total adds the blocks' sums in one block. The order
// of additions depends on n and the number of blocks alone, so equal inputs give equal bits.
// SPDX-License-Identifier: MIT
namespace {
constexpr int THREADS = 256;
constexpr int WARPS = THREADS / 32;
constexpr int VECTORS = 4;

__device__ __forceinline__ float sum4(float4 v)
{
    return (v.x + v.y) + (v.z + v.w);
}

// Thread 0 gets the block's sum.
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
} // namespace

extern "C" __global__ void __launch_bounds__(THREADS)
    sum_parts(const float *__restrict__ x, float *__restrict__ parts, long long n)
{
    const float4 *from = reinterpret_cast<const float4 *>(x);
    const long long count = n / 4;
    const long long step = (long long)gridDim.x * THREADS * VECTORS;
    long long i = (long long)blockIdx.x * THREADS * VECTORS + threadIdx.x;
    float sum[VECTORS] = {};
    for (; i + (VECTORS - 1) * THREADS < count; i += step) {
        float4 v[VECTORS];
#pragma unroll
        for (int k = 0; k < VECTORS; k++)
            v[k] = from[i + k * THREADS];
#pragma unroll
        for (int k = 0; k < VECTORS; k++)
            sum[k] += sum4(v[k]);
    }
    // What is left of the thread's last stretch, and the n % 4 elements behind the last vector.
#pragma unroll
    for (int k = 0; k < VECTORS; k++)
        if (i + k * THREADS < count)
            sum[k] += sum4(from[i + k * THREADS]);
    if (blockIdx.x == 0 && (long long)threadIdx.x < n % 4)
        sum[0] += x[count * 4 + threadIdx.x];
    const float total = block_sum((sum[0] + sum[1]) + (sum[2] + sum[3]));
    if (threadIdx.x == 0)
        parts[blockIdx.x] = total;
}

extern "C" __global__ void __launch_bounds__(THREADS)
    sum_total(const float *__restrict__ parts, float *__restrict__ y, int count)
{
    float sum = 0.0f;
    for (int i = threadIdx.x; i < count; i += THREADS)
        sum += parts[i];
    const float total = block_sum(sum);
    if (threadIdx.x == 0)
        *y = total;
}
