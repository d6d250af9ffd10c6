// The mean of the squares less the square of the mean: one pass, and it cancels where the mean is large.
// SPDX-License-Identifier: MIT
// Every thread gets the block's sum.
__device__ __forceinline__ float block_sum(float value, float *parts)
{
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

extern "C" __global__ void variance(const float *__restrict__ x, float *__restrict__ y, int cols)
{
    __shared__ float sums[8], spreads[8];
    const float *row = x + (long long)blockIdx.x * cols;
    float sum = 0.0f, square = 0.0f;
    for (int i = threadIdx.x; i < cols; i += blockDim.x) {
        sum += row[i];
        square += row[i] * row[i];
    }
    const float mean = block_sum(sum, sums) / (float)cols;
    const float total = block_sum(square, spreads);
    if (threadIdx.x == 0)
        y[blockIdx.x] = total / (float)cols - mean * mean;
}
