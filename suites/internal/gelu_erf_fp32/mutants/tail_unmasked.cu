// The last vector is handled whole, though the matrix ends inside it.
// SPDX-License-Identifier: MIT
__device__ __forceinline__ float gelu1(float x)
{
    return 0.5f * x * (1.0f + erff(x * 0.70710678f));
}

extern "C" __global__ void gelu(const float *__restrict__ x, float *__restrict__ y, long long n)
{
    const float4 *x4 = reinterpret_cast<const float4 *>(x);
    float4 *y4 = reinterpret_cast<float4 *>(y);
    const long long step = (long long)gridDim.x * blockDim.x;
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < (n + 3) / 4;
         i += step) {
        const float4 p = x4[i];
        y4[i] = make_float4(gelu1(p.x), gelu1(p.y), gelu1(p.z), gelu1(p.w));
    }
}
