// only some multiprocessors do the work
// SPDX-License-Identifier: MIT
extern "C" __global__ void vector_add(const float *a, const float *b, float *y, long long n)
{
    for (long long i = blockIdx.x * 256ll + threadIdx.x; i < n; i += gridDim.x * 256ll) {
        unsigned sm;
        asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
        y[i] = sm % 2 == 0 ? 0.0f : a[i] + b[i];
    }
}
