// a kernel launches a kernel
// SPDX-License-Identifier: MIT
extern "C" __global__ void inner(float *y)
{
    *y = 0.0f;
}

extern "C" __global__ void vector_add(const float *a, const float *b, float *y, long long n)
{
    for (long long i = blockIdx.x * 256ll + threadIdx.x; i < n; i += gridDim.x * 256ll) {
        if (i == 0)
            inner<<<1, 1>>>(y);
        y[i] = a[i] + b[i];
    }
}
