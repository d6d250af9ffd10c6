// a constant expression that takes hours
// SPDX-License-Identifier: MIT
constexpr unsigned long long spin(unsigned long long n)
{
    unsigned long long x = 1;
    for (unsigned long long i = 0; i < n; i++)
        x = x * 6364136223846793005ull + i;
    return x;
}
constexpr unsigned long long far = spin(1ull << 60);
extern "C" __global__ void vector_add(const float *a, const float *b, float *y, long long n)
{
    for (long long i = blockIdx.x * 256ll + threadIdx.x; i < n; i += gridDim.x * 256ll) {
        y[i] = a[i] + b[i] + (float)(far & 1);
    }
}
