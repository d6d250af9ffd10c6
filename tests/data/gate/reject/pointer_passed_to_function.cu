// global_escapes
__device__ int state;
__noinline__ __device__ void put(int *p, int v)
{
    *p = v;
}
extern "C" __global__ void k(int *y)
{
    put(&state, y[0]);
    put(y, 3);
}
