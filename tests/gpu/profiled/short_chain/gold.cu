// Eight kernels where one would do, on few elements. Launch bound.
// SPDX-License-Identifier: MIT
extern "C" __global__ void short_chain(const float *x, float *y, long long n)
{
    const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = x[i];
}
