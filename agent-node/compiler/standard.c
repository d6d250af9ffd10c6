/* standard - the C and C++ headers that device code usually names
 *
 * SPDX-License-Identifier: MIT */
#include "agent-node/compiler/standard.h"

/* Functions (memcpy, assert, printf, sqrtf, …) are known to NVRTC without a header. */
static const char nothing[] = "#pragma once\n";

static const char c_stddef[] = "#pragma once\n"
                               "typedef decltype(sizeof(0)) size_t;\n"
                               "typedef signed long ptrdiff_t;\n"
                               "#ifndef NULL\n"
                               "#define NULL 0\n"
                               "#endif\n"
                               "#ifndef offsetof\n"
                               "#define offsetof(type, member) ((size_t)&((type *)0)->member)\n"
                               "#endif\n";

static const char c_limits[] = "#pragma once\n"
                               "#ifndef CHAR_BIT\n"
                               "#define CHAR_BIT 8\n"
                               "#define SCHAR_MIN (-128)\n"
                               "#define SCHAR_MAX 127\n"
                               "#define UCHAR_MAX 255\n"
                               "#define CHAR_MIN SCHAR_MIN\n"
                               "#define CHAR_MAX SCHAR_MAX\n"
                               "#define SHRT_MIN (-SHRT_MAX - 1)\n"
                               "#define SHRT_MAX 0x7fff\n"
                               "#define USHRT_MAX 0xffff\n"
                               "#define INT_MIN (-INT_MAX - 1)\n"
                               "#define INT_MAX 0x7fffffff\n"
                               "#define UINT_MAX 0xffffffff\n"
                               "#define LONG_MIN (-LONG_MAX - 1)\n"
                               "#define LONG_MAX LLONG_MAX\n"
                               "#define ULONG_MAX ULLONG_MAX\n"
                               "#define LLONG_MIN (-LLONG_MAX - 1)\n"
                               "#define LLONG_MAX 0x7fffffffffffffffLL\n"
                               "#define ULLONG_MAX 0xffffffffffffffffUL\n"
                               "#endif\n";

static const char c_stdint[] = "#pragma once\n"
                               "#include <limits.h>\n"
                               "typedef signed char int8_t;\n"
                               "typedef signed short int16_t;\n"
                               "typedef signed int int32_t;\n"
                               "typedef signed long long int64_t;\n"
                               "typedef unsigned char uint8_t;\n"
                               "typedef unsigned short uint16_t;\n"
                               "typedef unsigned int uint32_t;\n"
                               "typedef unsigned long long uint64_t;\n"
                               "typedef int64_t intptr_t;\n"
                               "typedef uint64_t uintptr_t;\n"
                               "typedef int64_t intmax_t;\n"
                               "typedef uint64_t uintmax_t;\n"
                               "#ifndef INT8_MIN\n"
                               "#define INT8_MIN SCHAR_MIN\n"
                               "#define INT16_MIN SHRT_MIN\n"
                               "#define INT32_MIN INT_MIN\n"
                               "#define INT64_MIN LLONG_MIN\n"
                               "#define INT8_MAX SCHAR_MAX\n"
                               "#define INT16_MAX SHRT_MAX\n"
                               "#define INT32_MAX INT_MAX\n"
                               "#define INT64_MAX LLONG_MAX\n"
                               "#define UINT8_MAX UCHAR_MAX\n"
                               "#define UINT16_MAX USHRT_MAX\n"
                               "#define UINT32_MAX UINT_MAX\n"
                               "#define UINT64_MAX ULLONG_MAX\n"
                               "#define SIZE_MAX UINT64_MAX\n"
                               "#endif\n";

static const char c_float[] = "#pragma once\n"
                              "#ifndef FLT_MAX\n"
                              "#define FLT_RADIX 2\n"
                              "#define FLT_MANT_DIG 24\n"
                              "#define FLT_DIG 6\n"
                              "#define FLT_EPSILON 1.1920928955078125e-7F\n"
                              "#define FLT_MIN 1.17549435082228750796873653722224568e-38F\n"
                              "#define FLT_MAX 3.40282346638528859811704183484516925e+38F\n"
                              "#define FLT_MIN_EXP (-125)\n"
                              "#define FLT_MAX_EXP 128\n"
                              "#define FLT_TRUE_MIN 1.40129846432481707092372958328991613e-45F\n"
                              "#define DBL_MANT_DIG 53\n"
                              "#define DBL_DIG 15\n"
                              "#define DBL_EPSILON 2.220446049250313080847263336181640625e-16\n"
                              "#define DBL_MIN 2.22507385850720138309023271733240406e-308\n"
                              "#define DBL_MAX 1.79769313486231570814527423731704357e+308\n"
                              "#define DBL_MIN_EXP (-1021)\n"
                              "#define DBL_MAX_EXP 1024\n"
                              "#define DBL_TRUE_MIN 4.94065645841246544176568792868221372e-324\n"
                              "#endif\n";

