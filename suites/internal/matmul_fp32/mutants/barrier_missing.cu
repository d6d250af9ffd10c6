// Factors are read from shared memory before the other warps have written theirs.
// SPDX-License-Identifier: MIT
extern "C" __global__ void matmul(const float *__restrict__ a, const float *__restrict__ b,
                                  float *__restrict__ y, int m, int n, int k)
{
    __shared__ float as[16][17], bs[16][17];
    const int row = blockIdx.y * 16 + threadIdx.y, col = blockIdx.x * 16 + threadIdx.x;
    float sum = 0.0f;
    for (int first = 0; first < k; first += 16) {
        const bool in_a = row < m && first + threadIdx.x < k;
        const bool in_b = col < n && first + threadIdx.y < k;
        as[threadIdx.y][threadIdx.x] = in_a ? a[(long long)row * k + first + threadIdx.x] : 0.0f;
        bs[threadIdx.y][threadIdx.x] = in_b ? b[(long long)(first + threadIdx.y) * n + col] : 0.0f;
        for (int i = 0; i < 16; i++)
            sum += as[threadIdx.y][i] * bs[i][threadIdx.x];
        __syncthreads();
    }
    if (row < m && col < n)
        y[(long long)row * n + col] = sum;
}
