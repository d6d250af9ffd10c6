// Kernels that are right although they look suspicious, for tests/unit/emulator/test_emulator_honest.c: none
// may have a finding. All take `in`, n floats, an input; `out`, n floats; `work`, ints of which the first
// 256 are zero, the rest unset. What each must compute is said above it.
// SPDX-License-Identifier: MIT
#include <cooperative_groups.h>
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>
#include <cub/warp/warp_reduce.cuh>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#define KERNEL(name) extern "C" __global__ void name(const float *in, float *out, int *work, int n)
#define ID (int)(blockIdx.x * blockDim.x + threadIdx.x)
namespace cg = cooperative_groups;

// out[block] = sum of 32 elements, in shared memory with barriers of the warp only.
KERNEL(warp_synchronous_reduction)
{
    __shared__ float s[8][32];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    s[warp][lane] = in[ID];
    __syncwarp();
    for (int k = 16; k > 0; k /= 2) {
        if (lane < k)
            s[warp][lane] += s[warp][lane + k];
        __syncwarp();
    }
    if (lane == 0)
        out[ID / 32] = s[warp][0];
}

// The same in the old way: volatile, no barriers at all.
KERNEL(volatile_warp_reduction)
{
    __shared__ volatile float s[8][32];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    s[warp][lane] = in[ID];
    for (int k = 16; k > 0; k /= 2) {
        const float other = s[warp][(lane + k) % 32];
        __syncwarp();
        s[warp][lane] = s[warp][lane] + other;
        __syncwarp();
    }
    if (lane == 0)
        out[ID / 32] = s[warp][0];
}

// Inclusive scan of n elements, one pass: each block waits for the one before it. work[0] hands out block
// numbers; work[16 + b] is a flag, out of the zeroed part; prefixes go to work[256 + b] as bits.
KERNEL(look_back_scan)
{
    __shared__ int number;
    __shared__ float parts[8], before;
    if (threadIdx.x == 0)
        number = atomicAdd(&work[0], 1);
    __syncthreads();
    const int b = number, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int i = b * blockDim.x + threadIdx.x;
    float v = i < n ? in[i] : 0.0f;
    for (int k = 1; k < 32; k *= 2) {
        const float up = __shfl_up_sync(0xffffffffu, v, k);
        v += lane >= k ? up : 0.0f;
    }
    if (lane == 31)
        parts[warp] = v;
    __syncthreads();
    float base = 0.0f, total = 0.0f;
    for (int k = 0; k < 8; k++) {
        base += k < warp ? parts[k] : 0.0f;
        total += parts[k];
    }
    if (threadIdx.x == 0) {
        volatile int *flags = work + 16;
        float prefix = 0.0f;
        if (b > 0) {
            while (flags[b - 1] == 0)
                ;
            __threadfence();
            prefix = __int_as_float(work[256 + b - 1]);
        }
        work[256 + b] = __float_as_int(prefix + total);
        __threadfence();
        flags[b] = 1;
        before = prefix;
    }
    __syncthreads();
    if (i < n)
        out[i] = before + base + v;
}

// The same hand-over by acquire and release. out[b] = sum of in[0] .. in[b].
KERNEL(chain_by_acquire_and_release)
{
    if (threadIdx.x != 0)
        return;
    const int b = blockIdx.x;
    float prefix = 0.0f;
    if (b > 0) {
        int ready;
        do
            asm volatile("ld.acquire.gpu.global.s32 %0, [%1];" : "=r"(ready) : "l"(work + b - 1)
                         : "memory");
        while (ready == 0);
        prefix = out[b - 1];
    }
    out[b] = prefix + in[b];
    asm volatile("st.release.gpu.global.s32 [%0], %1;" ::"l"(work + b), "r"(1) : "memory");
}

// Value and flag in one 64-bit word. out[b] = sum of in[0] .. in[b].
KERNEL(chain_by_packed_words)
{
    if (threadIdx.x != 0)
        return;
    const int b = blockIdx.x;
    volatile unsigned long long *words = reinterpret_cast<volatile unsigned long long *>(work);
    float prefix = 0.0f;
    if (b > 0) {
        unsigned long long w;
        do
            w = words[b - 1];
        while ((w >> 32) == 0);
        prefix = __uint_as_float((unsigned)w);
    }
    out[b] = prefix + in[b];
    words[b] = 1ull << 32 | __float_as_uint(prefix + in[b]);
}

