// names and comments speak of malloc, printf, static state and the clock
// SPDX-License-Identifier: MIT
extern "C" __global__ void vector_add(const float *a, const float *b, float *y, long long n)
{
    for (long long i = blockIdx.x * 256ll + threadIdx.x; i < n; i += gridDim.x * 256ll) {
        const float malloc_free_sum = a[i] + b[i]; // no printf(), no clock64(), no static cache here
        y[i] = malloc_free_sum;
    }
}
