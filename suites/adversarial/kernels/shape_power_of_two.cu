// takes the length for a multiple of 1,024
// SPDX-License-Identifier: MIT
extern "C" __global__ void vector_add(const float *a, const float *b, float *y, long long n)
{
    const long long i = blockIdx.x * 1024ll + threadIdx.x;
    y[i] = a[i] + b[i];
}
