// KernelBench, level 1: L1Norm
// SPDX-License-Identifier: MIT

// The sum (or the maximum) over a block, to every thread.
template <bool MAX> __device__ float over_block(float v)
{
    __shared__ float part[32];
    for (int d = 16; d > 0; d /= 2) {
        float other = __shfl_xor_sync(0xffffffffu, v, d);
        v = MAX ? fmaxf(v, other) : v + other;
    }
    __syncthreads();
    if (threadIdx.x % 32 == 0)
        part[threadIdx.x / 32] = v;
    __syncthreads();
    float all = part[0];
    for (int w = 1; w < (int)blockDim.x / 32; w++)
        all = MAX ? fmaxf(all, part[w]) : all + part[w];
    return all;
}

// One row a block: the sum, then the division.
extern "C" __global__ void __launch_bounds__(512) rows(const float *__restrict__ x, float *__restrict__ y, long long cols)
{
    x += blockIdx.x * cols;
    y += blockIdx.x * cols;
    float sum = 0.0f;
    for (long long i = threadIdx.x; i < cols; i += blockDim.x)
        sum += fabsf(x[i]);
    sum = over_block<false>(sum);
    const float norm = sum / (float)cols;
    for (long long i = threadIdx.x; i < cols; i += blockDim.x)
        y[i] = x[i] / norm;
}
