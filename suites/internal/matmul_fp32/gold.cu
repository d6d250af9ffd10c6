// Product of two matrices, fp32, with fused multiply-adds on CUDA cores (no TF32). Tiles of 128 x 128, k in
// steps of 8 through two sets of shared memory; each of 256 threads gets 8 x 8 of the tile as four blocks of
// 4 x 4, so that a warp's loads from shared memory meet no bank twice. The next step's loads are in flight
// while this one is multiplied.
// SPDX-License-Identifier: MIT
namespace {
constexpr int THREADS = 256;
constexpr int TILE = 128;
constexpr int DEPTH = 8;
constexpr int GROUP = 8; // rows of tiles that are worked on together, for the L2 cache

// Four neighbours of a row; what lies behind its end, or outside, is 0. With VEC rows start on 16 bytes and
// have a multiple of four elements.
template <bool VEC>
__device__ __forceinline__ float4 load4(const float *row, int at, int length, bool inside)
{
    if (VEC)
        return inside && at < length ? *reinterpret_cast<const float4 *>(row + at)
                                     : make_float4(0, 0, 0, 0);
    return make_float4(inside && at < length ? row[at] : 0.0f,
                       inside && at + 1 < length ? row[at + 1] : 0.0f,
                       inside && at + 2 < length ? row[at + 2] : 0.0f,
                       inside && at + 3 < length ? row[at + 3] : 0.0f);
}

template <bool VEC>
__device__ __forceinline__ void store4(float *row, int at, int length, const float (&v)[4])
{
    if (VEC) {
        if (at < length)
            *reinterpret_cast<float4 *>(row + at) = make_float4(v[0], v[1], v[2], v[3]);
        return;
    }
#pragma unroll
    for (int i = 0; i < 4; i++)
        if (at + i < length)
            row[at + i] = v[i];
}

struct step {
    float a[DEPTH][TILE + 4]; // transposed
    float b[DEPTH][TILE];
};

__device__ __forceinline__ void put(step &s, float4 a, float4 b)
{
    const int row = threadIdx.x / 2, deep = threadIdx.x % 2 * 4;
    s.a[deep][row] = a.x;
    s.a[deep + 1][row] = a.y;
    s.a[deep + 2][row] = a.z;
    s.a[deep + 3][row] = a.w;
    *reinterpret_cast<float4 *>(&s.b[threadIdx.x / 32][threadIdx.x % 32 * 4]) = b;
}

__device__ __forceinline__ void get(float (&to)[8], const float *low, const float *high)
{
    const float4 x = *reinterpret_cast<const float4 *>(low);
    const float4 y = *reinterpret_cast<const float4 *>(high);
    to[0] = x.x;
    to[1] = x.y;
    to[2] = x.z;
    to[3] = x.w;
    to[4] = y.x;
    to[5] = y.y;
    to[6] = y.z;
    to[7] = y.w;
}

// c += the step's product; the thread's rows are top .. top + 3 and 16 below, its columns left .. left + 3
// and 32 to the right.
__device__ __forceinline__ void multiply(float (&c)[8][8], const step &s, int top, int left)
{
#pragma unroll
    for (int deep = 0; deep < DEPTH; deep++) {
        float x[8], y[8];
        get(x, &s.a[deep][top], &s.a[deep][top + 16]);
        get(y, &s.b[deep][left], &s.b[deep][left + 32]);
#pragma unroll
        for (int i = 0; i < 8; i++)
#pragma unroll
            for (int j = 0; j < 8; j++)
                c[i][j] = fmaf(x[i], y[j], c[i][j]);
    }
}

template <bool VEC>
__device__ __forceinline__ void matmul_tile(const float *a, const float *b, float *y, int m, int n,
                                            int k)
{
    __shared__ step steps[2];
    const int rows = (m + TILE - 1) / TILE, cols = (n + TILE - 1) / TILE;
    const int group = blockIdx.x / (GROUP * cols), within = blockIdx.x % (GROUP * cols);
    const int height = min(GROUP, rows - group * GROUP);
    const int row = (group * GROUP + within % height) * TILE, col = within / height * TILE;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int top = warp / 2 * 32 + lane / 8 * 4, left = warp % 2 * 64 + lane % 8 * 4;
    // What this thread loads of each step: four neighbours in a row of a, and four in a row of b.
    const int load_row = row + threadIdx.x / 2, load_deep = threadIdx.x % 2 * 4;
    const float *a_row = a + (long long)min(load_row, m - 1) * k;
    const int b_deep = threadIdx.x / 32, b_col = col + threadIdx.x % 32 * 4;
    const bool is_needed = row + top < m && col + left < n;
    float c[8][8] = {};
    float4 va = load4<VEC>(a_row, load_deep, k, load_row < m);
    float4 vb = load4<VEC>(b + (long long)b_deep * n, b_col, n, b_deep < k);
    put(steps[0], va, vb);
    __syncthreads();
    int set = 0;
    for (int first = 0; first < k; first += DEPTH, set ^= 1) {
        const int next = first + DEPTH;
        if (next < k) {
            va = load4<VEC>(a_row, next + load_deep, k, load_row < m);
            vb = load4<VEC>(b + (long long)(next + b_deep) * n, b_col, n, next + b_deep < k);
        }
        if (is_needed)
            multiply(c, steps[set], top, left);
        if (next < k)
            put(steps[set ^ 1], va, vb);
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < 8; i++) {
        const int r = row + top + i / 4 * 16 + i % 4;
        if (r >= m)
            continue;
        const float low[4] = {c[i][0], c[i][1], c[i][2], c[i][3]};
        const float high[4] = {c[i][4], c[i][5], c[i][6], c[i][7]};
        store4<VEC>(y + (long long)r * n, col + left, n, low);
        store4<VEC>(y + (long long)r * n, col + left + 32, n, high);
    }
}
} // namespace

// Rows that start on 16 bytes: k % 4 == 0 and n % 4 == 0.
extern "C" __global__ void __launch_bounds__(THREADS)
    matmul_vec(const float *__restrict__ a, const float *__restrict__ b, float *__restrict__ y,
               int m, int n, int k)
{
    matmul_tile<true>(a, b, y, m, n, k);
}

extern "C" __global__ void __launch_bounds__(THREADS)
    matmul_any(const float *__restrict__ a, const float *__restrict__ b, float *__restrict__ y,
               int m, int n, int k)
{
    matmul_tile<false>(a, b, y, m, n, k);
}
