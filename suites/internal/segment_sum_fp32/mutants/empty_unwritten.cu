// A segment is written by the thread of its first element: an empty one is not written at all.
// SPDX-License-Identifier: MIT
extern "C" __global__ void segment_sum(const float *__restrict__ x,
                                       const long long *__restrict__ ids,
                                       const float *__restrict__ base, float *__restrict__ y, int n)
{
    const int first = blockIdx.x * blockDim.x + threadIdx.x;
    if (first >= n || (first > 0 && ids[first - 1] == ids[first]))
        return;
    float sum = base[ids[first]];
    for (int i = first; i < n && ids[i] == ids[first]; i++)
        sum += x[i];
    y[ids[first]] = sum;
}
