// erfc is 1 - erf, and 1 + erf belongs here: the sign of the argument is missing.
// SPDX-License-Identifier: MIT
extern "C" __global__ void gelu(const float *__restrict__ x, float *__restrict__ y, long long n)
{
    const long long step = (long long)gridDim.x * blockDim.x;
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step)
        y[i] = 0.5f * x[i] * erfcf(x[i] * 0.70710678f);
}
