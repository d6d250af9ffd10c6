// kernels - candidates of the GPU test, right and wrong
//
// All but copy_f32 take (const float *a, const float *b, float *y, int n). Host twins of the same names
// are in tests/support/mock_cuda/mock_kernels.c.
//
// SPDX-License-Identifier: MIT

#include <cooperative_groups.h>

#define ADD_ARGS const float *a, const float *b, float *y, int n

static __device__ int first() { return blockIdx.x * blockDim.x + threadIdx.x; }

extern "C" __global__ void add(ADD_ARGS)
{
    int i = first();
    if (i < n)
        y[i] = a[i] + b[i];
}

extern "C" __global__ void add_all_but_last(ADD_ARGS)
{
    int i = first();
    if (i < n - 1)
        y[i] = a[i] + b[i];
}

// Reads shared memory that nobody has written in this launch.
extern "C" __global__ void add_junk(ADD_ARGS)
{
    __shared__ unsigned junk[1024];
    int i = first();
    if (i < n)
        y[i] = a[i] + b[i];
    if (i == 0)
        y[0] += (float)(((volatile unsigned *)junk)[0] % 997);
}

// Never twice the same.
extern "C" __global__ void add_calls(ADD_ARGS)
{
    int i = first();
    if (i < n)
        y[i] = a[i] + b[i];
    if (i == n - 1)
        y[i] += (float)(clock64() & 0xffffff);
}

extern "C" __global__ void add_one_past(ADD_ARGS)
{
    int i = first();
    if (i < n)
        y[i] = a[i] + b[i];
    if (i == 0)
        y[n] = 1.0f;
}

extern "C" __global__ void add_one_before(ADD_ARGS)
{
    int i = first();
    if (i < n)
        y[i] = a[i] + b[i];
    if (i == 0)
        y[-1] = 1.0f;
}

extern "C" __global__ void add_far_past(ADD_ARGS)
{
    int i = first();
    if (i == 0)
        y[n + 1048576] = 1.0f;
}

extern "C" __global__ void add_to_input(ADD_ARGS)
{
    int i = first();
    if (i < n)
        y[i] = a[i] + b[i];
    if (i == 0)
        const_cast<float *>(a)[0] = 12345.0f;
}

extern "C" __global__ void never_ends(ADD_ARGS)
{
    volatile float *flag = y;
    while (flag[0] != 54321.0f)
        flag[0] = 1.0f;
}

extern "C" __global__ void traps(ADD_ARGS)
{
    if (first() == 0)
        asm volatile("trap;");
}

extern "C" __global__ void misaligned(ADD_ARGS)
{
    if (first() == 0)
        *reinterpret_cast<volatile float *>(reinterpret_cast<char *>(y) + 2) = 1.0f;
}

// Each half of the sum is stored by another block: wrong unless all blocks of the grid wait for each other.
extern "C" __global__ void add_in_turns(ADD_ARGS)
{
    int stride = gridDim.x * blockDim.x;
    int mirrored = (gridDim.x - 1 - blockIdx.x) * blockDim.x + threadIdx.x;
    for (int i = first(); i < n; i += stride)
        y[i] = a[i];
    cooperative_groups::this_grid().sync();
    for (int i = mirrored; i < n; i += stride)
        y[i] += b[i];
}

// Through the last bytes of dynamic shared memory, with 1 KiB of static beside it.
extern "C" __global__ void add_shared(ADD_ARGS)
{
    extern __shared__ float tile[];
    __shared__ float fixed[256];
    unsigned bytes;
    asm("mov.u32 %0, %%dynamic_smem_size;" : "=r"(bytes));
    float *last = tile + bytes / 4 - 256;
    int i = first();
    fixed[threadIdx.x] = i < n ? a[i] : 0.0f;
    last[threadIdx.x ^ 1] = i < n ? b[i] : 0.0f;
    __syncthreads();
    if (i < n)
        y[i] = fixed[threadIdx.x] + last[threadIdx.x ^ 1];
}

extern "C" __global__ void copy_f32(const float *a, const float *b, float *y, int n)
{
    const float4 *from = reinterpret_cast<const float4 *>(a);
    float4 *to = reinterpret_cast<float4 *>(y);
    for (int i = first(); i < n / 4; i += gridDim.x * blockDim.x)
        to[i] = from[i];
}
