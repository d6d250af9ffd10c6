// Running maximum along rows with its position, fp32, one block a row, in tiles of 4,096 elements with a carry. A
// warp owns 512 elements of the tile as four groups of 128: lane l holds elements 4l .. 4l+3 of each group, so
// that loads and stores are contiguous. Pairs are merged in the order of positions: the later one wins a tie, and
// so does a NaN.
// SPDX-License-Identifier: MIT
namespace {
constexpr int THREADS = 256;
constexpr int WARPS = THREADS / 32;
constexpr int GROUPS = 4;
constexpr int PER_WARP = GROUPS * 128;
constexpr int TILE = WARPS * PER_WARP;

struct best {
    float value;
    int index; // negative: nothing was seen, and the other one wins
};

__device__ __forceinline__ best nothing()
{
    return best{__uint_as_float(0xff800000u), -1};
}

// `a` comes before `b`.
__device__ __forceinline__ best later(best a, best b)
{
    return b.index >= 0 && !(b.value < a.value) && (a.value == a.value || b.value != b.value) ? b
                                                                                              : a;
}

__device__ __forceinline__ best from_left(best b, int offset)
{
    return best{__shfl_up_sync(0xffffffffu, b.value, offset),
                __shfl_up_sync(0xffffffffu, b.index, offset)};
}

// Element `at` of a row; what lies behind its end does not matter, since nothing follows it.
template <bool VEC> __device__ __forceinline__ float4 load4(const float *row, int at, int cols)
{
    if (VEC)
        return at < cols ? *reinterpret_cast<const float4 *>(row + at) : make_float4(0, 0, 0, 0);
    return make_float4(at < cols ? row[at] : 0.0f, at + 1 < cols ? row[at + 1] : 0.0f,
                       at + 2 < cols ? row[at + 2] : 0.0f, at + 3 < cols ? row[at + 3] : 0.0f);
}

template <bool VEC>
__device__ __forceinline__ void store4(float *values, long long *indices, int at, int cols,
                                       const best (&b)[4])
{
    if (VEC) {
        if (at < cols) {
            *reinterpret_cast<float4 *>(values + at) =
                make_float4(b[0].value, b[1].value, b[2].value, b[3].value);
            longlong2 *to = reinterpret_cast<longlong2 *>(indices + at);
            to[0] = make_longlong2(b[0].index, b[1].index);
            to[1] = make_longlong2(b[2].index, b[3].index);
        }
        return;
    }
#pragma unroll
    for (int i = 0; i < 4; i++)
        if (at + i < cols) {
            values[at + i] = b[i].value;
            indices[at + i] = b[i].index;
        }
}

// The best of lanes 0 .. lane.
__device__ __forceinline__ best warp_scan(best b, int lane)
{
#pragma unroll
    for (int offset = 1; offset < 32; offset *= 2) {
        const best before = from_left(b, offset);
        if (lane >= offset)
            b = later(before, b);
    }
    return b;
}

template <bool VEC>
__device__ __forceinline__ void scan_row(const float *x, float *values, long long *indices,
                                         int cols)
{
    __shared__ best
        totals[2][WARPS]; // of the tile's warps; two sets, so that one barrier a tile is enough
    const long long start = (long long)blockIdx.x * cols;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    best carry = nothing();
    int set = 0;
    for (int tile = 0; tile < cols; tile += TILE, set ^= 1) {
        const int first = tile + warp * PER_WARP + lane * 4;
        const int used = (cols - tile - warp * PER_WARP + 127) / 128; // groups that hold elements
        best b[GROUPS][4];
        best before[GROUPS]; // the best of what the warp holds before this lane's four
#pragma unroll
        for (int g = 0; g < GROUPS; g++) {
            if (g >= used)
                break;
            const int at = first + g * 128;
            const float4 v = load4<VEC>(x + start, at, cols);
            b[g][0] = best{v.x, at};
            b[g][1] = later(b[g][0], best{v.y, at + 1});
            b[g][2] = later(b[g][1], best{v.z, at + 2});
            b[g][3] = later(b[g][2], best{v.w, at + 3});
        }
        best groups = nothing(); // the best of the warp's groups so far
#pragma unroll
        for (int g = 0; g < GROUPS; g++) {
            if (g >= used)
                break;
            const best through = warp_scan(b[g][3], lane);
            const best left = from_left(through, 1);
            before[g] = lane == 0 ? groups : later(groups, left);
            groups = later(groups, best{__shfl_sync(0xffffffffu, through.value, 31),
                                        __shfl_sync(0xffffffffu, through.index, 31)});
        }
        if (lane == 0)
            totals[set][warp] = groups;
        __syncthreads();
        best base = carry;
#pragma unroll
        for (int w = 0; w < WARPS; w++) {
            if (w == warp)
                base = carry;
            carry = later(carry, totals[set][w]);
        }
#pragma unroll
        for (int g = 0; g < GROUPS; g++) {
            if (g >= used)
                break;
            const best left = later(base, before[g]);
#pragma unroll
            for (int i = 0; i < 4; i++)
                b[g][i] = later(left, b[g][i]);
            store4<VEC>(values + start, indices + start, first + g * 128, cols, b[g]);
        }
    }
}
} // namespace

// Rows that start on 16 bytes: cols % 4 == 0.
extern "C" __global__ void __launch_bounds__(THREADS, 3)
    cummax_vec(const float *__restrict__ x, float *__restrict__ values,
               long long *__restrict__ indices, int cols)
{
    scan_row<true>(x, values, indices, cols);
}

extern "C" __global__ void __launch_bounds__(THREADS)
    cummax_any(const float *__restrict__ x, float *__restrict__ values,
               long long *__restrict__ indices, int cols)
{
    scan_row<false>(x, values, indices, cols);
}
