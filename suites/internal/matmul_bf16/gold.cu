// Product of two matrices, bf16, on tensor cores: tiles of 128 x 128 by four warps of
// 64 x 64, k in steps of 32 through three stages of shared memory that asynchronous copies fill, mma.sync
// with fp32 accumulators. Needs rows that start on 16 bytes (k and n multiples of 8); any other shape, and
// the emulator, takes a kernel for CUDA cores.
// SPDX-License-Identifier: MIT
#include <cuda_bf16.h>

namespace {
constexpr int THREADS = 128; // four warps, each 64 x 64 of the tile
constexpr int TILE_M = 128, TILE_N = 128, TILE_K = 32;
constexpr int STAGES = 3;
constexpr int A_BYTES = TILE_M * TILE_K * 2;
constexpr int STAGE_BYTES = A_BYTES + TILE_K * TILE_N * 2; // 16 KiB; the plan asks for three
constexpr int GROUP = 8; // rows of tiles that are worked on together, for the L2 cache

// 16 bytes to shared memory, or 16 zeros; `from` is not read then.
__device__ __forceinline__ void copy16(unsigned to, const void *from, bool inside)
{
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from),
                 "r"(inside ? 16 : 0)
                 : "memory");
}

__device__ __forceinline__ void close_group()
{
    asm volatile("cp.async.commit_group;" ::: "memory");
}

// Waits until all but the newest `LEFT` groups have arrived.
template <int LEFT> __device__ __forceinline__ void wait_groups()
{
    asm volatile("cp.async.wait_group %0;" ::"n"(LEFT) : "memory");
}

// Four 8 x 8 matrices; lane l names the row l % 8 of matrix l / 8.
__device__ __forceinline__ void load_matrices(unsigned (&r)[4], unsigned from)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(from)
                 : "memory");
}

__device__ __forceinline__ void load_transposed(unsigned (&r)[4], unsigned from)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(from)
                 : "memory");
}

