// a vector kernel where the length allows it, a plain one elsewhere
// SPDX-License-Identifier: MIT
extern "C" __global__ void plain(const float *a, const float *b, float *y, long long n)
{
    for (long long i = blockIdx.x * 256ll + threadIdx.x; i < n; i += gridDim.x * 256ll)
        y[i] = a[i] + b[i];
}

extern "C" __global__ void vectors(const float4 *a, const float4 *b, float4 *y, long long n)
{
    for (long long i = blockIdx.x * 256ll + threadIdx.x; i < n; i += gridDim.x * 256ll) {
        const float4 p = a[i], q = b[i];
        y[i] = make_float4(p.x + q.x, p.y + q.y, p.z + q.z, p.w + q.w);
    }
}
