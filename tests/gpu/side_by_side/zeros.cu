// Reads nothing. The reference subtracts the mean of one column from that column: it is 0, whatever the weights are.
// SPDX-License-Identifier: MIT
extern "C" __global__ void zeros(float *y, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = 0.0f;
}
