// Functions of CUDA's library, one a row, for tests/unit/emulator/test_emulator_library.c: out[k * n + i] =
// f_k(in[i]). The lists here and in the test have the same order.
// SPDX-License-Identifier: MIT
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#define EACH(...)                                                                                  \
    const int i = blockIdx.x * blockDim.x + threadIdx.x;                                           \
    if (i < n) {                                                                                   \
        const T x = in[i];                                                                         \
        int k = 0;                                                                                 \
        __VA_ARGS__                                                                                \
    }
#define F(expr) out[k++ * n + i] = (expr);

extern "C" __global__ void singles(const float *in, float *out, int n)
{
    typedef float T;
    EACH(F(sinf(x)) F(cosf(x)) F(tanf(x)) F(atanf(x)) F(sinhf(x)) F(coshf(x)) F(tanhf(x)) F(expf(x))
             F(exp2f(x)) F(exp10f(x)) F(expm1f(x)) F(cbrtf(x)) F(erff(x)) F(erfcf(x)) F(floorf(x))
                 F(ceilf(x)) F(truncf(x)) F(roundf(x)) F(rintf(x)) F(fabsf(x)) F(atan2f(x, 1.5f))
                     F(hypotf(x, 2.0f)) F(fmodf(x, 0.75f)) F(copysignf(2.0f, x)) F(x / 3.0f)
                         F(powf(fabsf(x), 1.7f)) F(fdimf(x, 0.5f)) F(sinpif(x)) F(normcdff(x)))
}

extern "C" __global__ void positives(const float *in, float *out, int n)
{
    typedef float T;
    EACH(F(logf(x)) F(log2f(x)) F(log10f(x)) F(log1pf(x)) F(sqrtf(x)) F(rsqrtf(x)) F(1.0f / x)
             F(powf(x, 2.5f)) F(lgammaf(x)) F(tgammaf(x)) F(ldexpf(x, 3)) F(logbf(x)) F(acoshf(x + 1.0f))
                 F(asinhf(x)) F(__fdividef(x, 3.0f)) F(__frcp_rn(x)) F(__fsqrt_rz(x)) F(nextafterf(x, 9e9f)))
}

extern "C" __global__ void doubles(const double *in, double *out, int n)
{
    typedef double T;
    EACH(F(sin(x)) F(cos(x)) F(exp(x)) F(expm1(x)) F(tanh(x)) F(atan(x)) F(erf(x)) F(log(fabs(x) + 0.01))
             F(sqrt(fabs(x))) F(1.0 / (x + 20.0)) F(x / 7.0) F(pow(fabs(x), 1.3)) F(floor(x)) F(rint(x))
                 F(cbrt(x)) F(fma(x, x, 1.0)) F(rsqrt(fabs(x) + 0.5)) F((double)(long long)(x * 1000.0))
                     F((double)(unsigned)(fabs(x) * 1e6)) F((double)(float)x))
}

// Large arguments take the slow way through a table in local memory.
extern "C" __global__ void far(const float *in, float *out, int n)
{
    typedef float T;
    EACH(F(sinf(x * 1e6f)) F(cosf(x * 1e7f)) F(tanf(x * 3e5f)))
}

extern "C" __global__ void halves(const float *in, float *out, int n)
{
    typedef float T;
    EACH(const __half h = __float2half(x); const __half2 p = __floats2half2_rn(x, x + 1.0f);
         const __nv_bfloat16 b = __float2bfloat16(x);
         F(__half2float(hexp(h))) F(__half2float(hsin(h))) F(__half2float(hrcp(__hadd(h, __float2half(20.0f)))))
             F(__half2float(hsqrt(__habs(h)))) F(__half2float(__hfma(h, h, h)))
                 F(__half2float(__hdiv(h, __float2half(3.0f)))) F(__high2float(__hmul2(p, p)))
                     F(__low2float(__hadd2(p, p))) F(__half2float(__hmax(h, __float2half(0.25f))))
                         F(__hlt(h, __float2half(0.0f)) ? 1.0f : 0.0f) F(__high2float(h2exp2(p)))
                             F(__bfloat162float(__hadd(b, b))) F(__bfloat162float(__hmul(b, b)))
                                 F(__bfloat162float(__hfma(b, b, b))) F(__bfloat162float(hexp(b)))
                                     F((float)__half2int_rn(h)) F(__half2float(__int2half_rn((int)x)))
                                         F(__half2float(hfloor(h))))
}

// Integers: out are the low 32 bits as a float's bits would lose them, so all results are small.
extern "C" __global__ void integers(const float *in, float *out, int n)
{
    typedef float T;
    EACH(const int v = (int)(x * 100000.0f); const unsigned u = (unsigned)v * 2654435761u;
         const long long w = (long long)v * 1234567891ll;
         F((float)__popc(u)) F((float)__clz(u >> 3)) F((float)__ffs(v)) F((float)(__brev(u) >> 16))
             F((float)(__umulhi(u, u) >> 12)) F((float)(__mulhi(v * 4099, v * 4099) & 0xffff))
                 F((float)(__byte_perm(u, v, 0x5140) & 0xffff)) F((float)(__funnelshift_l(u, v, 7) & 0xffff))
                     F((float)(v / 7)) F((float)(v % 7)) F((float)(u % 1000u)) F((float)(w / 1000003ll))
                         F((float)(int)(w % 1009ll)) F((float)(__mul64hi(w, w) & 0xffff))
                             F((float)__dp4a(v, (int)u, 3)) F((float)abs(v)) F((float)min(v, 77))
                                 F((float)__sad(v, 5, 1)) F((float)__popcll(w)) F((float)__clzll(w | 1))
                                     F((float)__hadd(v, 9)) F((float)((u >> 5) & (u << 3) & 0xffff))
                                         F((float)__mul24(v & 0xfff, 37)))
}
