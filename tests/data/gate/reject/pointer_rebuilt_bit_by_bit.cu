// global_escapes
__device__ int state;
extern "C" __global__ void k(int *y)
{
    unsigned long long p = (unsigned long long)&state, q = 0;
#pragma unroll 1
    for (int i = 0; i < 64; i++) {
        if (p >> i & 1) {
            asm volatile("");
            q |= 1ull << i;
        }
    }
    *(volatile int *)q = y[0];
}
