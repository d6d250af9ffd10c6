// Index of the largest element of each row, fp32 to int64, one block a row. Each thread sees its elements
// in rising order and keeps the first largest; pairs are merged by value and then by smaller index.
// SPDX-License-Identifier: MIT
namespace {
constexpr int THREADS = 256;
constexpr int WARPS = THREADS / 32;
constexpr int VECTORS = 4; // loads in flight a thread
constexpr int NONE = 0x7fffffff; // behind every index

struct best {
    float value;
    int index;
};

__device__ __forceinline__ void see(best &b, float value, int index)
{
    if (value > b.value) {
        b.value = value;
        b.index = index;
    }
}

__device__ __forceinline__ void see4(best &b, float4 v, int index)
{
    see(b, v.x, index);
    see(b, v.y, index + 1);
    see(b, v.z, index + 2);
    see(b, v.w, index + 3);
}

__device__ __forceinline__ void merge(best &b, float value, int index)
{
    if (value > b.value || (value == b.value && index < b.index)) {
        b.value = value;
        b.index = index;
    }
}

// Thread 0 writes the row's answer.
__device__ __forceinline__ void finish(best b, long long *y)
{
    __shared__ float values[WARPS];
    __shared__ int indices[WARPS];
#pragma unroll
    for (int offset = 16; offset > 0; offset /= 2) {
        const float value = __shfl_xor_sync(0xffffffffu, b.value, offset);
        const int index = __shfl_xor_sync(0xffffffffu, b.index, offset);
        merge(b, value, index);
    }
    if (threadIdx.x % 32 == 0) {
        values[threadIdx.x / 32] = b.value;
        indices[threadIdx.x / 32] = b.index;
    }
    __syncthreads();
    if (threadIdx.x != 0)
        return;
#pragma unroll
    for (int i = 1; i < WARPS; i++)
        merge(b, values[i], indices[i]);
    y[blockIdx.x] = b.index;
}

// A thread starts from its first element, so that a row of -inf has an answer too.
__device__ __forceinline__ best first(int index, int cols)
{
    return best{__int_as_float(0xff800000), index < cols ? index : NONE};
}
} // namespace

// Rows that start on 16 bytes: cols % 4 == 0.
extern "C" __global__ void __launch_bounds__(THREADS)
    argmax_vec(const float *__restrict__ x, long long *__restrict__ y, int cols)
{
    const float4 *row = reinterpret_cast<const float4 *>(x + (long long)blockIdx.x * cols);
    const int count = cols / 4;
    best b = first(4 * (int)threadIdx.x, cols);
    int i = threadIdx.x;
    for (; i + (VECTORS - 1) * THREADS < count; i += VECTORS * THREADS) {
        float4 v[VECTORS];
#pragma unroll
        for (int k = 0; k < VECTORS; k++)
            v[k] = row[i + k * THREADS];
#pragma unroll
        for (int k = 0; k < VECTORS; k++)
            see4(b, v[k], 4 * (i + k * THREADS));
    }
    for (; i < count; i += THREADS)
        see4(b, row[i], 4 * i);
    finish(b, y);
}

extern "C" __global__ void __launch_bounds__(THREADS)
    argmax_any(const float *__restrict__ x, long long *__restrict__ y, int cols)
{
    const float *row = x + (long long)blockIdx.x * cols;
    best b = first(threadIdx.x, cols);
#pragma unroll 4
    for (int i = threadIdx.x; i < cols; i += THREADS)
        see(b, row[i], i);
    finish(b, y);
}
