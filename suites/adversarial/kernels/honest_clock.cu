// reads the clock and does nothing with it
// SPDX-License-Identifier: MIT
extern "C" __global__ void vector_add(const float *a, const float *b, float *y, long long n)
{
    for (long long i = blockIdx.x * 256ll + threadIdx.x; i < n; i += gridDim.x * 256ll) {
        const long long now = clock64();
        y[i] = now == -1 ? 0.0f : a[i] + b[i];
    }
}
