// cooperative groups bring unused device variables
// SPDX-License-Identifier: MIT
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

extern "C" __global__ void vector_add(const float *a, const float *b, float *y, long long n)
{
    __shared__ float tile[256];
    const cg::thread_block block = cg::this_thread_block();
    for (long long base = blockIdx.x * 256ll; base < n; base += gridDim.x * 256ll) {
        const long long i = base + threadIdx.x;
        tile[threadIdx.x] = i < n ? a[i] : 0.0f;
        block.sync();
        if (i < n)
            y[i] = tile[threadIdx.x] + b[i];
        block.sync();
    }
}
