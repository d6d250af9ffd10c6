// pass
#include <cuda_fp16.h>
extern "C" __global__ void k(uint4 *y, const uint4 *__restrict__ x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    uint4 v = x[i];
    __half2 *h = reinterpret_cast<__half2 *>(&v);
    h[0] = __hmul2(h[0], h[1]);
    y[i] = v;
}
