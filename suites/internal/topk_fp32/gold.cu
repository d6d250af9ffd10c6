// The eight largest elements of each row with their positions, fp32, one block a row. An element and its position
// make one 64-bit key, larger for a larger element and, among equals, for a smaller position; keys are unique.
// Each thread finds the largest of its keys. Of these 256 the eighth largest is a bound that eight keys of the
// row reach, so only threads whose largest key reaches it can hold one of the eight: at most eight threads, which
// list their keys above the bound. A key's place in the answer is the number of listed keys above it.
// SPDX-License-Identifier: MIT
namespace {
constexpr int THREADS = 256;
constexpr int WARPS = THREADS / 32;
constexpr int TOP = 8;
constexpr int SHORT = 64;      // rows below are not worth a bound
constexpr int PER_THREAD = 64; // cols of at most 16,384
constexpr int LISTED = TOP * PER_THREAD;

typedef unsigned long long key;

// Order-preserving: negative numbers are complemented, others get the top bit. -0 is made +0 first.
__device__ __forceinline__ key make_key(float value, int index)
{
    const unsigned bits = __float_as_uint(value + 0.0f);
    const unsigned ordered = bits ^ ((unsigned)((int)bits >> 31) | 0x80000000u);
    return (key)ordered << 32 | (unsigned)~index;
}

__device__ __forceinline__ int index_of(key k)
{
    return ~(int)(unsigned)k;
}

// Descending over the lanes of a warp.
__device__ __forceinline__ key warp_sort(key k, int lane)
{
#pragma unroll
    for (int size = 2; size <= 32; size *= 2)
#pragma unroll
        for (int stride = size / 2; stride > 0; stride /= 2) {
            const key other = __shfl_xor_sync(0xffffffffu, k, stride);
            const bool keeps_larger = ((lane & stride) == 0) == ((lane & size) == 0);
            k = (k > other) == keeps_larger ? k : other;
        }
    return k;
}

// A key that eight keys of the row reach (all of them, where there are fewer). Every thread gets it.
__device__ __forceinline__ key bound_of(key largest)
{
    __shared__ key tops[WARPS * TOP];
    __shared__ key bound;
    const int lane = threadIdx.x % 32;
    const key sorted = warp_sort(largest, lane);
    if (lane < TOP)
        tops[threadIdx.x / 32 * TOP + lane] = sorted;
    if (threadIdx.x == 0)
        bound = 0;
    __syncthreads();
    if (threadIdx.x < WARPS * TOP) {
        const key mine = tops[threadIdx.x];
        int above = 0;
#pragma unroll
        for (int i = 0; i < WARPS * TOP; i++)
            above += tops[i] > mine;
        if (above == TOP - 1 && mine != 0)
            bound = mine;
    }
    __syncthreads();
    return bound;
}

struct list {
    key keys[LISTED];
    int count;
};

__device__ __forceinline__ void add(list &l, key k, key bound)
{
    if (k >= bound)
        l.keys[atomicAdd(&l.count, 1)] = k;
}

__device__ __forceinline__ void finish(const list &l, const float *row, float *values,
                                       long long *indices)
{
    for (int i = threadIdx.x; i < l.count; i += THREADS) {
        const key mine = l.keys[i];
        int above = 0;
        for (int k = 0; k < l.count; k++)
            above += l.keys[k] > mine;
        if (above < TOP) {
            values[above] = row[index_of(mine)];
            indices[above] = index_of(mine);
        }
    }
}

__device__ __forceinline__ key larger(key a, key b)
{
    return a > b ? a : b;
}
} // namespace

// Rows that start on 16 bytes and stay in registers: cols % 4 == 0, 64 <= cols <= 4096.
extern "C" __global__ void __launch_bounds__(THREADS)
    topk_4096(const float *__restrict__ x, float *__restrict__ values,
              long long *__restrict__ indices, int cols)
{
    __shared__ list l;
    const float *row = x + (long long)blockIdx.x * cols;
    const int count = cols / 4;
    float4 v[4];
#pragma unroll
    for (int k = 0; k < 4; k++) {
        const int i = k * THREADS + threadIdx.x;
        v[k] = i < count ? reinterpret_cast<const float4 *>(row)[i] : make_float4(0, 0, 0, 0);
    }
    key largest = 0;
#pragma unroll
    for (int k = 0; k < 4; k++) {
        const int at = 4 * (k * THREADS + threadIdx.x);
        const key four = larger(larger(make_key(v[k].x, at), make_key(v[k].y, at + 1)),
                                larger(make_key(v[k].z, at + 2), make_key(v[k].w, at + 3)));
        largest = at < cols ? larger(largest, four) : largest;
    }
    if (threadIdx.x == 0)
        l.count = 0;
    const key bound = bound_of(largest);
    if (largest != 0 && largest >= bound)
#pragma unroll
        for (int k = 0; k < 4; k++) {
            const int at = 4 * (k * THREADS + threadIdx.x);
            if (at < cols) {
                add(l, make_key(v[k].x, at), bound);
                add(l, make_key(v[k].y, at + 1), bound);
                add(l, make_key(v[k].z, at + 2), bound);
                add(l, make_key(v[k].w, at + 3), bound);
            }
        }
    __syncthreads();
    finish(l, row, values + (long long)blockIdx.x * TOP, indices + (long long)blockIdx.x * TOP);
}

// Any row of up to 16,384 elements; `top` is how many are asked for, 8 or the whole row. A short row is listed
// whole.
extern "C" __global__ void __launch_bounds__(THREADS)
    topk_any(const float *__restrict__ x, float *__restrict__ values,
             long long *__restrict__ indices, int cols, int top)
{
    __shared__ list l;
    const float *row = x + (long long)blockIdx.x * cols;
    key largest = 0;
#pragma unroll 4
    for (int i = threadIdx.x; i < cols; i += THREADS)
        largest = larger(largest, make_key(row[i], i));
    if (threadIdx.x == 0)
        l.count = 0;
    if (cols < SHORT)
        __syncthreads();
    const key bound = cols < SHORT ? 0 : bound_of(largest);
    if (largest != 0 && largest >= bound)
        for (int i = threadIdx.x; i < cols; i += THREADS)
            add(l, make_key(row[i], i), bound);
    __syncthreads();
    finish(l, row, values + (long long)blockIdx.x * top, indices + (long long)blockIdx.x * top);
}
