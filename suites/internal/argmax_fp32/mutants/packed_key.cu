// Value and index in one 32-bit key, so that one maximum does both: 16 bits are left of the value.
// SPDX-License-Identifier: MIT

// Orders as the floats do; of equal ones the smaller index has the larger key.
__device__ __forceinline__ unsigned key_of(float value, int index)
{
    const unsigned bits = __float_as_uint(value + 0.0f); // -0 becomes +0
    const unsigned ordered = bits & 0x80000000u ? ~bits : bits | 0x80000000u;
    return (ordered & 0xffff0000u) | (0xffffu - (unsigned)index);
}

extern "C" __global__ void argmax(const float *__restrict__ x, long long *__restrict__ y, int cols)
{
    __shared__ unsigned parts[8];
    const float *row = x + (long long)blockIdx.x * cols;
    unsigned best = 0;
    for (int i = threadIdx.x; i < cols; i += blockDim.x)
        best = max(best, key_of(row[i], i));
    for (int offset = 16; offset > 0; offset /= 2)
        best = max(best, __shfl_xor_sync(0xffffffffu, best, offset));
    if (threadIdx.x % 32 == 0)
        parts[threadIdx.x / 32] = best;
    __syncthreads();
    if (threadIdx.x != 0)
        return;
    for (int i = 1; i < 8; i++)
        best = max(best, parts[i]);
    y[blockIdx.x] = 0xffffu - (best & 0xffffu);
}
