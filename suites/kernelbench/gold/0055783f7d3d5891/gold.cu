// KernelBench, level 3: VanillaRNNHidden
// SPDX-License-Identifier: MIT

// What x gives to every step is one product before, what the results take from the states one product after
// the recurrence; between them a launch a step, a warp for each hidden unit.
constexpr int HIDDEN = 256, BATCH = 8, WIDTH = 1024;
constexpr int TILE = 64, DEPTH = 16;

// y = a w^T + bias: a is m x k, w is n x k with rows of `stride`, a tile of 64 x 64 a block, 4 x 4 a thread.
extern "C" __global__ void __launch_bounds__(256)
    product(const float *__restrict__ a, const float *__restrict__ w, const float *__restrict__ bias,
            float *__restrict__ y, int m, int n, int k, int stride)
{
    __shared__ __align__(16) float as[DEPTH][TILE + 4], ws[DEPTH][TILE + 4];
    const int row0 = blockIdx.y * TILE, col0 = blockIdx.x * TILE, t = threadIdx.x;
    const int row = t / 16 * 4, col = t % 16 * 4;
    float sum[4][4] = {};
    for (int first = 0; first < k; first += DEPTH) {
#pragma unroll
        for (int i = t; i < TILE * DEPTH; i += 256) {
            const int r = i / DEPTH, deep = i % DEPTH;
            const bool inside = first + deep < k;
            as[deep][r] = inside && row0 + r < m ? a[(long long)(row0 + r) * k + first + deep] : 0.0f;
            ws[deep][r] = inside && col0 + r < n ? w[(long long)(col0 + r) * stride + first + deep] : 0.0f;
        }
        __syncthreads();
#pragma unroll
        for (int deep = 0; deep < DEPTH; deep++) {
            const float4 u = *reinterpret_cast<const float4 *>(&as[deep][row]);
            const float4 v = *reinterpret_cast<const float4 *>(&ws[deep][col]);
            const float us[4] = {u.x, u.y, u.z, u.w}, vs[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
            for (int i = 0; i < 4; i++)
#pragma unroll
                for (int j = 0; j < 4; j++)
                    sum[i][j] += us[i] * vs[j];
        }
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < 4; i++)
#pragma unroll
        for (int j = 0; j < 4; j++)
            if (row0 + row + i < m && col0 + col + j < n)
                y[(long long)(row0 + row + i) * n + col0 + col + j] = sum[i][j] + bias[col0 + col + j];
}

// after = tanh(given + w before): w's rows are the last HIDDEN of WIDTH + HIDDEN.
extern "C" __global__ void __launch_bounds__(256)
    step(const float *__restrict__ given, const float *__restrict__ w, const float *__restrict__ before,
         float *__restrict__ after)
{
    const int unit = blockIdx.x * 8 + threadIdx.x / 32, lane = threadIdx.x % 32;
    const float *row = w + (long long)unit * (WIDTH + HIDDEN) + WIDTH;
    float sums[BATCH] = {}, mine = 0;
    for (int k = lane * 4; k < HIDDEN; k += 128) {
        const float4 r = *reinterpret_cast<const float4 *>(row + k);
#pragma unroll
        for (int b = 0; b < BATCH; b++) {
            const float4 v = *reinterpret_cast<const float4 *>(before + b * HIDDEN + k);
            sums[b] += r.x * v.x + r.y * v.y + r.z * v.z + r.w * v.w;
        }
    }
#pragma unroll
    for (int b = 0; b < BATCH; b++) {
#pragma unroll
        for (int distance = 16; distance > 0; distance /= 2)
            sums[b] += __shfl_xor_sync(0xffffffffu, sums[b], distance);
        mine = lane == b ? sums[b] : mine;
    }
    if (lane < BATCH)
        after[lane * HIDDEN + unit] = tanhf(given[lane * HIDDEN + unit] + mine);
}
