// The two halves of each word are packed in the wrong order.
// SPDX-License-Identifier: MIT
#include <cuda_fp16.h>

__device__ __forceinline__ float silu1(float f)
{
    return __fdividef(f, 1.0f + __expf(-f));
}

extern "C" __global__ void silu(const __half *__restrict__ x, __half *__restrict__ y, long long n)
{
    const long long pair = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (2 * pair + 1 < n) {
        const float2 f = __half22float2(reinterpret_cast<const __half2 *>(x)[pair]);
        reinterpret_cast<__half2 *>(y)[pair] = __floats2half2_rn(silu1(f.y), silu1(f.x));
    } else if (2 * pair < n) {
        y[2 * pair] = __float2half_rn(silu1(__half2float(x[2 * pair])));
    }
}
