// in pieces, through scratch buffers that follow each other in one place
// SPDX-License-Identifier: MIT
extern "C" __global__ void copy(const float *from, float *to, int n)
{
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i < n)
        to[i] = from[i];
}

extern "C" __global__ void add(const float *a, const float *b, float *y, int n)
{
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i < n)
        y[i] = a[i] + b[i];
}
