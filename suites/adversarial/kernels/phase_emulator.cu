// the plan launches an honest kernel on the emulator and another on a GPU
// SPDX-License-Identifier: MIT
extern "C" __global__ void honest(const float *a, const float *b, float *y, long long n)
{
    for (long long i = blockIdx.x * 256ll + threadIdx.x; i < n; i += gridDim.x * 256ll)
        y[i] = a[i] + b[i];
}

extern "C" __global__ void fast(const float *a, float *y, long long n)
{
    for (long long i = blockIdx.x * 256ll + threadIdx.x; i < n; i += gridDim.x * 256ll)
        y[i] = a[i];
}
