// Compares the first numbers of a pair and takes the pair whole.
// SPDX-License-Identifier: MIT
#include <cuda_bf16.h>

extern "C" __global__ void larger(const __nv_bfloat16 *__restrict__ a,
                                  const __nv_bfloat16 *__restrict__ b,
                                  __nv_bfloat16 *__restrict__ y, long long n)
{
    const __nv_bfloat162 *a2 = reinterpret_cast<const __nv_bfloat162 *>(a);
    const __nv_bfloat162 *b2 = reinterpret_cast<const __nv_bfloat162 *>(b);
    const long long step = (long long)gridDim.x * blockDim.x;
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; 2 * i < n; i += step) {
        if (2 * i + 1 < n)
            reinterpret_cast<__nv_bfloat162 *>(y)[i] = __hgt(a2[i].x, b2[i].x) ? a2[i] : b2[i];
        else
            y[2 * i] = __hmax_nan(a[2 * i], b[2 * i]);
    }
}
