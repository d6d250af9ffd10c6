// The element itself and its position are stored: right if rows rise.
// SPDX-License-Identifier: MIT
extern "C" __global__ void cummax(const float *__restrict__ x, float *__restrict__ values,
                                  long long *__restrict__ indices, int cols)
{
    const long long start = (long long)blockIdx.x * cols;
    for (int i = threadIdx.x; i < cols; i += blockDim.x) {
        values[start + i] = x[start + i];
        indices[start + i] = i;
    }
}
