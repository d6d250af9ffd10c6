// The row's total less what comes behind the element, which cancels.
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
    float mine = 0.0f, whole;
    for (int i = threadIdx.x; i < cols; i += blockDim.x)
        mine += from[i];
    block_scan(mine, &whole);
    float behind = 0.0f; // the sum of the tiles done: from the end of the row to the left
    for (int tile = 0; tile < cols; tile += 256) {
        const int i = cols - 1 - tile - (int)threadIdx.x;
        const float value = i >= 0 ? from[i] : 0.0f;
        float total;
        const float through = block_scan(value, &total);
        if (i >= 0)
            to[i] = whole - (behind + (through - value));
        behind += total;
    }
}
