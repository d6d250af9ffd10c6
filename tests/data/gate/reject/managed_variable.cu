// global_written
__managed__ int state;
extern "C" __global__ void k(int *y)
{
    state = y[0];
}
