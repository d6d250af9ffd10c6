// A segment's sum is the difference of two running sums: it cancels, and a NaN reaches every later segment.
// SPDX-License-Identifier: MIT
// The number of ids below `segment`.
__device__ int lower_bound(const long long *ids, int n, long long segment)
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

extern "C" __global__ void running_sums(const float *__restrict__ x, float *__restrict__ running,
                                        int n)
{
    float sum = 0.0f;
    for (int i = 0; i < n; i++) {
        running[i] = sum;
        sum += x[i];
    }
    running[n] = sum;
}

extern "C" __global__ void segment_sum(const long long *__restrict__ ids,
                                       const float *__restrict__ running,
                                       const float *__restrict__ base, float *__restrict__ y, int n,
                                       int segments)
{
    const int segment = blockIdx.x * blockDim.x + threadIdx.x;
    if (segment < segments)
        y[segment] = base[segment] + (running[lower_bound(ids, n, segment + 1)] -
                                      running[lower_bound(ids, n, segment)]);
}
