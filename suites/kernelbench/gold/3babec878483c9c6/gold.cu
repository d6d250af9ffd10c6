// KernelBench, level 1: BatchNorm
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

// Mean and squared deviation of one plane a block.
extern "C" __global__ void __launch_bounds__(512) planes(const float *__restrict__ x, float2 *__restrict__ part, long long plane)
{
    x += blockIdx.x * plane;
    float sum = 0.0f;
    for (long long i = threadIdx.x; i < plane; i += blockDim.x)
        sum += x[i];
    const float mean = over_block<false>(sum) / (float)plane;
    sum = 0.0f;
    for (long long i = threadIdx.x; i < plane; i += blockDim.x)
        sum += (x[i] - mean) * (x[i] - mean);
    sum = over_block<false>(sum);
    if (threadIdx.x == 0)
        part[blockIdx.x] = make_float2(mean, sum);
}

// The planes of a channel put together, then one plane of the result a block.
extern "C" __global__ void __launch_bounds__(512) apply(const float *__restrict__ x, const float2 *__restrict__ part,
                                                        const float *__restrict__ weight, const float *__restrict__ bias,
                                                        float *__restrict__ y, int batch, int channels, long long plane)
{
    const int c = blockIdx.x % channels;
    float mean = 0.0f, spread = 0.0f;
    for (int b = 0; b < batch; b++)
        mean += part[b * channels + c].x;
    mean /= (float)batch;
    for (int b = 0; b < batch; b++) {
        const float2 p = part[b * channels + c];
        spread += p.y + (p.x - mean) * (p.x - mean) * (float)plane;
    }
    const float scale = rsqrtf(spread / ((float)plane * (float)batch) + 1e-5f) * weight[c];
    x += blockIdx.x * plane;
    y += blockIdx.x * plane;
    for (long long i = threadIdx.x; i < plane; i += blockDim.x)
        y[i] = (x[i] - mean) * scale + bias[c];
}