// c += a b for 16 x 16 times 16 x 8, accumulated in fp32.
__device__ __forceinline__ void multiply(float (&c)[4], const unsigned (&a)[4], unsigned b0,
                                         unsigned b1)
{
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
                 "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

// Where 16 bytes lie in a stage: swizzled, so that neither copies nor matrix loads meet a bank twice.
__device__ __forceinline__ unsigned place_a(int row, int chunk)
{
    return row * (TILE_K * 2) + ((chunk ^ (row >> 1 & 3)) << 4);
}

__device__ __forceinline__ unsigned place_b(int row, int chunk)
{
    return A_BYTES + row * (TILE_N * 2) + ((chunk ^ (row & 7)) << 4);
}

// The operands of one tile of the result.
struct operands {
    const __nv_bfloat16 *a, *b; // [m][k] and [k][n]
    int m, n, k;                // k: length of a row of a
    int row, col;               // the tile's first
    int begin, end;             // the part of k to multiply
};

// Which tile a block works on: GROUP tiles of a column, then the next column.
__device__ __forceinline__ void find_tile(operands &o)
{
    const int rows = (o.m + TILE_M - 1) / TILE_M, cols = (o.n + TILE_N - 1) / TILE_N;
    const int group = blockIdx.x / (GROUP * cols), within = blockIdx.x % (GROUP * cols);
    const int height = min(GROUP, rows - group * GROUP);
    o.row = (group * GROUP + within % height) * TILE_M;
    o.col = within / height * TILE_N;
}

// One stage: 128 x 32 of a and 32 x 128 of b, 16 bytes a copy, four copies of each a thread.
__device__ __forceinline__ void fetch(const operands &o, unsigned stage, int first)
{
    const int row = threadIdx.x / 4, chunk = threadIdx.x % 4;
#pragma unroll
    for (int i = 0; i < 4; i++) {
        const int r = row + i * 32;
        const bool inside = o.row + r < o.m && first + chunk * 8 < o.end;
        const __nv_bfloat16 *from = o.a + (long long)(o.row + r) * o.k + first + chunk * 8;
        copy16(stage + place_a(r, chunk), inside ? from : o.a, inside);
    }
    const int deep = threadIdx.x / 16, wide = threadIdx.x % 16;
#pragma unroll
    for (int i = 0; i < 4; i++) {
        const int r = deep + i * 8;
        const bool inside = first + r < o.end && o.col + wide * 8 < o.n;
        const __nv_bfloat16 *from = o.b + (long long)(first + r) * o.n + o.col + wide * 8;
        copy16(stage + place_b(r, wide), inside ? from : o.b, inside);
    }
}

// The warp's 64 x 64 of the tile times one stage.
__device__ __forceinline__ void multiply_stage(float (&c)[4][8][4], unsigned stage, int top,
                                               int left)
{
    const int lane = threadIdx.x % 32;
#pragma unroll
    for (int step = 0; step < TILE_K / 16; step++) {
        unsigned a[4][4], b[4][4];
#pragma unroll
        for (int i = 0; i < 4; i++)
            load_matrices(a[i], stage + place_a(top + i * 16 + lane % 16, step * 2 + lane / 16));
#pragma unroll
        for (int j = 0; j < 4; j++)
            load_transposed(b[j],
                            stage + place_b(step * 16 + lane % 16, left / 8 + j * 2 + lane / 16));
#pragma unroll
        for (int i = 0; i < 4; i++)
#pragma unroll
            for (int j = 0; j < 8; j++)
                multiply(c[i][j], a[i], b[j / 2][j % 2 * 2], b[j / 2][j % 2 * 2 + 1]);
    }
}

__device__ __forceinline__ void multiply_tile(const operands &o, float (&c)[4][8][4], int top,
                                              int left)
{
    extern __shared__ __align__(128) unsigned char memory[];
    const unsigned base = (unsigned)__cvta_generic_to_shared(memory);
    const int tiles = (o.end - o.begin + TILE_K - 1) / TILE_K;
#pragma unroll
    for (int t = 0; t < STAGES - 1; t++) {
        if (t < tiles)
            fetch(o, base + t * STAGE_BYTES, o.begin + t * TILE_K);
        close_group();
    }
    for (int t = 0; t < tiles; t++) {
        wait_groups<STAGES - 2>();
        // After this, stage t is there for all, and all are done with the stage before it.
        __syncthreads();
        const int next = t + STAGES - 1;
        if (next < tiles)
            fetch(o, base + next % STAGES * STAGE_BYTES, o.begin + next * TILE_K);
        close_group();
        multiply_stage(c, base + t % STAGES * STAGE_BYTES, top, left);
    }
    wait_groups<0>();
}

// Calls put(row, col, first, second) for each pair of neighbours that lies in the result.
template <typename PUT>
__device__ __forceinline__ void each_pair(const operands &o, const float (&c)[4][8][4], int top,
                                          int left, PUT put)
{
    const int lane = threadIdx.x % 32;
#pragma unroll
    for (int i = 0; i < 4; i++)
#pragma unroll
        for (int j = 0; j < 8; j++)
#pragma unroll
            for (int h = 0; h < 2; h++) {
                const int row = o.row + top + i * 16 + h * 8 + lane / 4;
                const int col = o.col + left + j * 8 + lane % 4 * 2;
                if (row < o.m && col < o.n)
                    put(row, col, c[i][j][h * 2], c[i][j][h * 2 + 1]);
            }
}

constexpr int SIDE = 64; // of a tile on CUDA cores
constexpr int DEPTH = 16;

// The tile at (row, col), k from begin to end, on CUDA cores: each of 256 threads gets 4 x 4 of it.
__device__ __forceinline__ void cores_tile(const __nv_bfloat16 *a, const __nv_bfloat16 *b, int m,
                                           int n, int k, int row, int col, int begin, int end,
                                           float (&c)[4][4])
{
    __shared__ float as[DEPTH][SIDE + 4], bs[DEPTH][SIDE + 4];
    const int down = threadIdx.x / 16, across = threadIdx.x % 16;
    const bool is_needed = row + down * 4 < m && col + across * 4 < n;
    for (int first = begin; first < end; first += DEPTH) {
#pragma unroll
        for (int i = threadIdx.x; i < SIDE * DEPTH; i += 256) {
            const int r = i / DEPTH, deep = i % DEPTH;
            const bool inside = row + r < m && first + deep < end;
            as[deep][r] =
                inside ? __bfloat162float(a[(long long)(row + r) * k + first + deep]) : 0.0f;
        }
#pragma unroll
        for (int i = threadIdx.x; i < SIDE * DEPTH; i += 256) {
            const int r = i % SIDE, deep = i / SIDE;
            const bool inside = col + r < n && first + deep < end;
            bs[deep][r] =
                inside ? __bfloat162float(b[(long long)(first + deep) * n + col + r]) : 0.0f;
        }
        __syncthreads();
#pragma unroll
        for (int deep = 0; deep < DEPTH && is_needed; deep++) {
            const float4 x = *reinterpret_cast<const float4 *>(&as[deep][down * 4]);
            const float4 y = *reinterpret_cast<const float4 *>(&bs[deep][across * 4]);
            const float xs[4] = {x.x, x.y, x.z, x.w}, ys[4] = {y.x, y.y, y.z, y.w};
#pragma unroll
            for (int i = 0; i < 4; i++)
#pragma unroll
                for (int j = 0; j < 4; j++)
                    c[i][j] += xs[i] * ys[j];
        }
        __syncthreads();
    }
}

__device__ __forceinline__ void store2(__nv_bfloat16 *y, long long at, float first, float second)
{
    *reinterpret_cast<__nv_bfloat162 *>(y + at) = __floats2bfloat162_rn(first, second);
}

#ifdef __CUDA_ARCH_FEAT_SM90_ALL // compiled for sm_90a
// ---- Hopper's tensor cores: tiles of 128 x 256 by two warpgroups of 64 x 256, k in steps of 64 through four
// stages of shared memory that asynchronous copies fill, 128-byte swizzled as wgmma reads it. While a
// warpgroup's products of one stage are under way it starts those of the next; a stage is filled again when
// both are done with it.
constexpr int H_THREADS = 256, H_STAGES = 4;
constexpr int H_M = 128, H_N = 256, H_K = 64;
constexpr int H_A_BYTES = H_M * H_K * 2;                     // rows of 128 bytes
constexpr int H_PANEL_BYTES = H_K * 128;                     // b in panels of 64 columns: rows of 128 bytes
constexpr int H_STAGE_BYTES = H_A_BYTES + H_N / 64 * H_PANEL_BYTES; // 48 KiB; the plan asks for four, and 1 KiB
constexpr int H_OUT_ROW = H_N * 2 + 16;                      // bytes of a row of results in shared memory

// What wgmma knows of a tile with 128-byte swizzling: where it starts, and the distances (in units of 16
// bytes) between panels of 64 columns and between groups of 8 rows.
__device__ __forceinline__ unsigned long long describe(unsigned at, int panels, int rows)
{
    return (unsigned long long)(at >> 4 & 0x3fff) | (unsigned long long)panels << 16 |
           (unsigned long long)rows << 32 | 1ull << 62;
}

__device__ __forceinline__ unsigned place_h(int row, int chunk)
{
    return row * 128 + ((chunk ^ (row & 7)) << 4);
}

// c += a b for 64 x 16 times 16 x 256, by a whole warpgroup, from shared memory. a lies row after row, b too:
// that is the "transposed" form for b.
__device__ __forceinline__ void multiply_group(float (&c)[32][4], unsigned long long a,
                                               unsigned long long b)
{
    asm volatile(
        "{ .reg .pred add; setp.ne.b32 add, %130, 0;\n"
        "wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16 {"
        "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
        "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
        "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
        "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, "
        "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, "
        "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, "
        "%96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, "
        "%112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127"
        "}, %128, %129, add, 1, 1, 0, 1; }"
          : "+f"(c[0][0]), "+f"(c[0][1]), "+f"(c[0][2]), "+f"(c[0][3]),
            "+f"(c[1][0]), "+f"(c[1][1]), "+f"(c[1][2]), "+f"(c[1][3]),
            "+f"(c[2][0]), "+f"(c[2][1]), "+f"(c[2][2]), "+f"(c[2][3]),
            "+f"(c[3][0]), "+f"(c[3][1]), "+f"(c[3][2]), "+f"(c[3][3]),
            "+f"(c[4][0]), "+f"(c[4][1]), "+f"(c[4][2]), "+f"(c[4][3]),
            "+f"(c[5][0]), "+f"(c[5][1]), "+f"(c[5][2]), "+f"(c[5][3]),
            "+f"(c[6][0]), "+f"(c[6][1]), "+f"(c[6][2]), "+f"(c[6][3]),
            "+f"(c[7][0]), "+f"(c[7][1]), "+f"(c[7][2]), "+f"(c[7][3]),
            "+f"(c[8][0]), "+f"(c[8][1]), "+f"(c[8][2]), "+f"(c[8][3]),
            "+f"(c[9][0]), "+f"(c[9][1]), "+f"(c[9][2]), "+f"(c[9][3]),
            "+f"(c[10][0]), "+f"(c[10][1]), "+f"(c[10][2]), "+f"(c[10][3]),
            "+f"(c[11][0]), "+f"(c[11][1]), "+f"(c[11][2]), "+f"(c[11][3]),
            "+f"(c[12][0]), "+f"(c[12][1]), "+f"(c[12][2]), "+f"(c[12][3]),
            "+f"(c[13][0]), "+f"(c[13][1]), "+f"(c[13][2]), "+f"(c[13][3]),
            "+f"(c[14][0]), "+f"(c[14][1]), "+f"(c[14][2]), "+f"(c[14][3]),
            "+f"(c[15][0]), "+f"(c[15][1]), "+f"(c[15][2]), "+f"(c[15][3]),
            "+f"(c[16][0]), "+f"(c[16][1]), "+f"(c[16][2]), "+f"(c[16][3]),
            "+f"(c[17][0]), "+f"(c[17][1]), "+f"(c[17][2]), "+f"(c[17][3]),
            "+f"(c[18][0]), "+f"(c[18][1]), "+f"(c[18][2]), "+f"(c[18][3]),
            "+f"(c[19][0]), "+f"(c[19][1]), "+f"(c[19][2]), "+f"(c[19][3]),
            "+f"(c[20][0]), "+f"(c[20][1]), "+f"(c[20][2]), "+f"(c[20][3]),
            "+f"(c[21][0]), "+f"(c[21][1]), "+f"(c[21][2]), "+f"(c[21][3]),
            "+f"(c[22][0]), "+f"(c[22][1]), "+f"(c[22][2]), "+f"(c[22][3]),
            "+f"(c[23][0]), "+f"(c[23][1]), "+f"(c[23][2]), "+f"(c[23][3]),
            "+f"(c[24][0]), "+f"(c[24][1]), "+f"(c[24][2]), "+f"(c[24][3]),
            "+f"(c[25][0]), "+f"(c[25][1]), "+f"(c[25][2]), "+f"(c[25][3]),
            "+f"(c[26][0]), "+f"(c[26][1]), "+f"(c[26][2]), "+f"(c[26][3]),
            "+f"(c[27][0]), "+f"(c[27][1]), "+f"(c[27][2]), "+f"(c[27][3]),
            "+f"(c[28][0]), "+f"(c[28][1]), "+f"(c[28][2]), "+f"(c[28][3]),
            "+f"(c[29][0]), "+f"(c[29][1]), "+f"(c[29][2]), "+f"(c[29][3]),
            "+f"(c[30][0]), "+f"(c[30][1]), "+f"(c[30][2]), "+f"(c[30][3]),
            "+f"(c[31][0]), "+f"(c[31][1]), "+f"(c[31][2]), "+f"(c[31][3])
          : "l"(a), "l"(b), "r"(1));
}

// Keeps the compiler from moving sums while products are under way.
__device__ __forceinline__ void pin(float (&c)[32][4])
{
#pragma unroll
    for (int j = 0; j < 32; j++)
#pragma unroll
        for (int i = 0; i < 4; i++)
            asm volatile("" : "+f"(c[j][i])::"memory");
}

__device__ __forceinline__ void fetch_h(const operands &o, unsigned stage, int first)
{
    const int row = threadIdx.x / 8, chunk = threadIdx.x % 8;
#pragma unroll
    for (int i = 0; i < 4; i++) {
        const int r = row + i * 32;
        const bool inside = o.row + r < o.m && first + chunk * 8 < o.end;
        const __nv_bfloat16 *from = o.a + (long long)(o.row + r) * o.k + first + chunk * 8;
        copy16(stage + place_h(r, chunk), inside ? from : o.a, inside);
    }
    const int deep = threadIdx.x / 32, wide = threadIdx.x % 32;
#pragma unroll
    for (int i = 0; i < 8; i++) {
        const int r = deep + i * 8;
        const bool inside = first + r < o.end && o.col + wide * 8 < o.n;
        const __nv_bfloat16 *from = o.b + (long long)(first + r) * o.n + o.col + wide * 8;
        copy16(stage + H_A_BYTES + wide / 8 * H_PANEL_BYTES + place_h(r, wide % 8),
               inside ? from : o.b, inside);
    }
}

__device__ __forceinline__ void multiply_stage_h(float (&c)[32][4], unsigned stage, int top)
{
    pin(c);
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
    for (int step = 0; step < H_K / 16; step++)
        multiply_group(c, describe(stage + top * 128 + step * 32, 1, 1024 / 16),
                       describe(stage + H_A_BYTES + step * 2048, H_PANEL_BYTES / 16, 1024 / 16));
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    pin(c);
}

template <int LEFT> __device__ __forceinline__ void wait_products()
{
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(LEFT) : "memory");
}