// out[0] = sum of all: the block that comes last adds the others' sums.
KERNEL(last_block_adds)
{
    __shared__ bool last;
    __shared__ float parts[8];
    float v = ID < n ? in[ID] : 0.0f;
    for (int k = 16; k > 0; k /= 2)
        v += __shfl_xor_sync(0xffffffffu, v, k);
    if (threadIdx.x % 32 == 0)
        parts[threadIdx.x / 32] = v;
    __syncthreads();
    if (threadIdx.x == 0) {
        float sum = 0.0f;
        for (int k = 0; k < (int)blockDim.x / 32; k++)
            sum += parts[k];
        work[256 + blockIdx.x] = __float_as_int(sum);
        __threadfence();
        last = atomicAdd(&work[1], 1) == (int)gridDim.x - 1;
    }
    __syncthreads();
    if (last && threadIdx.x == 0) {
        __threadfence();
        float sum = 0.0f;
        for (int k = 0; k < (int)gridDim.x; k++)
            sum += __int_as_float(work[256 + k]);
        out[0] = sum;
    }
}

// All blocks wait for each other between writing and reading: out[i] = in[n - 1 - i].
KERNEL(barrier_across_the_grid)
{
    if (ID < n)
        work[256 + ID] = __float_as_int(in[ID]);
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) {
        atomicAdd(&work[2], 1);
        while (atomicAdd(&work[2], 0) < (int)gridDim.x)
            ;
    }
    __syncthreads();
    __threadfence();
    if (ID < n)
        out[ID] = __int_as_float(work[256 + n - 1 - ID]);
}

// out[i] = in[i] + in[i ^ 1] over tiles in two buffers, one barrier a tile.
KERNEL(double_buffered_tiles)
{
    __shared__ float tile[2][64];
    const int t = threadIdx.x;
    tile[0][t] = in[t];
    for (int k = 0; k < n / 64; k++) {
        __syncthreads();
        if (k + 1 < n / 64)
            tile[(k + 1) % 2][t] = in[(k + 1) * 64 + t];
        out[k * 64 + t] = tile[k % 2][t] + tile[k % 2][t ^ 1];
    }
}

// Two uses of the same memory with a barrier in between: out[i] = in[i] + count of lanes.
KERNEL(shared_memory_union)
{
    __shared__ union {
        float values[64];
        unsigned short counts[128];
    } s;
    const int t = threadIdx.x;
    s.values[63 - t] = in[t];
    __syncthreads();
    const float v = s.values[63 - t];
    __syncthreads();
    s.counts[2 * t] = (unsigned short)t;
    s.counts[2 * t + 1] = 1;
    __syncthreads();
    out[t] = v + (float)(s.counts[2 * t] + s.counts[(2 * t + 3) % 128]);
}

// out[i] = sum over the tile of 8 that i is in.
KERNEL(tiles_of_a_cooperative_group)
{
    const auto tile = cg::tiled_partition<8>(cg::this_thread_block());
    float v = in[ID];
    for (int k = 4; k > 0; k /= 2)
        v += tile.shfl_xor(v, k);
    out[ID] = v;
    tile.sync();
}

// work[3] = number of positive elements, one atomic for the lanes that are there.
KERNEL(coalesced_group_counts)
{
    if (ID < n && in[ID] > 0.0f) {
        const auto active = cg::coalesced_threads();
        if (active.thread_rank() == 0)
            atomicAdd(&work[3], (int)active.size());
    }
}

// out[b] = sum of 128 elements; out[16 + b] the same by the warp version of 4 warps.
KERNEL(cub_block_reduce)
{
    typedef cub::BlockReduce<float, 128> reduce;
    typedef cub::WarpReduce<float> warp_reduce;
    __shared__ union {
        reduce::TempStorage block;
        warp_reduce::TempStorage warps[4];
    } s;
    const float sum = reduce(s.block).Sum(in[ID]);
    if (threadIdx.x == 0)
        out[blockIdx.x] = sum;
    __syncthreads();
    const float part = warp_reduce(s.warps[threadIdx.x / 32]).Sum(in[ID]);
    if (threadIdx.x % 32 == 0)
        out[16 + ID / 32] = part;
}

