// half of the block waits at a barrier for the other half, which has left
// SPDX-License-Identifier: MIT
extern "C" __global__ void vector_add(const float *a, const float *b, float *y, long long n)
{
    if (threadIdx.x >= 128) {
        while (*(volatile const float *)a == *(volatile const float *)a)
            ;
    }
    asm volatile("bar.sync 1, 256;" ::: "memory");
    for (long long i = blockIdx.x * 256ll + threadIdx.x; i < n; i += gridDim.x * 256ll)
        y[i] = a[i] + b[i];
}
