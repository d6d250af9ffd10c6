// every thread writes the sum of its own part: the last one wins
// SPDX-License-Identifier: MIT
extern "C" __global__ void sum_all(const float *x, float *y, long long n)
{
    float sum = 0.0f;
    for (long long i = threadIdx.x; i < n; i += 256)
        sum += x[i];
    *y = sum;
}
