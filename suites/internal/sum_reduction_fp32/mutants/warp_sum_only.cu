// Thread 0 has the sum of its warp and stores it as the sum of the block.
// SPDX-License-Identifier: MIT
__device__ __forceinline__ float block_sum(float value)
{
    for (int offset = 16; offset > 0; offset /= 2)
        value += __shfl_xor_sync(0xffffffffu, value, offset);
    return value;
}

extern "C" __global__ void sum_parts(const float *__restrict__ x, float *__restrict__ parts,
                                     long long n)
{
    const long long step = (long long)gridDim.x * blockDim.x;
    float sum = 0.0f;
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step)
        sum += x[i];
    sum = block_sum(sum);
    if (threadIdx.x == 0)
        parts[blockIdx.x] = sum;
}

extern "C" __global__ void sum_total(const float *__restrict__ parts, float *__restrict__ y,
                                     int count)
{
    float sum = 0.0f;
    for (int i = threadIdx.x; i < count; i += blockDim.x)
        sum += parts[i];
    sum = block_sum(sum);
    if (threadIdx.x == 0)
        *y = sum;
}
