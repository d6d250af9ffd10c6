// A NaN is passed over: no comparison with it holds.
// SPDX-License-Identifier: MIT
struct best {
    float value;
    int index;
};

// `a` comes before `b`; the later one wins a tie.
__device__ __forceinline__ best later(best a, best b)
{
    return b.value >= a.value ? b : a;
}

extern "C" __global__ void cummax(const float *__restrict__ x, float *__restrict__ values,
                                  long long *__restrict__ indices, int cols)
{
    __shared__ best tile[256];
    const long long start = (long long)blockIdx.x * cols;
    best carry = {__int_as_float(0xff800000), 0};
    for (int first = 0; first < cols; first += 256) {
        const int at = first + threadIdx.x;
        best b = {at < cols ? x[start + at] : __int_as_float(0xff800000), at};
        tile[threadIdx.x] = b;
        __syncthreads();
        for (int offset = 1; offset < 256; offset *= 2) {
            const best left = tile[threadIdx.x >= offset ? threadIdx.x - offset : 0];
            __syncthreads();
            if (threadIdx.x >= offset)
                b = later(left, b);
            tile[threadIdx.x] = b;
            __syncthreads();
        }
        b = later(carry, b);
        if (at < cols) {
            values[start + at] = b.value;
            indices[start + at] = b.index;
        }
        carry = later(carry, tile[255]);
        __syncthreads();
    }
}
