// a kernel named like an outcome
// SPDX-License-Identifier: MIT
extern "C" __global__ void ok(float *y, long long n)
{
    for (long long i = threadIdx.x; i < n; i += 256)
        y[i] = 1.0f;
}
