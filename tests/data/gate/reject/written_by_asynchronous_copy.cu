// global_written
__device__ int state[4];
extern "C" __global__ void k(int *y)
{
    __shared__ int s[4];
    s[threadIdx.x & 3] = y[threadIdx.x];
    unsigned a = (unsigned)__cvta_generic_to_shared(s);
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 16;" ::"l"(state), "r"(a)
                 : "memory");
    y[0] = state[0];
}
