// global_escapes
__device__ int state;
extern "C" __global__ void k(int *y, int n)
{
    __shared__ int *volatile p[32];
    p[threadIdx.x] = &state;
    __syncthreads();
    *p[n] = y[0];
}
