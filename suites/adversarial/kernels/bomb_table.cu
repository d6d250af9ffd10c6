// a table of a gigabyte in the image
// SPDX-License-Identifier: MIT
__device__ const int table[1 << 28] = {1};

extern "C" __global__ void vector_add(const float *a, const float *b, float *y, long long n)
{
    for (long long i = blockIdx.x * 256ll + threadIdx.x; i < n; i += gridDim.x * 256ll) {
        y[i] = a[i] + b[i] + (float)table[i];
    }
}
