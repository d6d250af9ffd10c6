// pass
#include <cuda/barrier>
extern "C" __global__ void k(float *y)
{
    using barrier = cuda::barrier<cuda::thread_scope_block>;
#pragma nv_diag_suppress static_var_with_dynamic_init
    __shared__ barrier b;
    if (threadIdx.x == 0)
        init(&b, blockDim.x);
    __syncthreads();
    b.arrive_and_wait();
    y[threadIdx.x] += 1;
}
