// global_written
__device__ int state;
extern "C" __global__ void k(int *y)
{
    asm volatile("{ .reg .u64 a; mov.u64 a, %0; red.global.add.u32 [a], 1; }" ::"l"(&state) : "memory");
    y[0] = state;
}
