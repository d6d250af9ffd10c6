// A fixture of ours, level 1: Whole number argument
// SPDX-License-Identifier: MIT

// A row a block; the shift is a scalar of the contract.
extern "C" __global__ void rows(const float *__restrict__ x, float *__restrict__ y, long long shift, int cols)
{
    for (int j = threadIdx.x; j < cols; j += blockDim.x)
        y[blockIdx.x * cols + (j + shift) % cols] = x[blockIdx.x * cols + j];
}
