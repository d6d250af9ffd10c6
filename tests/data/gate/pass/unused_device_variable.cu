// pass
__device__ int never_used;
extern "C" __global__ void k(float *y)
{
    y[threadIdx.x] *= 2;
}
