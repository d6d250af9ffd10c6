// 16-byte vectors along each row, and a careful tail; but rows start on 16 bytes only where cols %
// 8 == 0.
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
    const long long start = (long long)blockIdx.x * cols;
    const int whole = cols / 8 * 8;
    for (int i = 8 * threadIdx.x; i < whole; i += 8 * blockDim.x) {
        uint4 v = *reinterpret_cast<const uint4 *>(x + start + i);
        __half *part = reinterpret_cast<__half *>(&v);
        for (int k = 0; k < 8; k++)
            part[k] = __float2half_rn(gelu(__half2float(part[k]) + __half2float(bias[i + k])));
        *reinterpret_cast<uint4 *>(y + start + i) = v;
    }
    for (int i = whole + threadIdx.x; i < cols; i += blockDim.x)
        y[start + i] = __float2half_rn(gelu(__half2float(x[start + i]) + __half2float(bias[i])));
}
