// templates that double at every step
// SPDX-License-Identifier: MIT
template <int N, int M> struct tree {
    static constexpr int value = tree<N - 1, 2 * M>::value + tree<N - 1, 2 * M + 1>::value;
};
template <int M> struct tree<0, M> {
    static constexpr int value = M;
};
extern "C" __global__ void vector_add(const float *a, const float *b, float *y, long long n)
{
    for (long long i = blockIdx.x * 256ll + threadIdx.x; i < n; i += gridDim.x * 256ll) {
        y[i] = a[i] + b[i] + tree<24, 0>::value;
    }
}
