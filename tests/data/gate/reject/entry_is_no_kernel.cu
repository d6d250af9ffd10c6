// entry_missing
extern "C" __device__ __noinline__ void k(float *y)
{
    y[0] = 1;
}
extern "C" __global__ void other(float *y)
{
    k(y);
}
