// pass
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;
extern "C" __global__ void k(float *y)
{
    auto block = cg::this_thread_block();
    auto warp = cg::tiled_partition<32>(block);
    float sum = cg::reduce(warp, y[block.thread_rank()], cg::plus<float>());
    block.sync();
    if (warp.thread_rank() == 0)
        y[warp.meta_group_rank()] = sum;
}
