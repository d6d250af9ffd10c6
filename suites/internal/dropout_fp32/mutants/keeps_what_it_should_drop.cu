// u < p where u >= p belongs: keeps what should be dropped.
// SPDX-License-Identifier: MIT
// One block of Philox4x32-10: four random words of a counter and a key.
__device__ __forceinline__ uint4 philox(unsigned long long counter, unsigned long long seed)
{
    uint4 c = make_uint4((unsigned)counter, (unsigned)(counter >> 32), 0u, 0u);
    unsigned k0 = (unsigned)seed, k1 = (unsigned)(seed >> 32);
#pragma unroll
    for (int round = 0; round < 10; round++) {
        const unsigned high0 = __umulhi(0xd2511f53u, c.x), low0 = 0xd2511f53u * c.x;
        const unsigned high1 = __umulhi(0xcd9e8d57u, c.z), low1 = 0xcd9e8d57u * c.z;
        c = make_uint4(high1 ^ c.y ^ k0, low1, high0 ^ c.w ^ k1, low0);
        k0 += 0x9e3779b9u;
        k1 += 0xbb67ae85u;
    }
    return c;
}

__device__ __forceinline__ float drop(float x, unsigned random, float p)
{
    const float uniform = (float)(random >> 8) * 5.9604644775390625e-8f; // 2^-24
    return uniform < p ? x * (1.0f / (1.0f - p)) : 0.0f;
}

extern "C" __global__ void dropout(const float *__restrict__ x, const long long *__restrict__ seed,
                                   const long long *__restrict__ offset, float *__restrict__ y,
                                   long long n, float p)
{
    const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (4 * i >= n)
        return;
    const uint4 r = philox(*offset + i, *seed);
    const unsigned words[4] = {r.x, r.y, r.z, r.w};
    for (int k = 0; k < 4 && 4 * i + k < n; k++)
        y[4 * i + k] = drop(x[4 * i + k], words[k], p);
}
