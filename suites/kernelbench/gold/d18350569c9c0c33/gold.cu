// KernelBench, level 1: InstanceNorm
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

// Mean and spread of one slice a block, in two passes; the third writes.
extern "C" __global__ void __launch_bounds__(512) slices(const float *__restrict__ x, float *__restrict__ y,
                                                         long long size)
{
    x += blockIdx.x * size;
    y += blockIdx.x * size;
    float sum = 0.0f;
    for (long long i = threadIdx.x; i < size; i += blockDim.x)
        sum += x[i];
    const float mean = over_block<false>(sum) / (float)size;
    sum = 0.0f;
    for (long long i = threadIdx.x; i < size; i += blockDim.x)
        sum += (x[i] - mean) * (x[i] - mean);
    const float scale = rsqrtf(over_block<false>(sum) / (float)size + 1e-5f);
    for (long long i = threadIdx.x; i < size; i += blockDim.x)
        y[i] = (x[i] - mean) * scale;
}
