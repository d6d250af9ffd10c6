// a __managed__ variable is memory of the device too
// SPDX-License-Identifier: MIT
__managed__ int done;

extern "C" __global__ void vector_add(const float *a, const float *b, float *y, long long n)
{
    for (long long i = blockIdx.x * 256ll + threadIdx.x; i < n; i += gridDim.x * 256ll) {
        if (i == 0)
            done = 1;
        y[i] = a[i] + b[i];
    }
}