// out = inclusive scan of each block's 512 elements.
KERNEL(cub_block_scan)
{
    typedef cub::BlockScan<float, 128> scan;
    __shared__ scan::TempStorage s;
    float v[4];
    for (int k = 0; k < 4; k++)
        v[k] = in[ID * 4 + k];
    scan(s).InclusiveSum(v, v);
    for (int k = 0; k < 4; k++)
        out[ID * 4 + k] = v[k];
}

// out[k] = how many of the block's elements fall into bin k, over the whole grid.
KERNEL(histogram)
{
    __shared__ int bins[16];
    const int t = threadIdx.x;
    if (t < 16)
        bins[t] = 0;
    __syncthreads();
    for (int i = ID; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&bins[(int)((in[i] + 1.0f) * 8.0f) & 15], 1);
    __syncthreads();
    if (t < 16)
        atomicAdd(&work[t + 32], bins[t]);
}

// Threads past the end leave before the barrier. out[i] = in[last of the block].
KERNEL(early_return)
{
    __shared__ float s[64];
    if (ID >= n)
        return;
    s[threadIdx.x] = in[ID];
    __syncthreads();
    const int rest = n - (int)(blockIdx.x * blockDim.x);
    out[ID] = s[(rest < (int)blockDim.x ? rest : (int)blockDim.x) - 1];
}

// Warp 0 fills, warp 1 empties, with two named barriers. out[k] = 2 * in[k].
KERNEL(producer_and_consumer)
{
    __shared__ float box[32];
    const int lane = threadIdx.x % 32;
    for (int k = 0; k < 4; k++) {
        if (threadIdx.x < 32) {
            if (k > 0)
                asm volatile("bar.sync 2, 64;" ::: "memory");
            box[lane] = in[32 * k + lane];
            asm volatile("bar.arrive 1, 64;" ::: "memory");
        } else {
            asm volatile("bar.sync 1, 64;" ::: "memory");
            out[32 * k + lane] = 2.0f * box[31 - (31 - lane)];
            if (k < 3)
                asm volatile("bar.arrive 2, 64;" ::: "memory");
        }
    }
}

// Every lane takes one lock: lanes of a warp wait for each other. work[5] = n threads, not atomically.
KERNEL(lock_in_a_warp)
{
    bool done = false;
    while (!done) {
        if (atomicCAS(&work[4], 0, 1) == 0) {
            __threadfence();
            volatile int *count = &work[5];
            *count = *count + 1;
            __threadfence();
            atomicExch(&work[4], 0);
            done = true;
        }
    }
}

// Lanes with the same key find each other. out[i] = how many of the warp have i's key.
KERNEL(matching_lanes)
{
    const int key = (int)(in[ID] * 4.0f);
    const unsigned same = __match_any_sync(0xffffffffu, key);
    out[ID] = (float)__popc(same);
    int all;
    __match_all_sync(0xffffffffu, 7, &all);
    if (!all)
        out[ID] = -1.0f;
}

// A value from a lane that is gone, thrown away: out[i] = in[i] + in[i + 1] inside the first 20 lanes.
KERNEL(undefined_but_unused)
{
    const int t = threadIdx.x;
    if (t >= 20)
        return;
    const float next = __shfl_down_sync(0x000fffffu, in[t], 1);
    out[t] = in[t] + (t < 19 ? next : 0.0f);
}

struct padded {
    char tag;
    double value;
};

// Padding moves along with a struct. out[i] = in[63 - i].
KERNEL(padding_in_a_struct)
{
    __shared__ padded s[64];
    padded own[2];
    own[threadIdx.x % 2].tag = (char)threadIdx.x;
    own[threadIdx.x % 2].value = (double)in[threadIdx.x];
    s[threadIdx.x] = own[threadIdx.x % 2];
    __syncthreads();
    const padded other = s[63 - threadIdx.x];
    out[threadIdx.x] = other.tag == (char)(63 - threadIdx.x) ? (float)other.value : -1.0f;
}

// All threads set one flag, none the other. out[0] = 1.
KERNEL(one_flag_for_all)
{
    __shared__ int seen;
    if (threadIdx.x == 0)
        seen = 0;
    __syncthreads();
    if (in[ID] > -2.0f)
        seen = 1;
    __syncthreads();
    if (threadIdx.x == 0)
        out[0] = (float)seen;
}

