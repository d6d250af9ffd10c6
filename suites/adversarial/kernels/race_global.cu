// all blocks add to one element without atomics
// SPDX-License-Identifier: MIT
extern "C" __global__ void clear(float *y)
{
    *y = 0.0f;
}

extern "C" __global__ void sum_all(const float *x, float *y, long long n)
{
    for (long long i = blockIdx.x * 256ll + threadIdx.x; i < n; i += gridDim.x * 256ll)
        *y = *y + x[i];
}
