// The partial sums go to y by atomics, and nobody has cleared y.
// SPDX-License-Identifier: MIT
// Thread 0 gets the sum of the block of 256.
__device__ __forceinline__ float block_sum(float value)
{
    __shared__ float parts[8];
    for (int offset = 16; offset > 0; offset /= 2)
        value += __shfl_xor_sync(0xffffffffu, value, offset);
    if (threadIdx.x % 32 == 0)
        parts[threadIdx.x / 32] = value;
    __syncthreads();
    float total = 0.0f;
    for (int i = 0; i < 8; i++)
        total += parts[i];
    return total;
}

extern "C" __global__ void sum(const float *__restrict__ x, float *__restrict__ y, long long n)
{
    const long long step = (long long)gridDim.x * blockDim.x;
    float sum = 0.0f;
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step)
        sum += x[i];
    sum = block_sum(sum);
    if (threadIdx.x == 0)
        atomicAdd(y, sum);
}
