// 16-byte loads from an address that is none
// SPDX-License-Identifier: MIT
extern "C" __global__ void vector_add(const float *a, const float *b, float *y, long long n)
{
    for (long long i = blockIdx.x * 256ll + threadIdx.x; i < n; i += gridDim.x * 256ll) {
        float4 v = make_float4(0, 0, 0, 0);
        if (i + 5 <= n)
            asm volatile("ld.global.v4.f32 {%0, %1, %2, %3}, [%4];"
                         : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w)
                         : "l"(a + i + 1));
        y[i] = a[i] + b[i] + 0.0f * (v.x + v.y + v.z + v.w); // all four, or the assembler loads one
    }
}
