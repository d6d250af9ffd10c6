// KernelBench, level 1: Matrix vector multiplication
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

// One row of A a block: more than 2^31 elements, so that places are 64 bits wide.
extern "C" __global__ void __launch_bounds__(1024) rows(const float *__restrict__ a, const float *__restrict__ b,
                                                        float *__restrict__ y, long long cols)
{
    a += blockIdx.x * cols;
    float sum = 0.0f;
    for (long long i = threadIdx.x; i < cols; i += blockDim.x)
        sum += a[i] * b[i];
    sum = over_block<false>(sum);
    if (threadIdx.x == 0)
        y[blockIdx.x] = sum;
}
