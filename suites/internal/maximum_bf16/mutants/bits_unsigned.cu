// Compares the bits as unsigned numbers, which puts every negative number above every positive one.
// SPDX-License-Identifier: MIT
extern "C" __global__ void larger(const unsigned short *__restrict__ a,
                                  const unsigned short *__restrict__ b,
                                  unsigned short *__restrict__ y, long long n)
{
    const long long step = (long long)gridDim.x * blockDim.x;
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step)
        y[i] = a[i] > b[i] ? a[i] : b[i];
}
