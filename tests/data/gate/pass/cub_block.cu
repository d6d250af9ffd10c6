// pass
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>
extern "C" __global__ void k(float *y)
{
    using reduce = cub::BlockReduce<float, 256>;
    using scan = cub::BlockScan<float, 256>;
    __shared__ union {
        typename reduce::TempStorage r;
        typename scan::TempStorage s;
    } memory;
    float total = reduce(memory.r).Sum(y[threadIdx.x]);
    __syncthreads();
    float before;
    scan(memory.s).ExclusiveSum(y[threadIdx.x], before);
    y[threadIdx.x] = threadIdx.x == 0 ? total : before;
}
