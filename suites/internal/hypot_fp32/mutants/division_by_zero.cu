// Divides by the larger operand so that no square overflows; where both are zero that is 0 / 0.
// SPDX-License-Identifier: MIT
__device__ __forceinline__ float length(float a, float b)
{
    const float large = fmaxf(fabsf(a), fabsf(b)), small = fminf(fabsf(a), fabsf(b));
    const float ratio = small / large;
    return large * sqrtf(1.0f + ratio * ratio);
}

extern "C" __global__ void hypotenuse(const float *__restrict__ a, const float *__restrict__ b,
                                      float *__restrict__ y, long long n)
{
    const long long step = (long long)gridDim.x * blockDim.x;
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step)
        y[i] = length(a[i], b[i]);
}
