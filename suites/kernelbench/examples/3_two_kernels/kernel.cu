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

// Sums of a part a block; sums of sums by one block: no atomics, so that the order is fixed.
extern "C" __global__ void __launch_bounds__(512) parts(const float *__restrict__ predictions, const float *__restrict__ targets,
                                                        float *__restrict__ part, long long n, long long cols)
{
    float sum = 0.0f;
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += (long long)gridDim.x * blockDim.x) {
        const float p = predictions[i], t = targets[i];
        sum += (p - t) * (p - t);
    }
    sum = over_block<false>(sum);
    if (threadIdx.x == 0)
        part[blockIdx.x] = sum;
}

extern "C" __global__ void __launch_bounds__(512) whole(const float *__restrict__ part, float *__restrict__ y, int count, double scale)
{
    float sum = 0.0f;
    for (int i = threadIdx.x; i < count; i += blockDim.x)
        sum += part[i];
    sum = over_block<false>(sum);
    if (threadIdx.x == 0)
        *y = (float)(sum * scale);
}
