// Kernels with one planted defect each, for tests/unit/emulator/test_emulator_defects.c. The comment
// "BUG kind" stands on the line that the finding must name; of a race between blocks on both lines, since
// either may come second. All take the same arguments: `in`, n floats, an input; `out`, n floats, and `work`,
// n ints, which nothing has written; n = 1000.
// SPDX-License-Identifier: MIT
#include <cuda_fp16.h>
#define KERNEL(name) extern "C" __global__ void name(const float *in, float *out, int *work, int n)
#define ID (int)(blockIdx.x * blockDim.x + threadIdx.x)

__constant__ float table[8] = {1, 2, 3, 4, 5, 6, 7, 8};

// ---- out of bounds ----

KERNEL(global_read_past_end)
{
    const int i = ID;
    if (i < n)
        out[i] =
            in[i + 1]; // BUG read
}

KERNEL(global_read_before_start)
{
    const int i = ID;
    if (i < n)
        out[i] =
            in[i - 1]; // BUG read
}

KERNEL(global_write_past_end)
{
    const int i = ID;
    if (i <= n)
        out[i] = 1.0f; // BUG write
}

KERNEL(global_write_before_start)
{
    const int i = ID;
    if (i < n)
        out[i - 2] = 1.0f; // BUG write
}

KERNEL(global_vector_read_past_end)
{
    const int i = ID;
    if (4 * i < n + 4)
        reinterpret_cast<float4 *>(out)[i] =
            reinterpret_cast<const float4 *>(in)[i]; // BUG read
}

KERNEL(global_far_away)
{
    if (ID == 3)
        out[1ll << 32] = 1.0f; // BUG write
}

KERNEL(global_null)
{
    float *none = reinterpret_cast<float *>((size_t)(n - 1000));
    if (ID == 0)
        *none = 1.0f; // BUG write
}

KERNEL(global_atomic_past_end)
{
    atomicAdd(&out[n + ID], 1.0f); // BUG write
}

KERNEL(shared_read_past_end)
{
    __shared__ float s[64];
    const int i = threadIdx.x;
    s[i] = in[i];
    __syncthreads();
    out[i] =
        s[i + 1]; // BUG read
}

KERNEL(shared_write_past_end)
{
    __shared__ float s[32];
    __shared__ float t[64];
    const int i = threadIdx.x;
    t[i] = in[i];
    s[i] = in[i]; // BUG write
    __syncthreads();
    out[i] = s[i / 2] + t[63 - i];
}

KERNEL(shared_write_before_start)
{
    __shared__ float s[64];
    const int i = threadIdx.x;
    s[i - 1] = in[i]; // BUG write
    __syncthreads();
    out[i] = s[63 - i];
}

KERNEL(dynamic_shared_write_past_end)
{
    extern __shared__ float d[];
    const int i = threadIdx.x;
    d[i + n / 64] = in[i]; // BUG write
    __syncthreads();
    out[i] = d[i + 1];
}

__device__ __noinline__ float pick(const float *p, int i)
{
    return p[i]; // BUG read
}

KERNEL(shared_read_through_a_call)
{
    __shared__ float s[64];
    const int i = threadIdx.x;
    s[i] = in[i];
    __syncthreads();
    out[i] = pick(i % 2 == 0 ? in : s, i + 1);
}

KERNEL(local_read_past_end)
{
    float a[8];
    for (int k = 0; k < 8; k++)
        a[k] = in[k * n / 1000 + (int)threadIdx.x];
    out[threadIdx.x] =
        a[(int)in[0] * 0 + n / 125 + (int)threadIdx.x % 2]; // BUG read
}

KERNEL(local_write_past_end)
{
    float a[8];
    for (int k = 0; k < 8; k++)
        a[k] = 0;
    for (int k = 0; k < n / 100; k++)
        a[(k * 7) % (n / 100)] = in[k]; // BUG write
    out[threadIdx.x] = a[threadIdx.x % 8];
}

KERNEL(constant_read_past_end)
{
    out[threadIdx.x] =
        table[threadIdx.x]; // BUG read
}

// ---- misaligned ----

KERNEL(global_misaligned)
{
    const int i = threadIdx.x;
    *reinterpret_cast<float2 *>(out + 2 * i + 1) = make_float2(1, 2); // BUG misaligned
}

KERNEL(global_read_misaligned)
{
    const int i = threadIdx.x;
    out[i] =
        *reinterpret_cast<const float *>(reinterpret_cast<const char *>(in) + i); // BUG misaligned
}

KERNEL(shared_misaligned)
{
    __shared__ __align__(16) char s[1024];
    const int i = threadIdx.x;
    *reinterpret_cast<int *>(s + 3 * i) = i; // BUG misaligned
    __syncthreads();
    out[i] = s[i];
}

