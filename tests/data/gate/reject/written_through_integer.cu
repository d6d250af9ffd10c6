// global_written
__device__ int state;
extern "C" __global__ void k(int *y, int n)
{
    unsigned long long p = (unsigned long long)&state;
    p = (p ^ 0x5555ull) + n;
    p = (p - n) ^ 0x5555ull;
    *(volatile int *)p = y[0];
}
