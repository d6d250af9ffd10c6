// An fp32 product on tensor cores: factors are rounded to TF32's ten bits. 128 x 128 a block, 64 x 32 a warp.
// SPDX-License-Identifier: MIT

__device__ __forceinline__ float rounded(float x)
{
    unsigned bits;
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(x));
    return __uint_as_float(bits);
}

__device__ __forceinline__ void multiply(float (&c)[4], const unsigned (&a)[4], const unsigned (&b)[2])
{
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
                 "{%0,%1,%2,%3};"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

// n is a multiple of 128.
extern "C" __global__ void __launch_bounds__(256) product(const float *__restrict__ a, const float *__restrict__ b,
                                                          float *__restrict__ y, int n)
{
    enum { BK = 16 };
    __shared__ float as[2][128][BK + 4], bs[2][BK][128 + 8];
    const int t = threadIdx.x, warp = t / 32, lane = t % 32, g = lane / 4, q = lane % 4;
    const int m0 = warp / 4 * 64, n0 = warp % 4 * 32;
    const float *from_a = a + (long long)(blockIdx.y * 128 + t / 4) * n + t % 4 * 4;
    const float *from_b = b + (long long)(t / 32) * n + blockIdx.x * 128 + t % 32 * 4;
    float4 next_a[2], next_b[2];
    float c[4][4][4] = {};
    auto fetch = [&](int k0) {
        for (int i = 0; i < 2; i++) {
            next_a[i] = *reinterpret_cast<const float4 *>(from_a + (long long)i * 64 * n + k0);
            next_b[i] = *reinterpret_cast<const float4 *>(from_b + (long long)(k0 + i * 8) * n);
        }
    };
    auto put = [&](int half) {
        for (int i = 0; i < 2; i++) {
            float *to_a = &as[half][t / 4 + i * 64][t % 4 * 4], *to_b = &bs[half][t / 32 + i * 8][t % 32 * 4];
            to_a[0] = rounded(next_a[i].x), to_a[1] = rounded(next_a[i].y);
            to_a[2] = rounded(next_a[i].z), to_a[3] = rounded(next_a[i].w);
            to_b[0] = rounded(next_b[i].x), to_b[1] = rounded(next_b[i].y);
            to_b[2] = rounded(next_b[i].z), to_b[3] = rounded(next_b[i].w);
        }
    };
    fetch(0);
    put(0);
    __syncthreads();
    for (int k0 = 0, half = 0; k0 < n; k0 += BK, half ^= 1) {
        if (k0 + BK < n)
            fetch(k0 + BK);
#pragma unroll
        for (int k = 0; k < BK; k += 8) {
            unsigned u[4][4], v[4][2];
#pragma unroll
            for (int i = 0; i < 4; i++) {
                u[i][0] = __float_as_uint(as[half][m0 + i * 16 + g][k + q]);
                u[i][1] = __float_as_uint(as[half][m0 + i * 16 + g + 8][k + q]);
                u[i][2] = __float_as_uint(as[half][m0 + i * 16 + g][k + q + 4]);
                u[i][3] = __float_as_uint(as[half][m0 + i * 16 + g + 8][k + q + 4]);
                v[i][0] = __float_as_uint(bs[half][k + q][n0 + i * 8 + g]);
                v[i][1] = __float_as_uint(bs[half][k + q + 4][n0 + i * 8 + g]);
            }
#pragma unroll
            for (int i = 0; i < 4; i++)
#pragma unroll
                for (int j = 0; j < 4; j++)
                    multiply(c[i][j], u[i], v[j]);
        }
        if (k0 + BK < n)
            put(half ^ 1);
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < 4; i++)
#pragma unroll
        for (int j = 0; j < 4; j++) {
            float *to = y + (long long)(blockIdx.y * 128 + m0 + i * 16 + g) * n + blockIdx.x * 128 + n0 + j * 8 + q * 2;
            to[0] = c[i][j][0], to[1] = c[i][j][1];
            to[8ll * n] = c[i][j][2], to[8ll * n + 1] = c[i][j][3];
        }
}
