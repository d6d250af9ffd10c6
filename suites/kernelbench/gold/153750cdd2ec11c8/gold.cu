// KernelBench, level 1: conv depthwise 2D square input square kernel
// SPDX-License-Identifier: MIT

// One result a thread; a channel has its own nine weights.
extern "C" __global__ void __launch_bounds__(128) channels(const float *__restrict__ x, const float *__restrict__ weight,
                                                           float *__restrict__ y, int count, int height, int width,
                                                           int out_height, int out_width)
{
    const int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y, c = blockIdx.z % count;
    if (j >= out_width)
        return;
    x += ((long long)blockIdx.z * height + i) * width + j;
    float sum = 0.0f;
    for (int r = 0; r < 3; r++)
        for (int s = 0; s < 3; s++)
            sum += x[(long long)r * width + s] * weight[(c * 3 + r) * 3 + s];
    y[((long long)blockIdx.z * out_height + i) * out_width + j] = sum;
}
