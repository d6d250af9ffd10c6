// A vector times a number, fp32. A block owns 2,048 elements, two 16-byte vectors a thread; the
// last block, if it is not full, goes element by element.
// SPDX-License-Identifier: MIT
namespace {
constexpr int THREADS = 256;
constexpr int PER_BLOCK = THREADS * 8;

__device__ __forceinline__ float4 four(float4 p, float factor)
{
    return make_float4(factor * p.x, factor * p.y, factor * p.z, factor * p.w);
}
} // namespace

extern "C" __global__ void __launch_bounds__(THREADS)
    scale(const float *__restrict__ x, float *__restrict__ y, long long n, float factor)
{
    const long long base = (long long)blockIdx.x * PER_BLOCK;
    const int t = threadIdx.x;
    if (base + PER_BLOCK <= n) {
        const float4 *x4 = reinterpret_cast<const float4 *>(x + base);
        float4 *y4 = reinterpret_cast<float4 *>(y + base);
        const float4 p0 = x4[t], p1 = x4[t + THREADS];
        y4[t] = four(p0, factor);
        y4[t + THREADS] = four(p1, factor);
        return;
    }
    for (long long i = base + t; i < n; i += THREADS)
        y[i] = factor * x[i];
}
