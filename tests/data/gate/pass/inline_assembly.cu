// pass
extern "C" __global__ void k(unsigned *y, unsigned n)
{
    unsigned lane, sum;
    asm volatile("mov.u32 %0, %%laneid;" : "=r"(lane));
    asm volatile("{ .reg .pred p; .reg .u32 t; AGAIN: setp.lt.u32 p, %1, 3; selp.u32 t, 1, 2, p; "
                 "add.u32 %0, t, %1; }"
                 : "=r"(sum)
                 : "r"(n));
    asm volatile("st.global.u32 [%0+(4*2)], %1;" ::"l"(y), "r"(sum + lane) : "memory");
}
