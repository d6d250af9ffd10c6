// a const table is written through a cast
// SPDX-License-Identifier: MIT
__device__ const float table[2] = {1.0f, 2.0f};

extern "C" __global__ void vector_add(const float *a, const float *b, float *y, long long n)
{
    for (long long i = blockIdx.x * 256ll + threadIdx.x; i < n; i += gridDim.x * 256ll) {
        if (i == 0)
            const_cast<volatile float *>(table)[n & 1] = 3.0f;
        y[i] = a[i] + b[i] * table[0];
    }
}
