// Pairs are merged by value alone: which of several largest elements wins depends on who holds it.
// SPDX-License-Identifier: MIT
struct best {
    float value;
    int index;
};

__device__ __forceinline__ void merge(best &b, float value, int index)
{
    if (value > b.value) {
        b.value = value;
        b.index = index;
    }
}

extern "C" __global__ void argmax(const float *__restrict__ x, long long *__restrict__ y, int cols)
{
    __shared__ best parts[8];
    const float *row = x + (long long)blockIdx.x * cols;
    best b = {__int_as_float(0xff800000), 0x7fffffff};
    for (int i = threadIdx.x; i < cols; i += blockDim.x)
        merge(b, row[i], i);
    for (int offset = 16; offset > 0; offset /= 2) {
        const float value = __shfl_xor_sync(0xffffffffu, b.value, offset);
        const int index = __shfl_xor_sync(0xffffffffu, b.index, offset);
        merge(b, value, index);
    }
    if (threadIdx.x % 32 == 0)
        parts[threadIdx.x / 32] = b;
    __syncthreads();
    if (threadIdx.x != 0)
        return;
    for (int i = 1; i < 8; i++)
        merge(b, parts[i].value, parts[i].index);
    y[blockIdx.x] = b.index;
}
