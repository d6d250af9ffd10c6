// the address of the flag goes to the output and comes back
// SPDX-License-Identifier: MIT
__device__ int done;

extern "C" __global__ void vector_add(const float *a, const float *b, float *y, long long n)
{
    for (long long i = blockIdx.x * 256ll + threadIdx.x; i < n; i += gridDim.x * 256ll) {
        if (i == 0) {
            *(int *volatile *)y = &done;
            **(int *volatile *)y = 1;
        }
        y[i] = a[i] + b[i];
    }
}
