// pass
extern __shared__ unsigned char memory[];
extern "C" __global__ void k(float *y)
{
    float *s = reinterpret_cast<float *>(memory);
    s[threadIdx.x] = y[threadIdx.x];
    __syncthreads();
    y[threadIdx.x] = s[blockDim.x - 1 - threadIdx.x];
}
