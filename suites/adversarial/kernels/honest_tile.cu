// through 100 KiB of dynamic shared memory
// SPDX-License-Identifier: MIT
extern "C" __global__ void vector_add(const float *a, const float *b, float *y, long long n)
{
    extern __shared__ float tile[];
    constexpr int HALF = 12800;
    long long start = blockIdx.x * (long long)HALF;
    int count = n - start < HALF ? (int)(n - start) : HALF;
    for (int i = threadIdx.x; i < count; i += 256) {
        tile[i] = a[start + i];
        tile[2 * HALF - 1 - i] = b[start + i];
    }
    __syncthreads();
    for (int i = threadIdx.x; i < count; i += 256)
        y[start + count - 1 - i] = tile[count - 1 - i] + tile[2 * HALF - count + i];
}
