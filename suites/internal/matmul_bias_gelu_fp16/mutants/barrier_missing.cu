// Factors are read from shared memory before the other warps have written theirs.
// SPDX-License-Identifier: MIT
#include <cuda_fp16.h>

__device__ __forceinline__ float gelu(float z)
{
    return 0.5f * z * (1.0f + erff(z * 0.70710678f));
}

extern "C" __global__ void matmul(const __half *__restrict__ a, const __half *__restrict__ b,
                                  const __half *__restrict__ bias, __half *__restrict__ y, int m,
                                  int n, int k)
{
    __shared__ float as[16][17], bs[16][17];
    const int row = blockIdx.y * 16 + threadIdx.y, col = blockIdx.x * 16 + threadIdx.x;
    float sum = 0.0f;
    for (int first = 0; first < k; first += 16) {
        const bool in_a = row < m && first + threadIdx.x < k;
        const bool in_b = col < n && first + threadIdx.y < k;
        as[threadIdx.y][threadIdx.x] =
            in_a ? __half2float(a[(long long)row * k + first + threadIdx.x]) : 0.0f;
        bs[threadIdx.y][threadIdx.x] =
            in_b ? __half2float(b[(long long)(first + threadIdx.y) * n + col]) : 0.0f;
        for (int i = 0; i < 16; i++)
            sum += as[threadIdx.y][i] * bs[i][threadIdx.x];
        __syncthreads();
    }
    if (row < m && col < n)
        y[(long long)row * n + col] = __float2half_rn(gelu(sum + __half2float(bias[col])));
}
