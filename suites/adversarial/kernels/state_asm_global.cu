// inline assembly declares the variable
// SPDX-License-Identifier: MIT
extern "C" __global__ void vector_add(const float *a, const float *b, float *y, long long n)
{
    for (long long i = blockIdx.x * 256ll + threadIdx.x; i < n; i += gridDim.x * 256ll) {
        if (i == 0)
            asm volatile("{\n\t.global .u32 kept;\n\tred.global.add.u32 [kept], 1;\n\t}" ::: "memory");
        y[i] = a[i] + b[i];
    }
}
