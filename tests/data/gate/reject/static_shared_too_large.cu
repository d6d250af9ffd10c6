// resources
extern "C" __global__ void k(float *y)
{
    __shared__ float s[60000];
    s[threadIdx.x] = y[threadIdx.x];
    __syncthreads();
    y[threadIdx.x] = s[59999 - threadIdx.x];
}
