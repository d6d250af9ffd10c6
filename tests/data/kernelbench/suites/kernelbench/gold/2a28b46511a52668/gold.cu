// A fixture of ours, level 3: State kept
// SPDX-License-Identifier: MIT

// C = A B, 128 x 128 a block, 8 x 8 a thread; the next tiles are under way while these are multiplied.
extern "C" __global__ void __launch_bounds__(256) state(const float *__restrict__ a, const float *__restrict__ a2, const float *__restrict__ b,
    const float *__restrict__ bias, float *__restrict__ y, int M, int N, int K, int K1)
{
    enum { BM = 128, BN = 128, BK = 16, EACH = BM * BK / 256 };
    __shared__ __align__(16) float as[2][BK][BM + 4], bs[2][BK][BN + 4];
    const int m0 = blockIdx.y * BM, n0 = blockIdx.x * BN, t = threadIdx.x;
    const int row = t / 16 * 4, col = t % 16 * 4; // this thread has rows row and row + 64, columns likewise
    const long long batch = blockIdx.z;
    a += batch * M * K;
    b += batch * K * N;
    y += batch * M * N;
    float next_a[EACH], next_b[EACH], sum[8][8] = {};
    auto fetch = [&](int k0) {
#pragma unroll
        for (int i = 0; i < EACH; i++) {
            const int e = t + i * 256;
            {
                const int m = e / BK, k = e % BK;
                next_a[i] = m0 + m < M && k0 + k < K ? (k0 + k < K1 ? a[(long long)(m0 + m) * K1 + k0 + k] : a2[(long long)(m0 + m) * (K - K1) + k0 + k - K1]) : 0.0f;
            }
            {
                const int n = e / BK, k = e % BK;
                next_b[i] = n0 + n < N && k0 + k < K ? b[(long long)(n0 + n) * K + k0 + k] : 0.0f;
            }
        }
    };
    auto put = [&](int half) {
#pragma unroll
        for (int i = 0; i < EACH; i++) {
            const int e = t + i * 256;
            as[half][e % BK][e / BK] = next_a[i];
            bs[half][e % BK][e / BK] = next_b[i];
        }
    };
    fetch(0);
    put(0);
    __syncthreads();
    for (int k0 = 0, half = 0; k0 < K; k0 += BK, half ^= 1) {
        if (k0 + BK < K)
            fetch(k0 + BK);
#pragma unroll
        for (int k = 0; k < BK; k++) {
            float u[8], v[8];
            *reinterpret_cast<float4 *>(u) = *reinterpret_cast<const float4 *>(&as[half][k][row]);
            *reinterpret_cast<float4 *>(u + 4) = *reinterpret_cast<const float4 *>(&as[half][k][row + 64]);
            *reinterpret_cast<float4 *>(v) = *reinterpret_cast<const float4 *>(&bs[half][k][col]);
            *reinterpret_cast<float4 *>(v + 4) = *reinterpret_cast<const float4 *>(&bs[half][k][col + 64]);
#pragma unroll
            for (int i = 0; i < 8; i++)
#pragma unroll
                for (int j = 0; j < 8; j++)
                    sum[i][j] += u[i] * v[j];
        }
        if (k0 + BK < K)
            put(half ^ 1);
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < 8; i++)
#pragma unroll
        for (int j = 0; j < 8; j++) {
            const int m = m0 + row + i % 4 + i / 4 * 64, n = n0 + col + j % 4 + j / 4 * 64;
            if (m < M && n < N) {
                float v = sum[i][j];
                y[(long long)m * N + n] = tanhf(v + bias[n]);
            }
        }
}
