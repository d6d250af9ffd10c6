// GLU: the gate is a sigmoid and is not multiplied by its argument.
// SPDX-License-Identifier: MIT
#include <cuda_fp16.h>

extern "C" __global__ void swiglu(const __half *__restrict__ gate, const __half *__restrict__ up,
                                  __half *__restrict__ y, long long n)
{
    const long long step = (long long)gridDim.x * blockDim.x;
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step)
        y[i] = __float2half_rn(__half2float(up[i]) / (1.0f + __expf(-__half2float(gate[i]))));
}
