// takes values from lanes that do not take part
// SPDX-License-Identifier: MIT
extern "C" __global__ void vector_add(const float *a, const float *b, float *y, long long n)
{
    for (long long i = blockIdx.x * 256ll + threadIdx.x; i < n; i += gridDim.x * 256ll) {
        float sum = a[i] + b[i];
        if (threadIdx.x % 2 == 0)
            sum = __shfl_xor_sync(0x55555555u, sum, 1) * 0.5f + sum * 0.5f;
        y[i] = sum;
    }
}
