// pass
__device__ const float a[2] = {1, 2};
__device__ const float b[2] = {3, 4};
__device__ const float *const tables[2] = {a, b};
extern "C" __global__ void k(float *y, int n)
{
    y[threadIdx.x] = tables[n & 1][threadIdx.x & 1];
}
