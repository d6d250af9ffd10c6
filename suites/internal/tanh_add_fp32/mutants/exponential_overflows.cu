// (e - 1) / (e + 1) with e = exp(2a), which is Inf / Inf above a = 44.
// SPDX-License-Identifier: MIT
__device__ __forceinline__ float tangent(float x)
{
    const float e = expf(2.0f * x);
    return (e - 1.0f) / (e + 1.0f);
}

extern "C" __global__ void tanh_add(const float *__restrict__ a, const float *__restrict__ b,
                                    float *__restrict__ y, long long n)
{
    const long long step = (long long)gridDim.x * blockDim.x;
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step)
        y[i] = tangent(a[i]) + b[i];
}
