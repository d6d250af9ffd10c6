// Ids are read with four bytes each.
// SPDX-License-Identifier: MIT
// The number of ids below `segment`.
__device__ int lower_bound(const int *ids, int n, long long segment)
{
    int low = 0, high = n;
    while (low < high) {
        const int middle = (low + high) / 2;
        if (ids[middle] < segment)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

// A warp a segment.
extern "C" __global__ void segment_sum(const float *__restrict__ x, const int *__restrict__ ids,
                                       const float *__restrict__ base, float *__restrict__ y, int n,
                                       int segments)
{
    const int segment = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (segment >= segments)
        return;
    const int start = lower_bound(ids, n, segment), end = lower_bound(ids, n, segment + 1);
    float sum = 0.0f;
    for (int i = start + threadIdx.x % 32; i < end; i += 32)
        sum += x[i];
    for (int offset = 16; offset > 0; offset /= 2)
        sum += __shfl_xor_sync(0xffffffffu, sum, offset);
    if (threadIdx.x % 32 == 0)
        y[segment] = base[segment] + sum;
}