static const char c_math[] = "#pragma once\n"
                             "#ifndef INFINITY\n"
                             "#define INFINITY __builtin_bit_cast(float, 0x7f800000)\n"
                             "#endif\n"
                             "#ifndef NAN\n"
                             "#define NAN __builtin_bit_cast(float, 0x7fffffff)\n"
                             "#endif\n"
                             "#ifndef HUGE_VALF\n"
                             "#define HUGE_VALF INFINITY\n"
                             "#endif\n"
                             "#ifndef M_PI\n"
                             "#define M_E 2.7182818284590452354\n"
                             "#define M_LOG2E 1.4426950408889634074\n"
                             "#define M_LOG10E 0.43429448190325182765\n"
                             "#define M_LN2 0.69314718055994530942\n"
                             "#define M_LN10 2.30258509299404568402\n"
                             "#define M_PI 3.14159265358979323846\n"
                             "#define M_PI_2 1.57079632679489661923\n"
                             "#define M_PI_4 0.78539816339744830962\n"
                             "#define M_1_PI 0.31830988618379067154\n"
                             "#define M_2_PI 0.63661977236758134308\n"
                             "#define M_2_SQRTPI 1.12837916709551257390\n"
                             "#define M_SQRT2 1.41421356237309504880\n"
                             "#define M_SQRT1_2 0.70710678118654752440\n"
                             "#endif\n";

static const char cxx_stdint[] =
    "#pragma once\n"
    "#include <stdint.h>\n"
    "namespace std {\n"
    "using ::int8_t; using ::int16_t; using ::int32_t; using ::int64_t;\n"
    "using ::uint8_t; using ::uint16_t; using ::uint32_t; using ::uint64_t;\n"
    "using ::intptr_t; using ::uintptr_t; using ::intmax_t; using ::uintmax_t;\n"
    "}\n";

static const char cxx_stddef[] = "#pragma once\n"
                                 "#include <stddef.h>\n"
                                 "namespace std { using ::size_t; using ::ptrdiff_t; }\n";

static const char cxx_limits_h[] = "#pragma once\n#include <limits.h>\n";
static const char cxx_float[] = "#pragma once\n#include <float.h>\n";
static const char cxx_math[] =
    "#pragma once\n"
    "#include <math.h>\n"
    "namespace std {\n"
    "using ::abs; using ::acos; using ::acosh; using ::asin; using ::asinh; using ::atan;\n"
    "using ::atan2; using ::atanh; using ::cbrt; using ::ceil; using ::copysign; using ::cos;\n"
    "using ::cosh; using ::erf; using ::erfc; using ::exp; using ::exp2; using ::expm1;\n"
    "using ::fabs; using ::fdim; using ::floor; using ::fma; using ::fmax; using ::fmin;\n"
    "using ::fmod; using ::frexp; using ::hypot; using ::ilogb; using ::isfinite;\n"
    "using ::isinf; using ::isnan; using ::ldexp; using ::lgamma; using ::log; using ::log10;\n"
    "using ::log1p; using ::log2; using ::logb; using ::lrint; using ::lround; using ::modf;\n"
    "using ::nearbyint; using ::pow; using ::remainder; using ::rint; using ::round;\n"
    "using ::scalbn; using ::signbit; using ::sin; using ::sinh; using ::sqrt; using ::tan;\n"
    "using ::tanh; using ::tgamma; using ::trunc;\n"
    "}\n";

