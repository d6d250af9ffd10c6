// pass
__device__ const float a[32] = {1, 2};
__device__ const float b[32] = {3, 4};
extern "C" __global__ void k(float *y, int n)
{
    const float *t = n > 3 ? a : b;
    y[threadIdx.x] = t[threadIdx.x & 31];
}
