// Whole vectors of four only; what is left of the matrix is not written.
// SPDX-License-Identifier: MIT
__device__ __forceinline__ float log_sigmoid1(float x)
{
    return fminf(x, 0.0f) - log1pf(expf(-fabsf(x)));
}

extern "C" __global__ void log_sigmoid(const float *__restrict__ x, float *__restrict__ y,
                                       long long n)
{
    const float4 *x4 = reinterpret_cast<const float4 *>(x);
    float4 *y4 = reinterpret_cast<float4 *>(y);
    const long long step = (long long)gridDim.x * blockDim.x;
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < n / 4; i += step) {
        const float4 p = x4[i];
        y4[i] =
            make_float4(log_sigmoid1(p.x), log_sigmoid1(p.y), log_sigmoid1(p.z), log_sigmoid1(p.w));
    }
}
