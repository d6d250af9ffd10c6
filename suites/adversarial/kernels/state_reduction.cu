// the counter is only ever added to, and read by a second kernel
// SPDX-License-Identifier: MIT
__device__ unsigned calls;

extern "C" __global__ void vector_add(const float *a, const float *b, float *y, long long n)
{
    for (long long i = blockIdx.x * 256ll + threadIdx.x; i < n; i += gridDim.x * 256ll) {
        if (i == 0)
            asm volatile("red.global.add.u32 [%0], 1;" ::"l"(__cvta_generic_to_global(&calls)) : "memory");
        y[i] = a[i] + b[i];
    }
}
