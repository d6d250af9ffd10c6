// a __constant__ variable is written through its address
// SPDX-License-Identifier: MIT
__constant__ int done = 0;

extern "C" __global__ void vector_add(const float *a, const float *b, float *y, long long n)
{
    for (long long i = blockIdx.x * 256ll + threadIdx.x; i < n; i += gridDim.x * 256ll) {
        if (i == 0)
            *const_cast<volatile int *>(&done) = 1;
        y[i] = a[i] + b[i];
    }
}