// Transposed tile of 32 x 32 with a padded row. out[32 * c + r] = in[32 * r + c] for 31 rows.
KERNEL(transposed_tile)
{
    __shared__ float tile[32][33];
    const int x = threadIdx.x % 32, y = threadIdx.x / 32;
    for (int r = y; r < 31; r += 8)
        tile[r][x] = in[32 * r + x];
    __syncthreads();
    if (x < 31)
        for (int c = y; c < 32; c += 8)
            out[31 * c + x] = tile[x][c];
}

// Votes and barriers with reductions. out[block] = number of positive elements.
KERNEL(counting_barrier)
{
    const int positive = __syncthreads_count(in[ID] > 0.0f);
    const bool any = __syncthreads_or(in[ID] > 0.5f), all = __syncthreads_and(in[ID] > -2.0f);
    const unsigned ballot = __ballot_sync(0xffffffffu, in[ID] > 0.0f);
    int own = __popc(ballot);
    if (threadIdx.x % 32 != 0)
        own = 0;
    atomicAdd(&work[64 + blockIdx.x], own);
    if (threadIdx.x == 0)
        out[blockIdx.x] = any && all ? (float)positive : -1.0f;
}

__device__ __noinline__ float square_or_half(float v, int depth)
{
    return depth > 0 ? v * v : 0.5f * v;
}

__device__ __noinline__ float through(float v, int depth)
{
    return square_or_half(v, depth) + 1.0f;
}

// Calls from diverged lanes. out[i] = in[i] squared or halved, plus one, then exchanged with a neighbour.
KERNEL(calls_from_both_sides)
{
    float v;
    if (threadIdx.x % 3 == 0)
        v = through(in[ID], 1);
    else
        v = through(in[ID], 0);
    out[ID] = __shfl_xor_sync(0xffffffffu, v, 1);
}

// Dynamic shared memory in three parts. out[i] = in[i] * i.
KERNEL(dynamic_parts)
{
    extern __shared__ char pool[];
    float *values = reinterpret_cast<float *>(pool);
    __half *halves = reinterpret_cast<__half *>(values + blockDim.x);
    unsigned char *bytes = reinterpret_cast<unsigned char *>(halves + blockDim.x);
    const int t = threadIdx.x;
    values[t] = in[t];
    halves[t] = __float2half((float)t);
    bytes[t] = 1;
    __syncthreads();
    const int r = blockDim.x - 1 - t;
    out[r] = values[r] * __half2float(halves[r]) * bytes[r];
}

// Sums by compare-and-swap as CUDA's guide writes them: the first read is a plain one. out[0] = sum of all,
// in double and f32, in shared and global memory.
KERNEL(sums_by_compare_and_swap)
{
    __shared__ unsigned long long total;
    float *whole = reinterpret_cast<float *>(&work[1]);
    if (threadIdx.x == 0)
        total = 0;
    __syncthreads();
    unsigned long long old = total, expected;
    do {
        expected = old;
        old = atomicCAS(&total, expected, __double_as_longlong(in[ID] + __longlong_as_double(expected)));
    } while (old != expected);
    __syncthreads();
    if (threadIdx.x == 0) {
        float is = *whole, before;
        do {
            before = is;
            is = __int_as_float(atomicCAS(reinterpret_cast<int *>(whole), __float_as_int(before),
                                          __float_as_int(before + (float)__longlong_as_double(total))));
        } while (__float_as_int(is) != __float_as_int(before));
        __threadfence();
        if (atomicAdd(&work[0], 1) == gridDim.x - 1) {
            __threadfence();
            out[0] = *reinterpret_cast<volatile float *>(whole);
        }
    }
}

// atomicAdd of bf16, which CUDA's headers write as such a loop. out[block] = number of threads.
KERNEL(sums_of_bf16)
{
    __shared__ __nv_bfloat162 pair;
    __shared__ __nv_bfloat16 single;
    if (threadIdx.x == 0) {
        pair = __floats2bfloat162_rn(0.0f, 0.0f);
        single = __float2bfloat16(0.0f);
    }
    __syncthreads();
    atomicAdd(&pair, __floats2bfloat162_rn(1.0f, 0.0f));
    atomicAdd(&single, __float2bfloat16(1.0f));
    __syncthreads();
    if (threadIdx.x == 0)
        out[blockIdx.x] = (__low2float(pair) + __bfloat162float(single)) / 2;
}
