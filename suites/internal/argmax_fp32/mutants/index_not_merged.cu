// The values are merged, but each thread keeps the index of its own largest element: thread 0's
// is stored.
// SPDX-License-Identifier: MIT
extern "C" __global__ void argmax(const float *__restrict__ x, long long *__restrict__ y, int cols)
{
    __shared__ float parts[8];
    const float *row = x + (long long)blockIdx.x * cols;
    float best = __int_as_float(0xff800000);
    int index = 0;
    for (int i = threadIdx.x; i < cols; i += blockDim.x) {
        if (row[i] > best) {
            best = row[i];
            index = i;
        }
    }
    for (int offset = 16; offset > 0; offset /= 2)
        best = fmaxf(best, __shfl_xor_sync(0xffffffffu, best, offset));
    if (threadIdx.x % 32 == 0)
        parts[threadIdx.x / 32] = best;
    __syncthreads();
    for (int i = 0; i < 8; i++)
        best = fmaxf(best, parts[i]);
    if (threadIdx.x == 0)
        y[blockIdx.x] = index;
}