KERNEL(local_misaligned)
{
    __align__(8) char s[64];
    for (int k = 0; k < 64; k++)
        s[k] = (char)(k + n);
    out[threadIdx.x] =
        (float)*reinterpret_cast<int *>(s + (int)threadIdx.x % 2 + n % 2); // BUG misaligned
}

KERNEL(atomic_misaligned)
{
    int *p = reinterpret_cast<int *>(reinterpret_cast<char *>(work) + 2);
    atomicAdd(p, 1); // BUG misaligned
}

// ---- inputs ----

KERNEL(input_write)
{
    const_cast<float *>(in)[ID] = 0.0f; // BUG input
}

KERNEL(input_atomic)
{
    atomicAdd(const_cast<float *>(in) + 5, 1.0f); // BUG input
}

KERNEL(constant_write)
{
    float *p;
    asm("{ .reg .u64 t; mov.u64 t, table; cvta.const.u64 %0, t; }" : "=l"(p));
    p[threadIdx.x % 8] = 0.0f; // BUG input
}

// ---- uninitialised ----

KERNEL(global_unset_stored)
{
    const int i = ID;
    if (i < n) {
        const float before = out[i]; // BUG uninitialised
        out[i] = before + in[i];
    }
}

KERNEL(global_unset_decides)
{
    const int i = threadIdx.x;
    if (work[i] > 0) // BUG uninitialised
        out[i] = in[i];
}

KERNEL(global_unset_is_an_address)
{
    const int i = threadIdx.x;
    const int at = work[i]; // BUG uninitialised
    out[i] = in[at & 63];
}

KERNEL(global_unset_through_shared)
{
    __shared__ int s[64];
    const int i = threadIdx.x;
    s[i] = work[i];
    __syncthreads();
    const int v = s[63 - i]; // BUG uninitialised
    out[i] = (float)v;
}

KERNEL(shared_unset_stored)
{
    __shared__ float s[64];
    const int i = threadIdx.x;
    if (i != 7)
        s[i] = in[i];
    __syncthreads();
    const float v = s[63 - i]; // BUG uninitialised
    out[i] = v;
}

KERNEL(shared_unset_decides)
{
    __shared__ int s[64];
    const int i = threadIdx.x;
    if (i < 32)
        s[i] = i;
    __syncthreads();
    if (s[i] == 40) // BUG uninitialised
        out[i] = 1.0f;
}

KERNEL(local_unset_stored)
{
    float a[8];
    for (int k = 0; k < n / 200; k++)
        a[k] = in[k];
    const float v = a[threadIdx.x % 8]; // BUG uninitialised
    out[threadIdx.x] = v;
}

KERNEL(atomic_on_unset_global)
{
    atomicAdd(&work[threadIdx.x % 4], 1); // BUG uninitialised
}

KERNEL(atomic_on_unset_shared)
{
    __shared__ int s[4];
    atomicAdd(&s[threadIdx.x % 4], 1); // BUG uninitialised
    __syncthreads();
    out[threadIdx.x] = (float)s[threadIdx.x % 4];
}

// ---- races in shared memory ----

KERNEL(shared_race_read_after_write)
{
    __shared__ float s[64];
    const int i = threadIdx.x;
    s[i] = in[i];
    out[i] =
        s[63 - i]; // BUG race
}

KERNEL(shared_race_write_after_read)
{
    __shared__ float s[64];
    const int i = threadIdx.x;
    s[i] = in[i];
    __syncthreads();
    const float v = s[63 - i]; // BUG race: whichever comes first
    s[i] = v + 1.0f; // BUG race
    __syncthreads();
    out[i] = s[i];
}

KERNEL(shared_race_write_after_write)
{
    __shared__ int s;
    s = threadIdx.x; // BUG race
    __syncthreads();
    out[threadIdx.x] = (float)s;
}

KERNEL(shared_race_in_a_warp)
{
    __shared__ float s[32];
    const int i = threadIdx.x;
    s[i] = in[i];
    out[i] =
        s[(i + 1) % 32]; // BUG race
}

KERNEL(shared_race_of_halves)
{
    __shared__ __half s[64];
    const int i = threadIdx.x;
    s[i] = __float2half(in[i]);
    s[(i + 1) % 64] = __float2half(0.5f * i); // BUG race
    __syncthreads();
    out[i] = __half2float(s[i]);
}

KERNEL(shared_race_atomic_and_plain)
{
    __shared__ int s[4];
    const int i = threadIdx.x;
    if (i < 4)
        s[i] = 0;
    __syncthreads();
    atomicAdd(&s[i % 4], 1);
    out[i] =
        (float)s[(i + 1) % 4]; // BUG race
}

