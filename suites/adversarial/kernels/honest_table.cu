// a constant table is read, which is no state
// SPDX-License-Identifier: MIT
__device__ const float one[4] = {1.0f, 1.0f, 1.0f, 1.0f};

extern "C" __global__ void vector_add(const float *a, const float *b, float *y, long long n)
{
    for (long long i = blockIdx.x * 256ll + threadIdx.x; i < n; i += gridDim.x * 256ll) {
        y[i] = a[i] * one[i % 4] + b[i] * one[(i + 1) % 4];
    }
}
