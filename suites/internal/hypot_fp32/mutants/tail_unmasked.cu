// The last vector is handled whole, though n ends inside it.
// SPDX-License-Identifier: MIT
extern "C" __global__ void hypotenuse(const float *__restrict__ a, const float *__restrict__ b,
                                      float *__restrict__ y, long long n)
{
    const float4 *a4 = reinterpret_cast<const float4 *>(a);
    const float4 *b4 = reinterpret_cast<const float4 *>(b);
    float4 *y4 = reinterpret_cast<float4 *>(y);
    const long long step = (long long)gridDim.x * blockDim.x;
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < (n + 3) / 4;
         i += step) {
        const float4 p = a4[i], q = b4[i];
        y4[i] = make_float4(hypotf(p.x, q.x), hypotf(p.y, q.y), hypotf(p.z, q.z), hypotf(p.w, q.w));
    }
}
