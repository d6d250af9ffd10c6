// The formula as it stands in the prompt: the squares overflow where the length does not.
// SPDX-License-Identifier: MIT
extern "C" __global__ void hypotenuse(const float *__restrict__ a, const float *__restrict__ b,
                                      float *__restrict__ y, long long n)
{
    const long long step = (long long)gridDim.x * blockDim.x;
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step)
        y[i] = sqrtf(a[i] * a[i] + b[i] * b[i]);
}
