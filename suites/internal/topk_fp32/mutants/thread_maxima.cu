// Sixteen threads keep their largest element each, and the eight best of those are taken for those of the row.
// SPDX-License-Identifier: MIT
struct best {
    float value;
    int index;
};

__device__ __forceinline__ bool ahead(best a, best b)
{
    return a.value > b.value || (a.value == b.value && a.index < b.index);
}

extern "C" __global__ void topk(const float *__restrict__ x, float *__restrict__ values,
                                long long *__restrict__ indices, int cols, int top)
{
    __shared__ best parts[8];
    const float *row = x + (long long)blockIdx.x * cols;
    best mine = {__int_as_float(0xff800000), cols};
    for (int i = threadIdx.x; threadIdx.x < 16 && i < cols; i += 16) {
        const best seen = {row[i], i};
        if (ahead(seen, mine))
            mine = seen;
    }
    best last = {__int_as_float(0x7f800000), -1};
    for (int round = 0; round < top; round++) {
        best b = {__int_as_float(0xff800000), cols};
        if (ahead(last, mine) && ahead(mine, b))
            b = mine;
        for (int offset = 16; offset > 0; offset /= 2) {
            const best other = {__shfl_xor_sync(0xffffffffu, b.value, offset),
                                __shfl_xor_sync(0xffffffffu, b.index, offset)};
            if (ahead(other, b))
                b = other;
        }
        if (threadIdx.x % 32 == 0)
            parts[threadIdx.x / 32] = b;
        __syncthreads();
        last = parts[0];
        for (int i = 1; i < 8; i++)
            if (ahead(parts[i], last))
                last = parts[i];
        __syncthreads();
        if (threadIdx.x == 0) {
            values[(long long)blockIdx.x * top + round] = last.value;
            indices[(long long)blockIdx.x * top + round] = last.index;
        }
    }
}
