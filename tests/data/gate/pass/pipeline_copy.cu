// pass
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda/pipeline>
namespace cg = cooperative_groups;
extern "C" __global__ void k(float *y, const float *x)
{
    extern __shared__ float stage[];
    auto block = cg::this_thread_block();
    cg::memcpy_async(block, stage, x, sizeof(float) * block.size());
    cg::wait(block);
    y[threadIdx.x] = stage[threadIdx.x];
}
