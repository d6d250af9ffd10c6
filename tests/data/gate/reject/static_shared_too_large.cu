// resources
extern "C" __global__ void k(float *y)
{
    __shared__ float s[20000];
    s[threadIdx.x] = y[threadIdx.x];
    __syncthreads();
    y[threadIdx.x] = s[19999 - threadIdx.x];
}
