// A fixture of ours, level 1: Boolean mask
// SPDX-License-Identifier: MIT

// One row a thread; the mask's elements are bytes.
extern "C" __global__ void rows(const float *__restrict__ x, const bool *__restrict__ mask, float *__restrict__ y, int count, int cols)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count)
        return;
    float sum = 0.0f;
    for (int j = 0; j < cols; j++)
        y[i * cols + j] = sum += mask[i * cols + j] ? x[i * cols + j] : 0.0f;
}
