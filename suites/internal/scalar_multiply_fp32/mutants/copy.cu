// A copy: the multiplication is missing.
// SPDX-License-Identifier: MIT
extern "C" __global__ void scale(const float *__restrict__ x, float *__restrict__ y, long long n,
                                 float factor)
{
    const long long step = (long long)gridDim.x * blockDim.x;
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step)
        y[i] = x[i];
}
