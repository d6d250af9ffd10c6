// all shared memory of the device, and some more that the source declares
// SPDX-License-Identifier: MIT
extern "C" __global__ void vector_add(const float *a, const float *b, float *y, long long n)
{
    __shared__ float own[256];
    extern __shared__ float given[];
    long long i = blockIdx.x * 256ll + threadIdx.x;
    own[threadIdx.x] = i < n ? a[i] : 0.0f;
    given[threadIdx.x] = i < n ? b[i] : 0.0f;
    __syncthreads();
    if (i < n)
        y[i] = own[threadIdx.x] + given[threadIdx.x];
}
