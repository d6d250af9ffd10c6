// global_escapes
__device__ int *table[4];
extern "C" __global__ void k(int ***y)
{
    y[0] = table;
}
