// A scan within the warp, a carry between tiles, and nothing between the warps of a tile.
// SPDX-License-Identifier: MIT
extern "C" __global__ void cumsum(const float *__restrict__ x, float *__restrict__ y, int cols)
{
    __shared__ float carry[8];
    const float *from = x + (long long)blockIdx.x * cols;
    float *to = y + (long long)blockIdx.x * cols;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    if (lane == 0)
        carry[warp] = 0.0f;
    __syncwarp();
    for (int tile = 0; tile < cols; tile += 256) {
        const int i = tile + threadIdx.x;
        float value = i < cols ? from[i] : 0.0f;
        for (int offset = 1; offset < 32; offset *= 2) {
            const float before = __shfl_up_sync(0xffffffffu, value, offset);
            if (lane >= offset)
                value += before;
        }
        value += carry[warp];
        if (i < cols)
            to[i] = value;
        __syncwarp();
        if (lane == 31)
            carry[warp] = value;
        __syncwarp();
    }
}
