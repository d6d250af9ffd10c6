// SPDX-License-Identifier: MIT

#define INFINITY __int_as_float(0x7f800000)

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

// One row a block: the maximum and the sum in one pass, the result in a second.
extern "C" __global__ void __launch_bounds__(512) rows(const float *__restrict__ x, float *__restrict__ y, long long cols)
{
    x += blockIdx.x * cols;
    y += blockIdx.x * cols;
    float high = -INFINITY, sum = 0.0f;
    for (long long i = threadIdx.x; i < cols; i += blockDim.x) {
        float v = x[i];
        if (v > high) {
            sum *= expf(high - v);
            high = v;
        }
        sum += expf(v - high);
    }
    float top = over_block<true>(high);
    sum = over_block<false>(high == -INFINITY ? 0.0f : sum * expf(high - top));
    const float scale = 1.0f / sum;
    for (long long i = threadIdx.x; i < cols; i += blockDim.x)
        y[i] = expf(x[i] - top) * scale;
}
