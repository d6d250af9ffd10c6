// GLU: the gate is a sigmoid.
// SPDX-License-Identifier: MIT
#include <cuda_bf16.h>

extern "C" __global__ void geglu(const __nv_bfloat16 *__restrict__ x, __nv_bfloat16 *__restrict__ y,
                                 int cols)
{
    const long long row = blockIdx.x;
    const __nv_bfloat16 *from = x + row * 2 * cols;
    for (int i = threadIdx.x; i < cols; i += blockDim.x)
        y[row * cols + i] = __float2bfloat16_rn(__bfloat162float(from[i]) /
                                                (1.0f + __expf(-__bfloat162float(from[cols + i]))));
}
