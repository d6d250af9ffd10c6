// global_escapes
__device__ int a, b, c, d;
extern "C" __global__ void k(int *y, int n)
{
    int *volatile p[4] = {&a, &b, &c, &d};
    *p[n] = y[0];
}
