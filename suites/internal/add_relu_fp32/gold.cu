// max(a + b, 0), fp32. A block owns 2,048 elements, two 16-byte vectors a thread; the last block,
// if it is not full, goes element by element.
// SPDX-License-Identifier: MIT
namespace {
constexpr int THREADS = 256;
constexpr int PER_BLOCK = THREADS * 8;

__device__ __forceinline__ float add_relu1(float a, float b)
{
    const float sum = a + b;
    return sum < 0.0f ? 0.0f : sum; // NaN is not below 0 and stays
}

__device__ __forceinline__ float4 four(float4 p, float4 q)
{
    return make_float4(add_relu1(p.x, q.x), add_relu1(p.y, q.y), add_relu1(p.z, q.z),
                       add_relu1(p.w, q.w));
}
} // namespace

extern "C" __global__ void __launch_bounds__(THREADS)
    add_relu(const float *__restrict__ a, const float *__restrict__ b, float *__restrict__ y,
             long long n)
{
    const long long base = (long long)blockIdx.x * PER_BLOCK;
    const int t = threadIdx.x;
    if (base + PER_BLOCK <= n) {
        const float4 *a4 = reinterpret_cast<const float4 *>(a + base);
        const float4 *b4 = reinterpret_cast<const float4 *>(b + base);
        float4 *y4 = reinterpret_cast<float4 *>(y + base);
        const float4 p0 = a4[t], p1 = a4[t + THREADS];
        const float4 q0 = b4[t], q1 = b4[t + THREADS];
        y4[t] = four(p0, q0);
        y4[t + THREADS] = four(p1, q1);
        return;
    }
    for (long long i = base + t; i < n; i += THREADS)
        y[i] = add_relu1(a[i], b[i]);
}
