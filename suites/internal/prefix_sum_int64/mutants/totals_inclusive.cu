// The scan of the totals is inclusive: a block adds its own total, too.
// SPDX-License-Identifier: MIT
// The sum over the block's threads up to this one; parts holds the sums of warps.
__device__ __forceinline__ long long block_scan(long long value, long long *parts)
{
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    for (int offset = 1; offset < 32; offset *= 2) {
        const long long before = __shfl_up_sync(0xffffffffu, value, offset);
        if (lane >= offset)
            value += before;
    }
    if (lane == 31)
        parts[warp] = value;
    __syncthreads();
    for (int w = 0; w < warp; w++)
        value += parts[w];
    return value;
}

extern "C" __global__ void block_totals(const long long *__restrict__ x,
                                        long long *__restrict__ totals, long long n)
{
    __shared__ long long parts[8];
    const long long at = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    const long long sum = block_scan(at < n ? x[at] : 0, parts);
    if (threadIdx.x == blockDim.x - 1)
        totals[blockIdx.x] = sum;
}

extern "C" __global__ void scan_totals(long long *__restrict__ totals, int count)
{
    long long sum = 0;
    for (int i = 0; i < count; i++) {
        const long long total = totals[i];
        sum += total;
        totals[i] = sum;
    }
}

extern "C" __global__ void scan_blocks(const long long *__restrict__ x,
                                       const long long *__restrict__ totals,
                                       long long *__restrict__ y, long long n)
{
    __shared__ long long parts[8];
    const long long at = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    const long long value = at < n ? x[at] : 0;
    const long long sum = block_scan(value, parts);
    if (at < n)
        y[at] = totals[blockIdx.x] + sum - value;
}
