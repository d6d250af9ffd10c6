// pass
#include <cub/block/block_radix_sort.cuh>
extern "C" __global__ void k(int *y)
{
    using sort = cub::BlockRadixSort<int, 128, 4>;
    __shared__ typename sort::TempStorage memory;
    int v[4];
    for (int i = 0; i < 4; i++)
        v[i] = y[threadIdx.x * 4 + i];
    sort(memory).Sort(v);
    for (int i = 0; i < 4; i++)
        y[threadIdx.x * 4 + i] = v[i];
}
