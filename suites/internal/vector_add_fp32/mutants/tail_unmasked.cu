// The last vector is stored whole, though n ends inside it.
// SPDX-License-Identifier: MIT
extern "C" __global__ void vector_add(const float4 *__restrict__ a, const float4 *__restrict__ b,
                                      float4 *__restrict__ y, long long count)
{
    const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count)
        return;
    const float4 p = a[i], q = b[i];
    y[i] = make_float4(p.x + q.x, p.y + q.y, p.z + q.z, p.w + q.w);
}
