// Variance of each row, fp32, one block a row, in two passes over values: first the mean, then the mean square of
// the differences from it. Rows of up to 8,192 elements that start on 16 bytes stay in registers between the
// passes, so that x is read once from memory; any other row is read twice.
// SPDX-License-Identifier: MIT
namespace {
constexpr int THREADS = 256;
constexpr int WARPS = THREADS / 32;

__device__ __forceinline__ float sum4(float4 v)
{
    return (v.x + v.y) + (v.z + v.w);
}

__device__ __forceinline__ float spread4(float4 v, float mean)
{
    const float a = v.x - mean, b = v.y - mean, c = v.z - mean, d = v.w - mean;
    return (a * a + b * b) + (c * c + d * d);
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

template <int VECTORS> __device__ __forceinline__ void var_row(const float *x, float *y, int cols)
{
    __shared__ float parts[2][WARPS];
    const float4 *from = reinterpret_cast<const float4 *>(x + (long long)blockIdx.x * cols);
    const int count = cols / 4;
    float4 row[VECTORS];
#pragma unroll
    for (int v = 0; v < VECTORS; v++) {
        const int i = v * THREADS + threadIdx.x;
        row[v] = i < count ? from[i] : make_float4(0, 0, 0, 0);
    }
    float sum = 0.0f;
#pragma unroll
    for (int v = 0; v < VECTORS; v++)
        sum += sum4(row[v]);
    const float mean = block_sum(sum, parts[0]) / (float)cols;
    float spread = 0.0f;
#pragma unroll
    for (int v = 0; v < VECTORS; v++)
        spread += v * THREADS + (int)threadIdx.x < count ? spread4(row[v], mean) : 0.0f;
    const float total = block_sum(spread, parts[1]);
    if (threadIdx.x == 0)
        y[blockIdx.x] = total / (float)cols;
}
} // namespace

// Rows that start on 16 bytes: cols % 4 == 0.
extern "C" __global__ void __launch_bounds__(THREADS)
    var_4096(const float *__restrict__ x, float *__restrict__ y, int cols)
{
    var_row<4>(x, y, cols);
}

extern "C" __global__ void __launch_bounds__(THREADS)
    var_8192(const float *__restrict__ x, float *__restrict__ y, int cols)
{
    var_row<8>(x, y, cols);
}

extern "C" __global__ void __launch_bounds__(THREADS)
    var_any(const float *__restrict__ x, float *__restrict__ y, int cols)
{
    __shared__ float parts[2][WARPS];
    const float *row = x + (long long)blockIdx.x * cols;
    float sum = 0.0f;
#pragma unroll 4
    for (int i = threadIdx.x; i < cols; i += THREADS)
        sum += row[i];
    const float mean = block_sum(sum, parts[0]) / (float)cols;
    float spread = 0.0f;
#pragma unroll 4
    for (int i = threadIdx.x; i < cols; i += THREADS)
        spread += (row[i] - mean) * (row[i] - mean);
    const float total = block_sum(spread, parts[1]);
    if (threadIdx.x == 0)
        y[blockIdx.x] = total / (float)cols;
}
