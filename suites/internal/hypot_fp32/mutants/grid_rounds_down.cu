// A block owns 2,048 elements, and the plan's grid is n / 2048, rounded down.
// SPDX-License-Identifier: MIT
extern "C" __global__ void hypotenuse(const float *__restrict__ a, const float *__restrict__ b,
                                      float *__restrict__ y, long long n)
{
    const long long base = (long long)blockIdx.x * 2048;
    for (int i = threadIdx.x; i < 2048 && base + i < n; i += blockDim.x)
        y[base + i] = hypotf(a[base + i], b[base + i]);
}