static const char cxx_limits[] =
    "#pragma once\n"
    "#include <float.h>\n"
    "#include <limits.h>\n"
    "namespace std {\n"
    "template <class T> struct numeric_limits { static constexpr bool is_specialized = false; };\n"
    "template <class T> struct numeric_limits<const T> : numeric_limits<T> {};\n"
    "#define CE_INTEGER(T, LOW, HIGH, DIGITS, SIGNED)                                      \\\n"
    "    template <> struct numeric_limits<T> {                                            \\\n"
    "        static constexpr bool is_specialized = true, is_integer = true;               \\\n"
    "        static constexpr bool is_signed = SIGNED, is_exact = true;                    \\\n"
    "        static constexpr bool has_infinity = false, has_quiet_NaN = false;            \\\n"
    "        static constexpr int digits = DIGITS, radix = 2;                              \\\n"
    "        __host__ __device__ static constexpr T min() noexcept { return LOW; }         \\\n"
    "        __host__ __device__ static constexpr T lowest() noexcept { return LOW; }      \\\n"
    "        __host__ __device__ static constexpr T max() noexcept { return HIGH; }        \\\n"
    "        __host__ __device__ static constexpr T epsilon() noexcept { return 0; }       \\\n"
    "        __host__ __device__ static constexpr T infinity() noexcept { return 0; }      \\\n"
    "        __host__ __device__ static constexpr T quiet_NaN() noexcept { return 0; }     \\\n"
    "    };\n"
    "CE_INTEGER(bool, false, true, 1, false)\n"
    "CE_INTEGER(char, CHAR_MIN, CHAR_MAX, 7, true)\n"
    "CE_INTEGER(signed char, SCHAR_MIN, SCHAR_MAX, 7, true)\n"
    "CE_INTEGER(unsigned char, 0, UCHAR_MAX, 8, false)\n"
    "CE_INTEGER(short, SHRT_MIN, SHRT_MAX, 15, true)\n"
    "CE_INTEGER(unsigned short, 0, USHRT_MAX, 16, false)\n"
    "CE_INTEGER(int, INT_MIN, INT_MAX, 31, true)\n"
    "CE_INTEGER(unsigned, 0, UINT_MAX, 32, false)\n"
    "CE_INTEGER(long, LONG_MIN, LONG_MAX, 63, true)\n"
    "CE_INTEGER(unsigned long, 0, ULONG_MAX, 64, false)\n"
    "CE_INTEGER(long long, LLONG_MIN, LLONG_MAX, 63, true)\n"
    "CE_INTEGER(unsigned long long, 0, ULLONG_MAX, 64, false)\n"
    "#undef CE_INTEGER\n"
    "#define CE_REAL(T, P, HUGE, QUIET)                                                    \\\n"
    "    template <> struct numeric_limits<T> {                                            \\\n"
    "        static constexpr bool is_specialized = true, is_integer = false;              \\\n"
    "        static constexpr bool is_signed = true, is_exact = false, is_iec559 = true;   \\\n"
    "        static constexpr bool has_infinity = true, has_quiet_NaN = true;              \\\n"
    "        static constexpr int digits = P##_MANT_DIG, digits10 = P##_DIG, radix = 2;    \\\n"
    "        static constexpr int min_exponent = P##_MIN_EXP, max_exponent = P##_MAX_EXP;  \\\n"
    "        __host__ __device__ static constexpr T min() noexcept { return P##_MIN; }     \\\n"
    "        __host__ __device__ static constexpr T lowest() noexcept { return -P##_MAX; } \\\n"
    "        __host__ __device__ static constexpr T max() noexcept { return P##_MAX; }     \\\n"
    "        __host__ __device__ static constexpr T epsilon() noexcept { return P##_EPSILON; }     "
    "\\\n"
    "        __host__ __device__ static constexpr T denorm_min() noexcept { return P##_TRUE_MIN; } "
    "\\\n"
    "        __host__ __device__ static constexpr T infinity() noexcept                   \\\n"
    "        { return __builtin_bit_cast(T, HUGE); }                                       \\\n"
    "        __host__ __device__ static constexpr T quiet_NaN() noexcept                  \\\n"
    "        { return __builtin_bit_cast(T, QUIET); }                                      \\\n"
    "    };\n"
    "CE_REAL(float, FLT, 0x7f800000, 0x7fffffff)\n"
    "CE_REAL(double, DBL, 0x7ff0000000000000LL, 0x7fffffffffffffffLL)\n"
    "#undef CE_REAL\n"
    "}\n";

static const char cxx_algorithm[] =
    "#pragma once\n"
    "namespace std {\n"
    "template <class T> __host__ __device__ constexpr const T &min(const T &a, const T &b)\n"
    "{ return b < a ? b : a; }\n"
    "template <class T> __host__ __device__ constexpr const T &max(const T &a, const T &b)\n"
    "{ return a < b ? b : a; }\n"
    "template <class T> __host__ __device__ constexpr const T &clamp(const T &v, const T &low,\n"
    "                                                                const T &high)\n"
    "{ return v < low ? low : high < v ? high : v; }\n"
    "template <class T> __host__ __device__ constexpr void swap(T &a, T &b)\n"
    "{ T c = static_cast<T &&>(a); a = static_cast<T &&>(b); b = static_cast<T &&>(c); }\n"
    "}\n";

static const standard_set headers = {
    .names = {"stdint.h", "stddef.h", "limits.h", "float.h", "math.h",  "assert.h", "stdio.h",
              "stdlib.h", "string.h", "cstdint",  "cstddef", "climits", "cfloat",   "cmath",
              "cassert",  "cstdio",   "cstdlib",  "cstring", "limits",  "algorithm"},
    .texts = {c_stdint, c_stddef, c_limits,   c_float,    c_math,       nothing,      nothing,
              nothing,  nothing,  cxx_stdint, cxx_stddef, cxx_limits_h, cxx_float,    cxx_math,
              nothing,  nothing,  nothing,    nothing,    cxx_limits,   cxx_algorithm},
    .count = 20};

const standard_set *standard_headers(void)
{
    return &headers;
}
