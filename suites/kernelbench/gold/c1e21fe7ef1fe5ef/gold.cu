// KernelBench, level 1: Mean reduction over a dimension
// SPDX-License-Identifier: MIT

// One column a thread: four sums beside each other, so that additions do not wait.
extern "C" __global__ void __launch_bounds__(256) columns(const float *__restrict__ x, float *__restrict__ y, int rows, int cols)
{
    const int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j >= cols)
        return;
    x += (long long)blockIdx.y * rows * cols + j;
    float sum[4] = {0.0f, 0.0f, 0.0f, 0.0f};
    for (int i = 0; i < rows; i++) {
        const float v = x[(long long)i * cols];
        sum[i % 4] += v;
    }
    y[(long long)blockIdx.y * cols + j] = ((sum[0] + sum[1]) + (sum[2] + sum[3])) / (float)rows;
}
