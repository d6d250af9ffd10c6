// global_written
__device__ unsigned counter;
extern "C" __global__ void k(unsigned *y)
{
    y[0] = atomicAdd(&counter, 1u);
}
