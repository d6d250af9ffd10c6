// Pairs only: where rows * cols is odd, the last element is never written.
// SPDX-License-Identifier: MIT
#include <cuda_bf16.h>

__device__ __forceinline__ float hard1(float x)
{
    const float gate = x + 3.0f;
    const float cut = gate < 0.0f ? 0.0f : gate > 6.0f ? 6.0f : gate; // NaN is neither and stays
    return x * (cut * (1.0f / 6.0f));
}

extern "C" __global__ void hard_swish(const __nv_bfloat16 *__restrict__ x,
                                      __nv_bfloat16 *__restrict__ y, long long n)
{
    const __nv_bfloat162 *x2 = reinterpret_cast<const __nv_bfloat162 *>(x);
    __nv_bfloat162 *y2 = reinterpret_cast<__nv_bfloat162 *>(y);
    const long long step = (long long)gridDim.x * blockDim.x;
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < n / 2; i += step) {
        const float2 p = __bfloat1622float2(x2[i]);
        y2[i] = __floats2bfloat162_rn(hard1(p.x), hard1(p.y));
    }
}
