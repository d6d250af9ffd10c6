// Running sum along rows, fp32, one block a row, in tiles of 4,096 elements with a carry. A warp owns 512
// elements of the tile as four groups of 128: lane l holds elements 4l .. 4l+3 of each group, so that every
// load and store is one contiguous 512-byte stretch. Sums are only ever added, never subtracted.
// SPDX-License-Identifier: MIT
namespace {
constexpr int THREADS = 256;
constexpr int WARPS = THREADS / 32;
constexpr int GROUPS = 4;
constexpr int PER_WARP = GROUPS * 128;
constexpr int TILE = WARPS * PER_WARP;

// Elements at .. at + 3 of a row; what lies behind its end counts as 0. With VEC rows start on 16 bytes and
// cols % 4 == 0, so that four elements are inside or outside together.
template <bool VEC> __device__ __forceinline__ float4 load4(const float *row, int at, int cols)
{
    if (VEC)
        return at < cols ? *reinterpret_cast<const float4 *>(row + at) : make_float4(0, 0, 0, 0);
    return make_float4(at < cols ? row[at] : 0.0f, at + 1 < cols ? row[at + 1] : 0.0f,
                       at + 2 < cols ? row[at + 2] : 0.0f, at + 3 < cols ? row[at + 3] : 0.0f);
}

template <bool VEC> __device__ __forceinline__ void store4(float *row, int at, int cols, float4 v)
{
    if (VEC) {
        if (at < cols)
            *reinterpret_cast<float4 *>(row + at) = v;
        return;
    }
    if (at < cols)
        row[at] = v.x;
    if (at + 1 < cols)
        row[at + 1] = v.y;
    if (at + 2 < cols)
        row[at + 2] = v.z;
    if (at + 3 < cols)
        row[at + 3] = v.w;
}

// The sum of `value` over lanes 0 .. lane.
__device__ __forceinline__ float warp_scan(float value, int lane)
{
#pragma unroll
    for (int offset = 1; offset < 32; offset *= 2) {
        const float before = __shfl_up_sync(0xffffffffu, value, offset);
        if (lane >= offset)
            value += before;
    }
    return value;
}

template <bool VEC>
__device__ __forceinline__ void scan_row(const float *x, float *y, int cols)
{
    __shared__ float totals[2][WARPS]; // of the tile's warps; two sets, so that one barrier a tile is enough
    const float *from = x + (long long)blockIdx.x * cols;
    float *to = y + (long long)blockIdx.x * cols;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    float carry = 0.0f;
    int set = 0;
    for (int tile = 0; tile < cols; tile += TILE, set ^= 1) {
        const int start = tile + warp * PER_WARP + lane * 4;
        float4 v[GROUPS];
        float before[GROUPS]; // the sum of what the warp holds before this lane's four
#pragma unroll
        for (int g = 0; g < GROUPS; g++)
            v[g] = load4<VEC>(from, start + g * 128, cols);
        float groups = 0.0f; // the sum of the warp's groups so far
#pragma unroll
        for (int g = 0; g < GROUPS; g++) {
            v[g].y += v[g].x;
            v[g].z += v[g].y;
            v[g].w += v[g].z;
            const float through = warp_scan(v[g].w, lane);
            const float left = __shfl_up_sync(0xffffffffu, through, 1);
            before[g] = groups + (lane == 0 ? 0.0f : left);
            groups += __shfl_sync(0xffffffffu, through, 31);
        }
        if (lane == 0)
            totals[set][warp] = groups;
        __syncthreads();
        float base = carry;
#pragma unroll
        for (int w = 0; w < WARPS; w++) {
            if (w == warp)
                base = carry;
            carry += totals[set][w];
        }
#pragma unroll
        for (int g = 0; g < GROUPS; g++) {
            const float add = base + before[g];
            v[g] = make_float4(v[g].x + add, v[g].y + add, v[g].z + add, v[g].w + add);
            store4<VEC>(to, start + g * 128, cols, v[g]);
        }
    }
}
} // namespace

// Rows that start on 16 bytes: cols % 4 == 0.
extern "C" __global__ void __launch_bounds__(THREADS)
    cumsum_vec(const float *__restrict__ x, float *__restrict__ y, int cols)
{
    scan_row<true>(x, y, cols);
}

extern "C" __global__ void __launch_bounds__(THREADS)
    cumsum_any(const float *__restrict__ x, float *__restrict__ y, int cols)
{
    scan_row<false>(x, y, cols);
}
