// swaps its inputs and swaps them back
// SPDX-License-Identifier: MIT
extern "C" __global__ void vector_add(const float *a, const float *b, float *y, long long n)
{
    for (long long i = blockIdx.x * 256ll + threadIdx.x; i < n; i += gridDim.x * 256ll) {
        float *p = const_cast<float *>(a);
        const float kept = p[i];
        *(volatile float *)&p[i] = b[i];
        y[i] = kept + *(volatile float *)&p[i];
        p[i] = kept;
    }
}