KERNEL(shared_race_beside_compare_and_swap)
{
    __shared__ int s;
    if (threadIdx.x == 0)
        s = 0;
    __syncthreads();
    if (threadIdx.x == 40)
        s = 5;
    int old = s, expected; // BUG race
    do {
        expected = old;
        old = atomicCAS(&s, expected, expected + 1);
    } while (old != expected);
    __syncthreads();
    out[threadIdx.x] = (float)s;
}

KERNEL(shared_race_in_a_loop)
{
    __shared__ float s[64];
    const int i = threadIdx.x;
    float sum = 0.0f;
    for (int k = 0; k < 3; k++) {
        s[i] = in[i + k]; // BUG race
        __syncthreads();
        sum += s[63 - i]; // BUG race: whichever comes first
    }
    out[i] = sum;
}

// ---- races in global memory ----

KERNEL(global_race_in_a_block)
{
    const int i = threadIdx.x;
    work[i] = i;
    out[i] =
        (float)work[63 - i]; // BUG race
}

KERNEL(global_race_of_writers)
{
    if (threadIdx.x == 0)
        work[0] = blockIdx.x; // BUG race
}

KERNEL(global_race_read_after_write)
{
    if (threadIdx.x == 0)
        work[blockIdx.x] = blockIdx.x + 1; // BUG race
    __syncthreads();
    if (threadIdx.x == 0 && blockIdx.x > 0)
        out[blockIdx.x] =
            (float)work[blockIdx.x - 1]; // BUG race
}

KERNEL(global_race_flag_without_fence)
{
    volatile int *flag = work + 500;
    if (threadIdx.x != 0)
        return;
    if (blockIdx.x == 0) {
        work[0] = 42; // BUG race
        *flag = 1;
    } else if (blockIdx.x == 1) {
        *flag = 1;
        out[0] =
            (float)work[0]; // BUG race
    }
}

KERNEL(global_race_atomic_and_plain)
{
    if (threadIdx.x != 0)
        return;
    if (blockIdx.x == 0)
        atomicExch(&work[3], 1); // BUG race
    else
        work[3] = 2; // BUG race
}

// ---- barriers, shuffles ----

KERNEL(barrier_in_half_a_warp)
{
    __shared__ float s[32];
    const int i = threadIdx.x;
    s[i] = in[i];
    if (i < 16)
        __syncthreads(); // BUG barrier
    else
        out[i] = in[i + 1];
    out[i] = s[i];
}

KERNEL(barrier_in_a_loop_of_different_lengths)
{
    const int i = threadIdx.x;
    for (int k = 0; k < i % 3 + 1; k++) {
        out[32 * k + i] = in[k];
        __syncthreads(); // BUG barrier
    }
    out[i + 200] = in[i];
}

KERNEL(two_barriers_for_two_halves)
{
    const int i = threadIdx.x;
    if (i % 2 == 0) {
        out[i] = in[i];
        __syncthreads(); // BUG barrier
        out[i + 64] = in[i];
    } else {
        out[i] = 2 * in[i];
        __syncthreads();
        out[i + 128] = in[i];
    }
}

KERNEL(barrier_for_too_many)
{
    asm volatile("bar.sync 1, 96;"); // BUG deadlock
    out[threadIdx.x] = 1.0f;
}

KERNEL(shuffle_from_lanes_that_have_ended)
{
    const int i = threadIdx.x;
    if (i >= 20)
        return;
    const float v = __shfl_down_sync(0xffffffffu, in[i], 4); // BUG shuffle
    out[i] = v;
}

KERNEL(shuffle_from_lanes_that_do_not_exist)
{
    const int i = threadIdx.x;
    float v = in[i];
    v += __shfl_xor_sync(0xffffffffu, v, 16); // BUG shuffle
    out[i] = v;
}

KERNEL(shuffle_with_others_elsewhere)
{
    const int i = threadIdx.x;
    float v = in[i];
    if (i < 16)
        v = __shfl_sync(0xffffffffu, v, 3); // BUG shuffle
    else
        v = 2.0f * __shfl_xor_sync(0xffffffffu, v, 1);
    out[i] = v;
}

KERNEL(shuffle_outside_its_mask)
{
    const int i = threadIdx.x;
    const float v = __shfl_sync(0x0000ffffu, in[i], 0); // BUG shuffle
    out[i] = v;
}

// ---- ends ----

KERNEL(trap)
{
    if (ID == 70)
        __trap(); // BUG trap
    out[ID] = 0.0f;
}

KERNEL(endless_loop)
{
    int i = n;
    while (i != 7 && n == 1000) // BUG hung
        i = (i * 2) % 1024 + (i == 0); // BUG hung
    out[0] = (float)i;
}

KERNEL(flag_that_never_comes)
{
    volatile int *flag = work + blockIdx.x;
    if (threadIdx.x == 0)
        *flag = 0;
    __syncthreads();
    while (*flag == 0) // BUG hung
        ;
    out[0] = 1.0f;
}