// The stages start on 1,024 bytes.
__device__ __forceinline__ unsigned stages_of(unsigned char *memory)
{
    return ((unsigned)__cvta_generic_to_shared(memory) + 1023) & ~1023u;
}

__device__ __forceinline__ void multiply_tile_h(const operands &o, float (&c)[32][4], unsigned base)
{
    const int tiles = (o.end - o.begin + H_K - 1) / H_K;
    const int top = threadIdx.x / 128 * 64;
#pragma unroll
    for (int t = 0; t < H_STAGES - 2; t++) {
        if (t < tiles)
            fetch_h(o, base + t * H_STAGE_BYTES, o.begin + t * H_K);
        close_group();
    }
    for (int t = 0; t < tiles; t++) {
        wait_groups<H_STAGES - 3>();
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        // After this, stage t is there for all, and all are done with the stage before the last one.
        __syncthreads();
        multiply_stage_h(c, base + t % H_STAGES * H_STAGE_BYTES, top);
        const int next = t + H_STAGES - 2;
        if (next < tiles)
            fetch_h(o, base + next % H_STAGES * H_STAGE_BYTES, o.begin + next * H_K);
        close_group();
        wait_products<1>();
    }
    wait_products<0>();
    pin(c);
    wait_groups<0>();
    __syncthreads();
}

