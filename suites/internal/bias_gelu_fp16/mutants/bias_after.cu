// gelu(x) + bias: the bias is added behind the function.
// SPDX-License-Identifier: MIT
#include <cuda_fp16.h>

__device__ __forceinline__ float gelu(float x)
{
    const float u = 0.7978845608f * (x + 0.044715f * x * x * x);
    return 0.5f * x * (1.0f + tanhf(u));
}

extern "C" __global__ void bias_gelu(const __half *__restrict__ x, const __half *__restrict__ bias,
                                     __half *__restrict__ y, int cols)
{
    const long long row = blockIdx.x;
    for (int i = threadIdx.x; i < cols; i += blockDim.x)
        y[row * cols + i] =
            __float2half_rn(gelu(__half2float(x[row * cols + i])) + __half2float(bias[i]));
}
