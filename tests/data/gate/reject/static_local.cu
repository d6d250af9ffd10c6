// global_written
extern "C" __global__ void k(int *y)
{
    static int calls;
    y[0] = ++calls;
}