__device__ __forceinline__ void find_tile_h(operands &o)
{
    const int rows = (o.m + H_M - 1) / H_M, cols = (o.n + H_N - 1) / H_N;
    const int group = blockIdx.x / (GROUP * cols), within = blockIdx.x % (GROUP * cols);
    const int height = min(GROUP, rows - group * GROUP);
    o.row = (group * GROUP + within % height) * H_M;
    o.col = within / height * H_N;
}

// Results through shared memory, so that a warp stores a row of 512 bytes. `finish` turns a sum into a result.
template <typename FINISH>
__device__ __forceinline__ void store_tile_h(const operands &o, const float (&c)[32][4],
                                             unsigned char *out, __nv_bfloat16 *y, FINISH finish)
{
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
#pragma unroll
    for (int j = 0; j < 32; j++)
#pragma unroll
        for (int h = 0; h < 2; h++) {
            const int row = warp * 16 + h * 8 + lane / 4, col = j * 8 + lane % 4 * 2;
            store2(reinterpret_cast<__nv_bfloat16 *>(out + row * H_OUT_ROW), col,
                   finish(c[j][h * 2], o.col + col), finish(c[j][h * 2 + 1], o.col + col + 1));
        }
    __syncthreads();
    for (int row = warp; row < H_M && o.row + row < o.m; row += H_THREADS / 32)
        if (o.col + lane * 8 < o.n)
            *reinterpret_cast<uint4 *>(y + (long long)(o.row + row) * o.n + o.col + lane * 8) =
                *reinterpret_cast<const uint4 *>(out + row * H_OUT_ROW + lane * 16);
}
#endif
} // namespace

