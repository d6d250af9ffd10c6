// a recurrence, a launch for every step: the state goes back and forth between two halves of a buffer
// SPDX-License-Identifier: MIT
extern "C" __global__ void step(const float *x, const float *before, float *after, float *y, int rows, int cols, int t)
{
    int row = blockIdx.x * 256 + threadIdx.x;
    if (row >= rows)
        return;
    float h = (t > 0 ? before[row] : 0.0f) + x[(long long)row * cols];
    after[row] = h;
    y[(long long)row * cols] = h;
}
