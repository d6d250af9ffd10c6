// Whole vectors of four only; what is left of n is not written.
// SPDX-License-Identifier: MIT
__device__ __forceinline__ float add_relu1(float a, float b)
{
    const float sum = a + b;
    return sum < 0.0f ? 0.0f : sum; // NaN is not below 0 and stays
}

extern "C" __global__ void add_relu(const float *__restrict__ a, const float *__restrict__ b,
                                    float *__restrict__ y, long long n)
{
    const float4 *a4 = reinterpret_cast<const float4 *>(a);
    const float4 *b4 = reinterpret_cast<const float4 *>(b);
    float4 *y4 = reinterpret_cast<float4 *>(y);
    const long long step = (long long)gridDim.x * blockDim.x;
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < n / 4; i += step) {
        const float4 p = a4[i], q = b4[i];
        y4[i] = make_float4(add_relu1(p.x, q.x), add_relu1(p.y, q.y), add_relu1(p.z, q.z),
                            add_relu1(p.w, q.w));
    }
}
