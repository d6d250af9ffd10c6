// log(sigmoid(x)) = min(x, 0) - log(1 + exp(-|x|)), fp32; a NaN comes through the logarithm. A
// block owns 2,048 elements, two 16-byte vectors a thread; the last block, if it is not full, goes
// element by element.
// SPDX-License-Identifier: MIT
namespace {
constexpr int THREADS = 256;
constexpr int PER_BLOCK = THREADS * 8;

__device__ __forceinline__ float log_sigmoid1(float x)
{
    return fminf(x, 0.0f) - log1pf(expf(-fabsf(x)));
}

__device__ __forceinline__ float4 four(float4 p)
{
    return make_float4(log_sigmoid1(p.x), log_sigmoid1(p.y), log_sigmoid1(p.z), log_sigmoid1(p.w));
}
} // namespace

extern "C" __global__ void __launch_bounds__(THREADS)
    log_sigmoid(const float *__restrict__ x, float *__restrict__ y, long long n)
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
        y[i] = log_sigmoid1(x[i]);
}
