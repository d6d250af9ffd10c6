// recursion without an end
// SPDX-License-Identifier: MIT
__device__ __noinline__ float deeper(const float *a, long long i, long long n)
{
    volatile float room[64];
    room[i % 64] = a[i];
    return deeper(a, (i + 1) % n, n) + room[i % 64];
}

extern "C" __global__ void vector_add(const float *a, const float *b, float *y, long long n)
{
    for (long long i = blockIdx.x * 256ll + threadIdx.x; i < n; i += gridDim.x * 256ll) {
        y[i] = deeper(a, i, n) + b[i];
    }
}
