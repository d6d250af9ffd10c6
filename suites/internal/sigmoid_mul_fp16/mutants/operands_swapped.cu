// Nothing is wrong with the kernel; its plan passes the operands in the wrong order.
// SPDX-License-Identifier: MIT
#include <cuda_fp16.h>

__device__ __forceinline__ float gated(float a, float b)
{
    return b / (1.0f + __expf(-a));
}

extern "C" __global__ void sigmoid_mul(const __half *__restrict__ a, const __half *__restrict__ b,
                                       __half *__restrict__ y, long long n)
{
    const long long step = (long long)gridDim.x * blockDim.x;
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step)
        y[i] = __float2half_rn(gated(__half2float(a[i]), __half2float(b[i])));
}
