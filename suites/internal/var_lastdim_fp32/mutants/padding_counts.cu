// The row is padded with zeros to a multiple of the block, and the padding counts in the second pass.
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
    float sum = 0.0f;
    for (int i = threadIdx.x; i < cols; i += blockDim.x)
        sum += row[i];
    const float mean = block_sum(sum, sums) / (float)cols;
    float spread = 0.0f;
    const int padded = (cols + 255) / 256 * 256;
    for (int i = threadIdx.x; i < padded; i += blockDim.x) {
        const float d = (i < cols ? row[i] : 0.0f) - mean;
        spread += d * d;
    }
    const float total = block_sum(spread, spreads);
    if (threadIdx.x == 0)
        y[blockIdx.x] = total / (float)cols;
}
