// As fma_chain, but on a device of 132 multiprocessors one block is left for a wave of its own. Tail bound.
// SPDX-License-Identifier: MIT
extern "C" __global__ void long_tail(const float *__restrict__ x, float *__restrict__ y, long long n,
                                     float one, float zero, int rounds)
{
    const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    const float scale = one + zero * threadIdx.x, shift = zero * threadIdx.x; /* in registers */
    float value = x[i];
#pragma unroll 16
    for (int k = 0; k < rounds; k++)
        value = fmaf(value, scale, shift);
    y[i] = value;
}
