// Stored one place on, as if y had cols + 1 elements with the row's total in the last.
// SPDX-License-Identifier: MIT
// The sum of `value` over threads 0 .. threadIdx.x of the block of 256; *total is the sum over all.
__device__ __forceinline__ float block_scan(float value, float *total)
{
    __shared__ float parts[8];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    for (int offset = 1; offset < 32; offset *= 2) {
        const float before = __shfl_up_sync(0xffffffffu, value, offset);
        if (lane >= offset)
            value += before;
    }
    if (lane == 31)
        parts[warp] = value;
    __syncthreads();
    float left = 0.0f, all = 0.0f;
    for (int i = 0; i < 8; i++) {
        left += i < warp ? parts[i] : 0.0f;
        all += parts[i];
    }
    __syncthreads();
    *total = all;
    return left + value;
}

extern "C" __global__ void cumsum(const float *__restrict__ x, float *__restrict__ y, int cols)
{
    const float *from = x + (long long)blockIdx.x * cols;
    float *to = y + (long long)blockIdx.x * cols;
    if (threadIdx.x == 0)
        to[0] = 0.0f;
    float carry = 0.0f;
    for (int tile = 0; tile < cols; tile += 256) {
        const int i = tile + threadIdx.x;
        float total;
        const float sum = block_scan(i < cols ? from[i] : 0.0f, &total);
        if (i < cols)
            to[i + 1] = carry + sum;
        carry += total;
    }
}
