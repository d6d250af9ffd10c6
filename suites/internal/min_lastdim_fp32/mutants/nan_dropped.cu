// fminf drops NaN.
// SPDX-License-Identifier: MIT
__device__ __forceinline__ float smaller(float a, float b)
{
    return fminf(a, b);
}

extern "C" __global__ void row_min(const float *__restrict__ x, float *__restrict__ y, int cols)
{
    __shared__ float parts[8];
    const float *row = x + (long long)blockIdx.x * cols;
    float least = __int_as_float(0x7f800000);
    for (int i = threadIdx.x; i < cols; i += blockDim.x)
        least = smaller(least, row[i]);
    for (int offset = 16; offset > 0; offset /= 2)
        least = smaller(least, __shfl_xor_sync(0xffffffffu, least, offset));
    if (threadIdx.x % 32 == 0)
        parts[threadIdx.x / 32] = least;
    __syncthreads();
    if (threadIdx.x != 0)
        return;
    for (int i = 1; i < 8; i++)
        least = smaller(least, parts[i]);
    y[blockIdx.x] = least;
}
