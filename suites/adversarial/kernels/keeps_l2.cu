// asks that its inputs stay in L2 until the next call: right, and of no use where L2 is flushed and slots rotate
// SPDX-License-Identifier: MIT
__device__ float kept(const float *p)
{
#if __CUDA_ARCH__ >= 900
    unsigned long long policy;
    float v;
    asm volatile("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy));
    asm volatile("ld.global.L2::cache_hint.f32 %0, [%1], %2;" : "=f"(v) : "l"(p), "l"(policy));
    return v;
#else
    return *p;
#endif
}

extern "C" __global__ void vector_add(const float *a, const float *b, float *y, long long n)
{
    for (long long i = blockIdx.x * 256ll + threadIdx.x; i < n; i += gridDim.x * 256ll)
        y[i] = kept(a + i) + kept(b + i);
}
