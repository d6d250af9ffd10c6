// GELU by the error function, fp32. A block owns 2,048 elements, two 16-byte vectors a thread; the
// last block, if it is not full, goes element by element.
// SPDX-License-Identifier: MIT
namespace {
constexpr int THREADS = 256;
constexpr int PER_BLOCK = THREADS * 8;

__device__ __forceinline__ float gelu1(float x)
{
    return 0.5f * x * (1.0f + erff(x * 0.70710678f));
}

__device__ __forceinline__ float4 four(float4 p)
{
    return make_float4(gelu1(p.x), gelu1(p.y), gelu1(p.z), gelu1(p.w));
}
} // namespace

extern "C" __global__ void __launch_bounds__(THREADS)
    gelu(const float *__restrict__ x, float *__restrict__ y, long long n)
{
    const long long base = (long long)blockIdx.x * PER_BLOCK;
    const int t = threadIdx.x;
    if (base + PER_BLOCK <= n) {
        const float4 *x4 = reinterpret_cast<const float4 *>(x + base);
        float4 *y4 = reinterpret_cast<float4 *>(y + base);
        const float4 p0 = x4[t], p1 = x4[t + THREADS];
        y4[t] = four(p0);
        y4[t + THREADS] = four(p1);
        return;
    }
    for (long long i = base + t; i < n; i += THREADS)
        y[i] = gelu1(x[i]);
}
