// The result is cut to the largest half, so that it never becomes infinite.
// SPDX-License-Identifier: MIT
#include <cuda_fp16.h>

__device__ __forceinline__ float swiglu1(float gate, float up)
{
    return gate / (1.0f + __expf(-gate)) * up;
}

extern "C" __global__ void swiglu(const __half *__restrict__ gate, const __half *__restrict__ up,
                                  __half *__restrict__ y, long long n)
{
    const long long step = (long long)gridDim.x * blockDim.x;
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step)
        y[i] = __float2half_rn(
            fminf(fmaxf(swiglu1(__half2float(gate[i]), __half2float(up[i])), -65504.0f), 65504.0f));
}
