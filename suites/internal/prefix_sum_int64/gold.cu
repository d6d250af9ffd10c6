// Exclusive prefix sum of a long vector of int64, in three kernels: totals of tiles of 4,096 elements, the
// prefix sum of those totals by one block, and the tiles once more with what precedes each. Integers wrap, so
// that any order of additions gives the same bits.
// SPDX-License-Identifier: MIT
namespace {
constexpr int THREADS = 256;
constexpr int WARPS = THREADS / 32;
constexpr int PAIRS = 8; // of elements, a thread
constexpr int TILE = THREADS * PAIRS * 2;

typedef unsigned long long word; // wraps

__device__ __forceinline__ ulonglong2 load2(const word *x, long long at, long long n)
{
    if (at + 1 < n)
        return *reinterpret_cast<const ulonglong2 *>(x + at);
    return make_ulonglong2(at < n ? x[at] : 0, 0);
}

__device__ __forceinline__ void store2(word *y, long long at, long long n, word first, word second)
{
    if (at + 1 < n)
        *reinterpret_cast<ulonglong2 *>(y + at) = make_ulonglong2(first, second);
    else if (at < n)
        y[at] = first;
}

// The sum over lanes 0 .. lane.
__device__ __forceinline__ word warp_scan(word value, int lane)
{
#pragma unroll
    for (int offset = 1; offset < 32; offset *= 2) {
        const word before = __shfl_up_sync(0xffffffffu, value, offset);
        if (lane >= offset)
            value += before;
    }
    return value;
}

// What the block's threads before this one hold; *total gets what all hold.
__device__ __forceinline__ word block_before(word value, word (&totals)[WARPS], word *total)
{
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const word through = warp_scan(value, lane);
    if (lane == 31)
        totals[warp] = through;
    __syncthreads();
    word before = through - value, all = 0;
#pragma unroll
    for (int w = 0; w < WARPS; w++) {
        before += w < warp ? totals[w] : 0;
        all += totals[w];
    }
    *total = all;
    return before;
}
} // namespace

extern "C" __global__ void __launch_bounds__(THREADS)
    tile_totals(const word *__restrict__ x, word *__restrict__ totals, long long n)
{
    __shared__ word parts[WARPS];
    const long long start = (long long)blockIdx.x * TILE + 2 * threadIdx.x;
    ulonglong2 v[PAIRS];
#pragma unroll
    for (int k = 0; k < PAIRS; k++)
        v[k] = load2(x, start + k * 2 * THREADS, n);
    word sum = 0;
#pragma unroll
    for (int k = 0; k < PAIRS; k++)
        sum += v[k].x + v[k].y;
#pragma unroll
    for (int offset = 16; offset > 0; offset /= 2)
        sum += __shfl_xor_sync(0xffffffffu, sum, offset);
    if (threadIdx.x % 32 == 0)
        parts[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x != 0)
        return;
#pragma unroll
    for (int w = 1; w < WARPS; w++)
        sum += parts[w];
    totals[blockIdx.x] = sum;
}

// One block: before[t] becomes the sum of the totals of tiles 0 .. t-1.
extern "C" __global__ void __launch_bounds__(THREADS)
    scan_totals(const word *__restrict__ totals, word *__restrict__ before, int tiles)
{
    constexpr int EACH = 8;
    __shared__ word parts[2][WARPS]; // two sets, so that one barrier a round is enough
    word carry = 0;
    int set = 0;
    for (int first = 0; first < tiles; first += THREADS * EACH, set ^= 1) {
        const int at = first + threadIdx.x * EACH;
        word v[EACH], sum = 0, all;
#pragma unroll
        for (int k = 0; k < EACH; k++) {
            v[k] = at + k < tiles ? totals[at + k] : 0;
            sum += v[k];
        }
        word running = carry + block_before(sum, parts[set], &all);
#pragma unroll
        for (int k = 0; k < EACH; k++) {
            if (at + k < tiles)
                before[at + k] = running;
            running += v[k];
        }
        carry += all;
    }
}

// A warp owns 512 elements of the tile in pairs; lanes scan pair after pair, so that stores are contiguous.
extern "C" __global__ void __launch_bounds__(THREADS)
    scan_tiles(const word *__restrict__ x, const word *__restrict__ before, word *__restrict__ y,
               long long n)
{
    __shared__ word totals[WARPS];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const long long start = (long long)blockIdx.x * TILE + warp * (TILE / WARPS) + 2 * lane;
    ulonglong2 v[PAIRS];
#pragma unroll
    for (int k = 0; k < PAIRS; k++)
        v[k] = load2(x, start + k * 64, n);
    word left[PAIRS], sum = 0; // left: what the warp holds before the pair
#pragma unroll
    for (int k = 0; k < PAIRS; k++) {
        const word pair = v[k].x + v[k].y;
        const word through = warp_scan(pair, lane);
        left[k] = sum + through - pair;
        sum += __shfl_sync(0xffffffffu, through, 31);
    }
    if (lane == 0)
        totals[warp] = sum;
    __syncthreads();
    word base = before[blockIdx.x];
#pragma unroll
    for (int w = 0; w < WARPS; w++)
        base += w < warp ? totals[w] : 0;
#pragma unroll
    for (int k = 0; k < PAIRS; k++)
        store2(y, start + k * 64, n, base + left[k], base + left[k] + v[k].x);
}