// Rows of a and b that start on 16 bytes: k % 8 == 0 and n % 8 == 0.
extern "C" __global__ void __launch_bounds__(THREADS, 2)
    matmul_tensor(const __nv_bfloat16 *__restrict__ a, const __nv_bfloat16 *__restrict__ b,
                  __nv_bfloat16 *__restrict__ y, int m, int n, int k)
{
    operands o = {a, b, m, n, k, 0, 0, 0, k};
    find_tile(o);
    const int top = threadIdx.x / 64 * 64, left = threadIdx.x / 32 % 2 * 64;
    float c[4][8][4] = {};
    multiply_tile(o, c, top, left);
    each_pair(o, c, top, left, [=](int row, int col, float first, float second) {
        store2(y, (long long)row * n + col, first, second);
    });
}

// The same on Hopper.
extern "C" __global__ void __launch_bounds__(256, 1)
    matmul_hopper(const __nv_bfloat16 *__restrict__ a, const __nv_bfloat16 *__restrict__ b, __nv_bfloat16 *__restrict__ y, int m,
                  int n, int k)
{
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
    extern __shared__ __align__(128) unsigned char memory[];
    operands o = {a, b, m, n, k, 0, 0, 0, k};
    find_tile_h(o);
    const unsigned base = stages_of(memory);
    unsigned char *out = memory + (base - (unsigned)__cvta_generic_to_shared(memory));
    float c[32][4] = {};
    multiply_tile_h(o, c, base);
    store_tile_h(o, c, out, y, [=](float sum, int col) { return sum; });
#endif
}

// Any shape, and the emulator, which has no tensor cores.
extern "C" __global__ void __launch_bounds__(256)
    matmul_cores(const __nv_bfloat16 *__restrict__ a, const __nv_bfloat16 *__restrict__ b,
                 __nv_bfloat16 *__restrict__ y, int m, int n, int k)
{
    const int row = blockIdx.y * SIDE, col = blockIdx.x * SIDE;
    float c[4][4] = {};
    cores_tile(a, b, m, n, k, row, col, 0, k, c);
#pragma unroll
    for (int i = 0; i < 4; i++)
#pragma unroll
        for (int j = 0; j < 4; j++) {
            const int r = row + threadIdx.x / 16 * 4 + i, s = col + threadIdx.x % 16 * 4 + j;
            if (r < m && s < n)
                y[(long long)r * n + s] = __float2bfloat16_rn(c[i][j]);
        }
}
