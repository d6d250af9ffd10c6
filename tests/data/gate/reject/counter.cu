// global_written
__device__ int counter;
extern "C" __global__ void k(int *y)
{
    y[0] = counter++;
}
