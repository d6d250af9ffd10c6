// a macro that expands to a thousand million tokens
// SPDX-License-Identifier: MIT
#define A(x) x x x x x x x x x x
#define B(x) A(A(A(x)))
#define C(x) B(B(B(x)))
extern "C" __global__ void vector_add(const float *a, const float *b, float *y, long long n)
{
    for (long long i = blockIdx.x * 256ll + threadIdx.x; i < n; i += gridDim.x * 256ll) {
        y[i] = a[i] + b[i];
        C(y[i] += 0.0f;)
    }
}
