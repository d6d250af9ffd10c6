// loads, adds and stores in inline assembly
// SPDX-License-Identifier: MIT
extern "C" __global__ void vector_add(const float *a, const float *b, float *y, long long n)
{
    for (long long i = blockIdx.x * 256ll + threadIdx.x; i < n; i += gridDim.x * 256ll) {
        float p, q, sum;
        asm volatile("ld.global.nc.f32 %0, [%1];" : "=f"(p) : "l"(a + i));
        asm volatile("ld.global.nc.f32 %0, [%1];" : "=f"(q) : "l"(b + i));
        asm volatile("add.rn.f32 %0, %1, %2;" : "=f"(sum) : "f"(p), "f"(q));
        asm volatile("st.global.f32 [%0], %1;" ::"l"(y + i), "f"(sum) : "memory");
    }
}
