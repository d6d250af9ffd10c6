// the static variable hides in a template
// SPDX-License-Identifier: MIT
template <int N> __device__ int &slot()
{
    static int kept;
    return kept;
}

extern "C" __global__ void vector_add(const float *a, const float *b, float *y, long long n)
{
    for (long long i = blockIdx.x * 256ll + threadIdx.x; i < n; i += gridDim.x * 256ll) {
        if (i == 0)
            slot<3>()++;
        y[i] = a[i] + b[i];
    }
}
