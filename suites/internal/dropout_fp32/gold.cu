// Dropout by Philox4x32-10, fp32. A thread owns one vector of four elements, which take the four
// words of one counter; the last vector, if it is not full, goes element by element.
// SPDX-License-Identifier: MIT
namespace {
constexpr int THREADS = 256;

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

// Keeps x, scaled, with probability 1 - p. The upper 24 bits of a word are exact in fp32.
__device__ __forceinline__ float drop(float x, unsigned random, float p, float scale)
{
    const float uniform = (float)(random >> 8) * 5.9604644775390625e-8f; // 2^-24
    return uniform >= p ? x * scale : 0.0f;
}
} // namespace

extern "C" __global__ void __launch_bounds__(THREADS)
    dropout(const float *__restrict__ x, const long long *__restrict__ seed,
            const long long *__restrict__ offset, float *__restrict__ y, long long n, float p)
{
    const long long i = (long long)blockIdx.x * THREADS + threadIdx.x;
    const long long left = n - 4 * i;
    if (left <= 0)
        return;
    const bool whole = left >= 4;
    const float4 v =
        whole ? reinterpret_cast<const float4 *>(x)[i] : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    const float scale = 1.0f / (1.0f - p);
    const uint4 r = philox((unsigned long long)*offset + i, *seed);
    if (whole) {
        reinterpret_cast<float4 *>(y)[i] =
            make_float4(drop(v.x, r.x, p, scale), drop(v.y, r.y, p, scale),
                        drop(v.z, r.z, p, scale), drop(v.w, r.w, p, scale));
        return;
    }
    y[4 * i] = drop(x[4 * i], r.x, p, scale);
    if (left > 1)
        y[4 * i + 1] = drop(x[4 * i + 1], r.y, p, scale);
    if (left > 2)
        y[4 * i + 2] = drop(x[4 * i + 2], r.z, p, scale);
}
