// The tangent comes from the special function unit: fast, and good to 11 bits.
// SPDX-License-Identifier: MIT
__device__ __forceinline__ float tanh_fast(float x)
{
    float y;
    asm("tanh.approx.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

extern "C" __global__ void tanh_add(const float *__restrict__ a, const float *__restrict__ b,
                                    float *__restrict__ y, long long n)
{
    const long long step = (long long)gridDim.x * blockDim.x;
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step)
        y[i] = tanh_fast(a[i]) + b[i];
}
